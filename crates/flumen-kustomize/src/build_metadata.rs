//! `buildMetadata`: annotations that tell where a resource came from and what changed it.

use flumen_fs::printable;
use flumen_yaml::{Node, Text};

use crate::{loader::Repository, resource::Resource};

/// Where a resource came from.
pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
/// What changed it on the way.
pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// What an origin annotation says. Paths are relative to the directory that is built, or to the top
/// of a repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provenance {
    pub(crate) path: String,
    /// The address of the repository; none is the place of the build.
    pub(crate) repository: String,
    pub(crate) reference: String,
    pub(crate) configured_in: String,
    pub(crate) configured_by: Option<ConfiguredBy>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ConfiguredBy {
    pub(crate) api_version: Text,
    pub(crate) kind: Text,
    pub(crate) name: Text,
    pub(crate) namespace: Text,
}

impl Provenance {
    /// This place, one path further.
    pub(crate) fn join(&self, path: &str) -> Self {
        match Repository::parse(path) {
            Some(repository) => Self {
                path: repository.origin_path(),
                // Unlike kustomize's, without user and password: the output is for everybody.
                repository: printable(&repository.request.url).into_owned(),
                reference: repository.request.reference.unwrap_or_default(),
                ..self.clone()
            },
            None => Self { path: join_paths(&self.path, path), ..self.clone() },
        }
    }

    /// What a field of the kustomization file at this place makes or changes.
    pub(crate) fn builtin(&self, file_name: &str, kind: &'static str) -> Self {
        Self {
            path: String::new(),
            repository: self.repository.clone(),
            reference: self.reference.clone(),
            configured_in: join_paths(&self.path, file_name),
            configured_by: Some(ConfiguredBy {
                api_version: Text::literal("builtin"),
                kind: Text::literal(kind),
                ..ConfiguredBy::default()
            }),
        }
    }

    /// What a plugin configuration makes or changes; it carries its own origin as an annotation.
    pub(crate) fn of_plugin(plugin: &Resource) -> Option<Self> {
        let annotation = plugin.annotation(ORIGIN)?;
        let field = |key: &str| plugin.node().get(key).and_then(Node::text).cloned();
        Some(Self {
            path: String::new(),
            repository: value_of("repo", annotation),
            reference: value_of("ref", annotation),
            configured_in: value_of("path", annotation),
            configured_by: Some(ConfiguredBy {
                api_version: field("apiVersion").unwrap_or_default(),
                kind: field("kind").unwrap_or_default(),
                name: Text::from(plugin.name()),
                namespace: Text::from(plugin.namespace()),
            }),
        })
    }

    pub(crate) fn to_yaml(&self) -> String {
        let mut out = String::new();
        line(&mut out, "", "path", &self.path);
        line(&mut out, "", "repo", &self.repository);
        line(&mut out, "", "ref", &self.reference);
        line(&mut out, "", "configuredIn", &self.configured_in);
        if let Some(by) = &self.configured_by {
            out.push_str("configuredBy:\n");
            line(&mut out, "  ", "apiVersion", &by.api_version);
            line(&mut out, "  ", "kind", &by.kind);
            line(&mut out, "  ", "name", &by.name);
            line(&mut out, "  ", "namespace", &by.namespace);
        }
        if out.is_empty() { "{}\n".to_owned() } else { out }
    }

    /// Records that this changed `resource`, or made it if nothing did before.
    pub(crate) fn record_on(&self, resource: &mut Resource) {
        if resource.annotation(ORIGIN).is_none() {
            resource.set_annotation(ORIGIN, self.to_yaml());
            return;
        }
        let mut list = resource.annotation(TRANSFORMATIONS).unwrap_or_default().to_owned();
        for (index, text) in self.to_yaml().lines().enumerate() {
            list.push_str(if index == 0 { "- " } else { "  " });
            list.push_str(text);
            list.push('\n');
        }
        resource.set_annotation(TRANSFORMATIONS, list);
    }
}

fn line(out: &mut String, indent: &str, key: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let mut scalar = Vec::new();
    // A path or a name always prints; the fallback is for form only.
    if flumen_yaml::emit(&Node::string(value), &mut scalar).is_err() {
        scalar = value.as_bytes().to_vec();
    }
    let scalar = String::from_utf8_lossy(&scalar);
    for part in [indent, key, ": ", scalar.trim_end(), "\n"] {
        out.push_str(part);
    }
}

/// A field at the top of an origin annotation.
fn value_of(key: &str, annotation: &str) -> String {
    annotation
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
        .map(|value| value.trim_matches(['"', '\'']).to_owned())
        .unwrap_or_default()
}

/// Joins and cleans two relative paths by their text alone, as Go's `filepath.Join` does.
fn join_paths(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::join_paths;

    #[test]
    fn paths_are_cleaned_when_joined() {
        assert_eq!(join_paths("", "a/b.yaml"), "a/b.yaml");
        assert_eq!(join_paths("a/overlay", "../base"), "a/base");
        assert_eq!(join_paths("", "../base"), "../base");
        assert_eq!(join_paths("../base", "./x/../y.yaml"), "../base/y.yaml");
    }
}
