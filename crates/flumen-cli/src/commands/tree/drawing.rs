//! Objects and what they manage, drawn with lines.

use std::fmt::Write as _;

use serde::Serialize;

use crate::{
    flux::Kind,
    printable::{Lines, printable},
};

const MAX_NAME: usize = 1 << 10;

#[derive(Debug, Serialize)]
pub(super) struct Branch {
    pub(super) resource: Identity,
    #[serde(rename = "resources", skip_serializing_if = "Vec::is_empty")]
    pub(super) branches: Vec<Self>,
}

/// Which object it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Identity {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) group_kind: GroupKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct GroupKind {
    pub(super) group: String,
    pub(super) kind: String,
}

impl Identity {
    pub(super) fn of_kind(kind: &Kind, namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            group_kind: GroupKind { group: kind.group.to_owned(), kind: kind.kind.to_owned() },
        }
    }

    /// Reads `namespace_name_group_kind`. Names of RBAC may have colons, which are written as two underscores.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (namespace, rest) = id.split_once('_')?;
        let (rest, kind) = rest.rsplit_once('_')?;
        let (name, group) = rest.rsplit_once('_')?;
        Some(Self {
            namespace: namespace.to_owned(),
            name: name.replace("__", ":"),
            group_kind: GroupKind { group: group.to_owned(), kind: kind.to_owned() },
        })
    }

    pub(super) fn is_of(&self, kind: &Kind) -> bool {
        self.group_kind.group == kind.group && self.group_kind.kind == kind.kind
    }

    fn text(&self) -> String {
        let Self { namespace, name, group_kind: GroupKind { kind, .. } } = self;
        let text = if namespace.is_empty() {
            format!("{kind}/{name}")
        } else {
            format!("{kind}/{namespace}/{name}")
        };
        printable(&text, Lines::Escape, MAX_NAME)
    }
}

impl Branch {
    pub(super) const fn new(resource: Identity) -> Self {
        Self { resource, branches: Vec::new() }
    }

    pub(super) fn draw(&self) -> String {
        let mut text = format!("{}\n", self.resource.text());
        self.draw_below("", &mut text);
        text
    }

    fn draw_below(&self, indent: &str, text: &mut String) {
        let last = self.branches.len().saturating_sub(1);
        for (index, branch) in self.branches.iter().enumerate() {
            let (line, below) =
                if index == last { ("└── ", "    ") } else { ("├── ", "│   ") };
            let _ = writeln!(text, "{indent}{line}{}", branch.resource.text());
            branch.draw_below(&format!("{indent}{below}"), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_both_ends() {
        let role = Identity::parse("_system__reader_rbac.authorization.k8s.io_ClusterRole");
        let role = role.expect("an id");
        assert_eq!(role.text(), "ClusterRole/system:reader");
        assert_eq!(role.group_kind.group, "rbac.authorization.k8s.io");
        let map = Identity::parse("apps_web__ConfigMap").expect("an id");
        assert_eq!(
            (map.text().as_str(), map.group_kind.group.as_str()),
            ("ConfigMap/apps/web", "")
        );
        assert_eq!(Identity::parse("web"), None);
    }

    #[test]
    fn lines_lead_from_each_object_to_its_own() {
        let leaf = |name: &str| {
            Branch::new(Identity::parse(&format!("n_{name}__ConfigMap")).expect("an id"))
        };
        let mut first = leaf("a");
        first.branches = vec![leaf("b"), leaf("c")];
        let mut root = leaf("root");
        root.branches = vec![first, leaf("d")];
        assert_eq!(
            root.draw(),
            "ConfigMap/n/root\n├── ConfigMap/n/a\n│   ├── ConfigMap/n/b\n│   └── ConfigMap/n/c\n└── ConfigMap/n/d\n"
        );
    }
}
