//! The tag with the highest version of a range.

use std::cmp::Ordering;

use flumen_expr::{Constraint, Version};
use regex_lite::Regex;

use super::{Error, Remote};

/// In tags of Helm charts `_` stands for `+`, which tags cannot have.
const HELM_CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

impl Remote<'_> {
    /// The tag of the highest version in a range, among those that fit a pattern.
    pub(super) async fn highest(&self, range: &str, filter: Option<&str>) -> Result<String, Error> {
        let url = &self.request.spec.url;
        let failed = |reason: String| Error::Tag { url: url.clone(), reason };
        let tags = self.repository.tags().await.map_err(|error| failed(self.words(&error)))?;
        let selector = self.request.spec.layer_selector.as_ref();
        let is_chart =
            selector.and_then(|selector| selector.media_type.as_deref()) == Some(HELM_CHART);
        select(tags, range, filter, is_chart).map_err(failed)
    }
}

fn select(
    tags: Vec<String>,
    range: &str,
    filter: Option<&str>,
    is_chart: bool,
) -> Result<String, String> {
    let filter = filter.map(Regex::new).transpose();
    let filter = filter.map_err(|error| format!("invalid semver filter: {error}"))?;
    let constraint = Constraint::parse(range)
        .map_err(|error| format!("semver '{range}' parse error: {error}"))?;
    let mut highest: Option<(Version, String)> = None;
    for tag in tags.into_iter().filter(|tag| filter.as_ref().is_none_or(|it| it.is_match(tag))) {
        let text = if is_chart { tag.replace('_', "+") } else { tag.clone() };
        let Ok(version) = Version::parse_strict(&text) else { continue };
        let is_higher =
            highest.as_ref().is_none_or(|(known, _)| version.cmp(known) == Ordering::Greater);
        if is_higher && constraint.matches(&version) {
            highest = Some((version, tag));
        }
    }
    highest.map(|(_, tag)| tag).ok_or_else(|| format!("no match found for semver: {range}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tags: &[&str], range: &str, filter: Option<&str>, expected: Result<&str, &str>) {
        let tags = tags.iter().map(ToString::to_string).collect();
        let selected = select(tags, range, filter, false);
        assert_eq!(selected.as_deref().map_err(String::as_str), expected, "{range}");
    }

    #[test]
    fn the_highest_version_wins() {
        let tags = ["latest", "1.0.0", "v1.10.0", "1.9.0", "2.0.0-rc.1", "1.11", "sha256-00.sig"];
        check(&tags, "1.x", None, Ok("v1.10.0"));
        check(&tags, ">=1.0.0-0", None, Ok("2.0.0-rc.1"));
        check(&tags, "*", Some("^1"), Ok("1.9.0"));
        check(&tags, "3.x", None, Err("no match found for semver: 3.x"));
        check(
            &tags,
            "not a range",
            None,
            Err("semver 'not a range' parse error: improper constraint: \"not a range\""),
        );
        assert!(select(Vec::new(), "*", Some("("), false).is_err());
    }

    #[test]
    fn charts_have_another_sign_for_plus() {
        let tags = vec!["1.0.0_a".to_owned(), "0.9.0".to_owned()];
        assert_eq!(select(tags.clone(), "*", None, true).as_deref(), Ok("1.0.0_a"));
        assert_eq!(select(tags, "*", None, false).as_deref(), Ok("0.9.0"));
    }
}
