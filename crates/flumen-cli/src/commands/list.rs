//! `flumen list artifacts`.

use clap::{Args, Subcommand};
use flumen_expr::{Constraint, Version};
use flumen_oci::{
    Reference,
    listing::{Listed, is_artifact_tag, list},
};
use regex_lite::Regex;
use serde::Serialize;

use crate::{
    args::{
        artifact::{required_url, shown},
        registry::RegistryArgs,
    },
    error::CommandError,
    runtime,
    ui::Ui,
    view::{
        listing::{self, ListFormat, Record},
        text_table::TextTable,
    },
};

/// List what is there
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(alias = "artifact")]
    Artifacts(Box<ArtifactArgs>),
}

/// List the artifacts of a repository
///
/// Tags come in descending order, and with `--semver` the newest version comes first. Tags of
/// signatures and the like are left out.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Everything
  flumen list artifacts oci://registry.example.com/org/app

  # Patches of 1.0, newest first
  flumen list artifacts oci://registry.example.com/org/app --semver '~1.0'

  # The newest release candidate
  flumen list artifacts oci://registry.example.com/org/app --semver '>=0.0.0-0' --filter-regex '-rc' -o name | head -1")]
struct ArtifactArgs {
    /// The repository, as `oci://host/path`
    #[arg(value_name = "URL")]
    url: Option<String>,

    /// Only versions in this range, newest first
    #[arg(long, value_name = "RANGE")]
    semver: Option<Constraint>,

    /// Only versions in this range
    #[arg(long, value_name = "RANGE")]
    filter_semver: Option<String>,

    /// Only tags that match this regular expression
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    filter_regex: Option<String>,

    /// How to print
    #[arg(short, long, value_enum, default_value = "table")]
    output: ListFormat,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &ListArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifacts(args) => {
            runtime::block_on(artifacts(args, ui)).map_err(CommandError::in_brief)
        }
    }
}

async fn artifacts(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let reference = required_url(args.url.as_deref(), "artifact repository URL is required")?;
    if reference.tag.is_some() || reference.digest.is_some() {
        let shown = shown(&reference);
        let path = shown.split_once('/').map_or(shown.as_str(), |(_, path)| path);
        return Err(CommandError::brief(format!(
            "listing tags failed: parsing repo \"{shown}\": repository can only contain the characters \
             `abcdefghijklmnopqrstuvwxyz0123456789_-./`: {path}"
        )));
    }
    let selection = Selection::new(args)?;
    let repository = args.registry.open(&reference)?;
    let tags = repository.tags().await.map_err(|error| {
        let reason = CommandError::exchange(error).message();
        CommandError::brief(format!("listing tags failed: {reason}"))
    })?;
    let artifacts =
        list(&repository, selection.choose(tags)).await.map_err(CommandError::exchange)?;
    let lines: Vec<Line> =
        artifacts.into_iter().map(|listed| Line::new(&reference, listed)).collect();
    if args.output != ListFormat::Table {
        return listing::print(&lines, args.output, ui);
    }
    let row = |line: &Line| {
        let artifact = line.artifact.strip_prefix("oci://").unwrap_or(&line.artifact).to_owned();
        vec![artifact, line.digest.clone(), line.source.clone(), line.revision.clone()]
    };
    let table =
        TextTable { headings: Line::HEADINGS.0.to_vec(), rows: lines.iter().map(row).collect() };
    ui.data(table.render().as_bytes())
}

/// Which tags to show, and in which order.
struct Selection {
    ranges: Vec<Constraint>,
    pattern: Option<Regex>,
    is_newest_first: bool,
}

