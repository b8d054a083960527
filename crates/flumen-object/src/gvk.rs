//! Group, version and kind.

use std::fmt;

use flumen_yaml::{Node, Text};

/// What an object is an instance of. The core group is the empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gvk {
    pub group: Text,
    pub version: Text,
    pub kind: Text,
}

impl Gvk {
    /// Reads `apiVersion` and `kind` of a manifest; what is missing stays empty.
    pub fn of(node: &Node) -> Self {
        let field = |key| node.get(key).and_then(Node::text).cloned().unwrap_or_default();
        Self::new(&field("apiVersion"), field("kind"))
    }

    /// Splits `apiVersion` at its first slash.
    pub fn new(api_version: &Text, kind: Text) -> Self {
        match api_version.find('/') {
            Some(slash) => Self {
                group: api_version.sub(0..slash),
                version: api_version.sub(slash + 1..api_version.len()),
                kind,
            },
            None => Self { group: Text::default(), version: api_version.clone(), kind },
        }
    }

    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// `Deployment.v1.apps`, with `[noGrp]`, `[noVer]` and `[noKind]` for what is missing: the notation
/// of kustomize's messages, which people search for.
impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
            if text.is_empty() { missing } else { text }
        }
        write!(
            f,
            "{}.{}.{}",
            or(&self.kind, "[noKind]"),
            or(&self.version, "[noVer]"),
            or(&self.group, "[noGrp]")
        )
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Entry, Map, Node, Pos, Value};

    use super::Gvk;

    fn manifest(fields: &[(&str, &str)]) -> Node {
        let entries = fields.iter().map(|(key, value)| Entry::new(*key, Node::string(*value)));
        Node::new(Pos::default(), Value::Map(entries.collect::<Map>()))
    }

    #[track_caller]
    fn check(fields: &[(&str, &str)], shown: &str, api_version: &str) {
        let gvk = Gvk::of(&manifest(fields));
        assert_eq!(gvk.to_string(), shown);
        assert_eq!(gvk.api_version(), api_version);
    }

    #[test]
    fn the_group_ends_at_the_first_slash() {
        let apps = [("apiVersion", "apps/v1"), ("kind", "Deployment")];
        check(&apps, "Deployment.v1.apps", "apps/v1");
        check(&[("apiVersion", "v1"), ("kind", "Pod")], "Pod.v1.[noGrp]", "v1");
        check(&[("apiVersion", "a/b/c"), ("kind", "D")], "D.b/c.a", "a/b/c");
    }

    #[test]
    fn what_is_missing_is_said() {
        check(&[], "[noKind].[noVer].[noGrp]", "");
    }
}
