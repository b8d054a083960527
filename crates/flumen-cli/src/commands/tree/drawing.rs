//! Objects and the objects that they manage, drawn with lines.

use std::fmt::Write as _;

use flumen_inspect::{Branch, GroupKind, Identity};

use crate::view::printable::{Lines, printable};

const MAX_NAME: usize = 1 << 10;

pub(super) fn draw(tree: &Branch) -> String {
    let mut drawn = format!("{}\n", name(&tree.resource));
    draw_below(tree, "", &mut drawn);
    drawn
}

fn draw_below(tree: &Branch, indent: &str, drawn: &mut String) {
    let last = tree.branches.len().saturating_sub(1);
    for (index, branch) in tree.branches.iter().enumerate() {
        let (line, below) =
            if index == last { ("└── ", "    ") } else { ("├── ", "│   ") };
        let _ = writeln!(drawn, "{indent}{line}{}", name(&branch.resource));
        draw_below(branch, &format!("{indent}{below}"), drawn);
    }
}

fn name(identity: &Identity) -> String {
    let Identity { namespace, name, group_kind: GroupKind { kind, .. } } = identity;
    let text = if namespace.is_empty() {
        format!("{kind}/{name}")
    } else {
        format!("{kind}/{namespace}/{name}")
    };
    printable(&text, Lines::Escape, MAX_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(namespace: &str, name: &str, kind: &str) -> Identity {
        Identity {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            group_kind: GroupKind { group: String::new(), kind: kind.to_owned() },
        }
    }

    #[test]
    fn names_have_a_namespace_where_there_is_one() {
        let role = identity("", "system:reader", "ClusterRole");
        assert_eq!(name(&role), "ClusterRole/system:reader");
        assert_eq!(name(&identity("apps", "web", "ConfigMap")), "ConfigMap/apps/web");
    }

    #[test]
    fn lines_lead_from_each_object_to_its_own() {
        let map = |name: &str, branches: Vec<Branch>| Branch {
            resource: identity("n", name, "ConfigMap"),
            branches,
        };
        let first = map("a", vec![map("b", vec![]), map("c", vec![])]);
        let root = map("root", vec![first, map("d", vec![])]);
        assert_eq!(
            draw(&root),
            "ConfigMap/n/root\n├── ConfigMap/n/a\n│   ├── ConfigMap/n/b\n│   └── ConfigMap/n/c\n└── ConfigMap/n/d\n"
        );
    }
}
