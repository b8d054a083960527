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

    fn identity(id: &str) -> Identity {
        Identity::parse(id).expect("an id")
    }

    #[test]
    fn names_have_a_namespace_where_there_is_one() {
        let role = identity("_system__reader_rbac.authorization.k8s.io_ClusterRole");
        assert_eq!(name(&role), "ClusterRole/system:reader");
        assert_eq!(name(&identity("apps_web__ConfigMap")), "ConfigMap/apps/web");
    }

    #[test]
    fn lines_lead_from_each_object_to_its_own() {
        let leaf = |name: &str| Branch::new(identity(&format!("n_{name}__ConfigMap")));
        let mut first = leaf("a");
        first.branches = vec![leaf("b"), leaf("c")];
        let mut root = leaf("root");
        root.branches = vec![first, leaf("d")];
        assert_eq!(
            draw(&root),
            "ConfigMap/n/root\n├── ConfigMap/n/a\n│   ├── ConfigMap/n/b\n│   └── ConfigMap/n/c\n└── ConfigMap/n/d\n"
        );
    }
}
