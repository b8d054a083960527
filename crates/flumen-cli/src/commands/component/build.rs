//! `flumen component build`.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use flumen_git::GitUrl;
use flumen_oci::Reference;
use flumen_pipeline::{
    Artifact, BuildId, BuildOrder, Caching, Destination, Environment, Remote,
    config::Component,
    job::{Ended, Status},
};
use serde::Serialize;

use super::{
    interrupt::cancelled_by_the_user, progress::Progress, registries::SourceRegistries,
    selection::Selection,
};
use crate::{
    args::{env, registry::RegistryArgs},
    build_id,
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// Build components into artifacts
///
/// Each component becomes one artifact, stored under the id of its build: in the registry that
/// `--to` names, or in the local store. Equal inputs give equal content on any machine, and are not
/// built twice: the artifact gets one more tag. All components are tried, even if some fail.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Everything in ./components, into the local store
  flumen component build

  # Two components, into a registry
  flumen component build web api --to oci://registry.example.com/org/artifacts

  # With the address of a repository that component files know by name
  flumen component build web --repo platform=https://git.example.com/platform.git")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    selection: Selection,

    /// Repository for the artifacts, `oci://host/path`; the local store if absent
    #[arg(long, value_name = "URL")]
    to: Option<Reference>,

    /// Build even if equal inputs were built before
    #[arg(long)]
    no_cache: bool,

    /// Fetch what kustomizations name by URL; also switched on by `FLUMEN_REMOTE=1`
    #[arg(long)]
    remote: bool,

    /// Address of a connected repository: a URL or a path
    #[arg(long, value_name = "NAME=URL", value_parser = parse_repo)]
    repo: Vec<(String, String)>,

    /// TOML file with registry credentials that components name, such as `ci = "user:password"`
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// How to print the results
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// Paths of the command line are relative to where it is typed.
fn parse_repo(text: &str) -> Result<(String, String), String> {
    let (name, address) = text
        .split_once('=')
        .filter(|(name, address)| !name.is_empty() && !address.is_empty())
        .ok_or("expected NAME=URL")?;
    let address = match GitUrl::parse(address).map_err(|error| error.to_string())? {
        GitUrl::Local(path) => {
            let path = std::path::absolute(path).map_err(|error| error.to_string())?;
            path.display().to_string()
        }
        GitUrl::Remote(_) => address.to_owned(),
    };
    Ok((name.to_owned(), address))
}

/// How one build ended.
#[derive(Serialize)]
struct Line {
    component: String,
    build_id: BuildId,
    status: Status,
    #[serde(flatten)]
    artifact: Option<Artifact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) = (
        &["COMPONENT", "STATUS", "SOURCE", "BUILD", "BYTES", "DIGEST"],
        &["MEDIA TYPE", "REPOSITORY", "REVISION", "REUSED"],
    );

    fn cells(&self) -> Vec<String> {
        let cell =
            |text: fn(&Artifact) -> String| self.artifact.as_ref().map_or_else(String::new, text);
        vec![
            self.component.clone(),
            self.status.to_string(),
            cell(|artifact| artifact.source_type.clone()),
            self.build_id.to_string(),
            cell(|artifact| artifact.content_bytes.to_string()),
            cell(|artifact| artifact.digest.to_string()),
            cell(|artifact| artifact.media_type.clone()),
            cell(|artifact| {
                artifact.repository.clone().unwrap_or_else(|| "local store".to_owned())
            }),
            cell(|artifact| artifact.revision.clone()),
            cell(|artifact| artifact.reused.to_string()),
        ]
    }

    fn name(&self) -> &str {
        &self.component
    }
}

impl Line {
    fn new(component: &str, build_id: BuildId, result: &Result<Artifact, Ended>) -> Self {
        Self {
            component: component.to_owned(),
            build_id,
            status: result.as_ref().map_or_else(Ended::status, |_| Status::Finished),
            artifact: result.as_ref().ok().cloned(),
            error: result.as_ref().err().map(ToString::to_string),
        }
    }
}

pub(crate) fn run(args: &BuildArgs, ui: &Ui) -> Result<(), CommandError> {
    let components = args.selection.load(ui)?;
    block_on(async {
        let environment = args.environment()?;
        let ids = components.iter().map(|_| build_id::new()).collect::<Result<Vec<_>, _>>()?;
        let orders = components.iter().zip(&ids).map(|(component, id)| BuildOrder {
            component,
            id: *id,
            observer: Box::new(Progress::new(component.name(), ui)),
        });
        let cancel = cancelled_by_the_user();
        let results = flumen_pipeline::build_all(orders.collect(), &environment, &cancel).await;
        report(&components, &ids, results, args.output, ui)
    })
}

impl BuildArgs {
    fn environment(&self) -> Result<Environment, CommandError> {
        let state = env::state()?;
        let destination = match &self.to {
            Some(reference) => {
                refuse_tag(reference)?;
                let repository = self.registry.open(reference)?;
                Destination { repository, reference: Some(reference.clone()) }
            }
            None => Destination { repository: state.store()?, reference: None },
        };
        let sources = SourceRegistries::new(&self.registry, self.credentials.as_deref())?;
        Ok(Environment {
            state,
            components: self.selection.dir().to_owned(),
            destination,
            registries: Arc::new(sources),
            repos: self.repo.iter().cloned().collect(),
            caching: if self.no_cache { Caching::BuildAlways } else { Caching::Reuse },
            remote: if self.remote || env::remote() { Remote::Fetch } else { Remote::Refuse },
        })
    }
}

/// The tag is the id of the build.
pub(super) fn refuse_tag(reference: &Reference) -> Result<(), CommandError> {
    if reference.tag.is_none() && reference.digest.is_none() {
        return Ok(());
    }
    Err(Failure::new(format!("`{reference}` names a tag or digest"))
        .hint("artifacts of components get the id of their build as tag; name the repository only")
        .into())
}

/// Prints all results, then what went wrong; the last failure is that of the command.
fn report(
    components: &[Component],
    ids: &[BuildId],
    results: Vec<Result<Artifact, Ended>>,
    format: ListFormat,
    ui: &Ui,
) -> Result<(), CommandError> {
    let lines = components.iter().zip(ids).zip(&results);
    let lines: Vec<Line> =
        lines.map(|((component, id), result)| Line::new(component.name(), *id, result)).collect();
    listing::print(&lines, format, ui)?;
    let mut last = Ok(());
    for (component, result) in components.iter().zip(results) {
        if let Err(ended) = result {
            let failure = Failure::from(ended).within(format!("building `{}`", component.name()));
            if let Err(error) = std::mem::replace(&mut last, Err(failure.into())) {
                CommandError::report(error, ui);
            }
        }
    }
    last
}
