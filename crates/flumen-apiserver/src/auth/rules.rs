//! Rules of roles: what they cover.

use serde::{Deserialize, Serialize};

use crate::http::{RequestInfo, ResourceInfo};

/// A rule of a role. Everything in it may be `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rule {
    #[serde(deserialize_with = "words")]
    pub verbs: Vec<String>,
    #[serde(deserialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    #[serde(deserialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    #[serde(deserialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    #[serde(
        rename = "nonResourceURLs",
        deserialize_with = "words",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub paths: Vec<String>,
}

/// A list that may be null.
fn words<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(reader)?.unwrap_or_default())
}

impl Rule {
    pub(crate) fn allows(&self, request: &RequestInfo) -> bool {
        if !has(&self.verbs, &request.verb) {
            return false;
        }
        match &request.resource {
            Some(resource) => self.covers(resource),
            None => self.paths.iter().any(|path| path_matches(path, &request.path)),
        }
    }

    fn covers(&self, of: &ResourceInfo) -> bool {
        has(&self.api_groups, &of.group)
            && self
                .resources
                .iter()
                .any(|known| resource_matches(known, &of.resource, &of.subresource))
            && (self.resource_names.is_empty() || self.resource_names.contains(&of.name))
    }

    /// Whether everything that one combination of words allows is allowed by this rule too.
    fn includes(&self, part: &Part<'_>) -> bool {
        if !has(&self.verbs, part.verb) {
            return false;
        }
        match part.of {
            PartOf::Path(path) => self.paths.iter().any(|known| path_matches(known, path)),
            PartOf::Resource { group, resource, name } => {
                let (plural, sub) = resource.split_once('/').unwrap_or((resource, ""));
                has(&self.api_groups, group)
                    && self
                        .resources
                        .iter()
                        .any(|known| known == resource || resource_matches(known, plural, sub))
                    && (self.resource_names.is_empty()
                        || name.is_some_and(|name| self.resource_names.iter().any(|n| n == name)))
            }
        }
    }

    /// The rule as combinations of single words.
    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for verb in &self.verbs {
            for path in &self.paths {
                parts.push(Part { verb, of: PartOf::Path(path) });
            }
            for group in &self.api_groups {
                for resource in &self.resources {
                    let names: Vec<Option<&str>> = if self.resource_names.is_empty() {
                        vec![None]
                    } else {
                        self.resource_names.iter().map(|name| Some(name.as_str())).collect()
                    };
                    for name in names {
                        parts.push(Part { verb, of: PartOf::Resource { group, resource, name } });
                    }
                }
            }
        }
        parts
    }
}

/// One combination of words of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part<'a> {
    verb: &'a str,
    of: PartOf<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartOf<'a> {
    Path(&'a str),
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str> },
}

/// The rules among `wanted`, word by word, that `held` does not include. Combinations of resources
/// that differ in their verbs alone are one.
pub(crate) fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let mut missing: Vec<(PartOf<'_>, Rule)> = Vec::new();
    for rule in wanted {
        for part in rule.parts() {
            if held.iter().any(|held| held.includes(&part)) {
                continue;
            }
            let same = missing.iter_mut().find(|(of, _)| *of == part.of);
            if let (Some((_, rule)), PartOf::Resource { .. }) = (same, part.of) {
                if !rule.verbs.iter().any(|verb| verb == part.verb) {
                    rule.verbs.push(part.verb.to_owned());
                }
                continue;
            }
            let mut rule = Rule { verbs: vec![part.verb.to_owned()], ..Rule::default() };
            match part.of {
                PartOf::Path(path) => rule.paths.push(path.to_owned()),
                PartOf::Resource { group, resource, name } => {
                    rule.api_groups.push(group.to_owned());
                    rule.resources.push(resource.to_owned());
                    rule.resource_names.extend(name.map(str::to_owned));
                }
            }
            missing.push((part.of, rule));
        }
    }
    missing.into_iter().map(|(_, rule)| rule).collect()
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|known| known == "*" || known == word)
}

fn resource_matches(known: &str, resource: &str, subresource: &str) -> bool {
    if known == "*" {
        return true;
    }
    match known.split_once('/') {
        None => subresource.is_empty() && known == resource,
        Some((of, sub)) => {
            !subresource.is_empty() && sub == subresource && (of == "*" || of == resource)
        }
    }
}

fn path_matches(known: &str, path: &str) -> bool {
    known == "*"
        || known == path
        || known.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Rule {
        let words = |text: &str| {
            text.split(',')
                .filter(|w| !w.is_empty())
                .map(|w| if w == "core" { String::new() } else { w.to_owned() })
                .collect()
        };
        let parts: Vec<&str> = text.split(' ').collect();
        Rule {
            verbs: words(parts[0]),
            api_groups: words(parts[1]),
            resources: words(parts[2]),
            resource_names: words(parts.get(3).unwrap_or(&"")),
            paths: Vec::new(),
        }
    }

    fn allowed(text: &str, verb: &str, resource: &str, subresource: &str, name: &str) -> bool {
        let resource = ResourceInfo {
            group: "apps".to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            name: name.to_owned(),
            ..ResourceInfo::default()
        };
        let verb = verb.to_owned();
        rule(text).allows(&RequestInfo { path: String::new(), resource: Some(resource), verb })
    }

    #[test]
    fn stars_and_subresources() {
        let text = "* apps deployments,*/scale";
        assert!(allowed(text, "get", "deployments", "", "web"));
        assert!(!allowed(text, "get", "deployments", "status", "web"));
        assert!(allowed(text, "get", "statefulsets", "scale", "web"));
        assert!(allowed("get * *", "get", "deployments", "status", "web"));
        assert!(!allowed("get core *", "get", "deployments", "", "web"));
        assert!(allowed("get apps deployments web", "get", "deployments", "", "web"));
        assert!(!allowed("get apps deployments web", "list", "deployments", "", ""));
        assert!(!allowed("get apps deployments web", "get", "deployments", "", "db"));
    }

    #[test]
    fn what_is_not_held_is_named_word_by_word() {
        let held = [rule("get core secrets,pods")];
        let missing = missing(&held, &[rule("get,list core secrets,configmaps")]);
        assert_eq!(missing, [rule("get,list core configmaps"), rule("list core secrets")]);
    }
}