impl Selection {
    fn new(args: &ArtifactArgs) -> Result<Self, CommandError> {
        let parse_range = |text: &String| {
            Constraint::parse(text).map_err(|error| {
                CommandError::brief(format!("semver '{text}' parse error: {error}"))
            })
        };
        let parse_pattern = |text: &String| {
            Regex::new(text).map_err(|error| {
                CommandError::brief(format!("regex '{text}' parse error: {error}"))
            })
        };
        let filter = args.filter_semver.as_ref().map(parse_range).transpose()?;
        Ok(Self {
            ranges: args.semver.iter().cloned().chain(filter).collect(),
            pattern: args.filter_regex.as_ref().map(parse_pattern).transpose()?,
            is_newest_first: args.semver.is_some(),
        })
    }

    fn choose(&self, tags: Vec<String>) -> Vec<String> {
        let mut chosen: Vec<(Option<Version>, String)> = tags
            .into_iter()
            .filter(|tag| is_artifact_tag(tag))
            .filter(|tag| self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(tag)))
            .map(|tag| (Version::parse_strict(&tag).ok(), tag))
            .filter(|(version, _)| {
                self.ranges
                    .iter()
                    .all(|range| version.as_ref().is_some_and(|version| range.matches(version)))
            })
            .collect();
        chosen.sort_by(|(_, a), (_, b)| b.cmp(a));
        if self.is_newest_first {
            chosen.sort_by(|(a, _), (b, _)| b.cmp(a));
        }
        chosen.into_iter().map(|(_, tag)| tag).collect()
    }
}

/// An artifact as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    artifact: String,
    tag: String,
    digest: String,
    source: String,
    revision: String,
    created: String,
    media_type: String,
    size: u64,
}

impl Line {
    fn new(repository: &Reference, listed: Listed) -> Self {
        Self {
            artifact: format!("{repository}:{}", listed.tag),
            tag: listed.tag,
            digest: listed.descriptor.digest.to_string(),
            source: listed.source,
            revision: listed.revision,
            created: listed.created,
            media_type: listed.descriptor.media_type,
            size: listed.descriptor.size,
        }
    }
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["ARTIFACT", "DIGEST", "SOURCE", "REVISION"], &["CREATED", "MEDIA TYPE"]);

    fn cells(&self) -> Vec<String> {
        [
            &self.artifact,
            &self.digest,
            &self.source,
            &self.revision,
            &self.created,
            &self.media_type,
        ]
        .map(Clone::clone)
        .to_vec()
    }

    fn name(&self) -> &str {
        &self.artifact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(selection: &Selection, expected: &[&str]) {
        let tags = [
            "1.0.0",
            "1.0.10",
            "1.0.2",
            "1.1.0",
            "1.0.3-rc.1",
            "2.0",
            "latest",
            "1.0.0.sig",
            "v1.0.1",
        ];
        assert_eq!(selection.choose(tags.map(str::to_owned).to_vec()), expected);
    }

    fn range(text: &str) -> Vec<Constraint> {
        vec![Constraint::parse(text).expect("a range")]
    }

    #[test]
    fn tags_come_in_descending_order() {
        let all = ["v1.0.1", "latest", "2.0", "1.1.0", "1.0.3-rc.1", "1.0.2", "1.0.10", "1.0.0"];
        check(&Selection { ranges: Vec::new(), pattern: None, is_newest_first: false }, &all);
    }

    #[test]
    fn versions_come_newest_first_if_asked() {
        let newest = ["1.0.10", "1.0.2", "v1.0.1", "1.0.0"];
        check(&Selection { ranges: range("~1.0"), pattern: None, is_newest_first: true }, &newest);
        let filtered = ["v1.0.1", "1.0.2", "1.0.10", "1.0.0"];
        check(
            &Selection { ranges: range("~1.0"), pattern: None, is_newest_first: false },
            &filtered,
        );
    }

    #[test]
    fn patterns_and_ranges_both_have_to_match() {
        let pattern = Regex::new("^1.*0$").ok();
        check(
            &Selection { ranges: range(">=1.0.0"), pattern, is_newest_first: true },
            &["1.1.0", "1.0.10", "1.0.0"],
        );
    }
}
