//! Who applies: the manager of fields, and the marks that its objects bear.

use flumen_object::set_label;
use flumen_yaml::Node;

/// Names of inventories are values of labels.
pub const MAX_INVENTORY_NAME: usize = 63;

/// Whether a text can be the name of an inventory.
pub fn is_inventory_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= MAX_INVENTORY_NAME
        && text.starts_with(is_part)
        && text.ends_with(is_part)
        && text.chars().all(|c| is_part(c) || c == '-' || c == '.')
}

/// The identity under which a set of objects is applied and later pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The manager of the fields that are applied.
    pub manager: String,
    /// The prefix of the labels and annotations that steer applying.
    pub group: String,
    pub name: String,
    pub namespace: String,
}

impl Owner {
    /// The labels that every object of the set bears; only objects that bear them are ever pruned.
    pub fn labels(&self) -> [(String, &str); 2] {
        [
            (format!("{}/name", self.group), self.name.as_str()),
            (format!("{}/namespace", self.group), self.namespace.as_str()),
        ]
    }

    /// The labels as a selector of list requests.
    pub fn selector(&self) -> String {
        self.labels().map(|(key, value)| format!("{key}={value}")).join(",")
    }

    pub(crate) fn marks(&self, object: &mut Node) {
        for (key, value) in self.labels() {
            set_label(object, key, value);
        }
    }

    fn says(&self, object: &Node, key: &str, value: &str) -> bool {
        says(&self.group, object, key, value)
    }

    /// The object is left alone: neither applied nor deleted.
    pub(crate) fn leaves_alone(&self, object: &Node) -> bool {
        leaves_alone(&self.group, object)
    }

    /// The object is created when it is absent and never touched again.
    pub(crate) fn only_creates(&self, desired: &Node) -> bool {
        self.says(desired, "ssa", "IfNotPresent")
    }

    /// Fields of other managers stay theirs.
    pub(crate) fn merges(&self, object: &Node) -> bool {
        self.says(object, "ssa", "Merge")
    }

    pub(crate) fn recreates(&self, object: &Node) -> bool {
        self.says(object, "force", "enabled")
    }
}

/// Whether a label or annotation `<group>/<key>` has this value; case does not matter.
fn says(group: &str, object: &Node, key: &str, value: &str) -> bool {
    let key = format!("{group}/{key}");
    ["labels", "annotations"].iter().any(|place| {
        let text = object.at(&["metadata", place, &key]).and_then(Node::text);
        text.is_some_and(|text| text.eq_ignore_ascii_case(value))
    })
}

/// Whether a live object is kept from deletion by a mark of `group`.
pub(crate) fn is_kept(group: &str, live: &Node) -> bool {
    leaves_alone(group, live) || says(group, live, "prune", "disabled")
}

fn leaves_alone(group: &str, object: &Node) -> bool {
    says(group, object, "ssa", "Ignore") || says(group, object, "reconcile", "disabled")
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Text, read};

    use super::*;
    use crate::Marks;

    fn owner() -> Owner {
        Owner {
            manager: "kustomizer".into(),
            group: "inventory.kustomizer.dev".into(),
            name: "web".into(),
            namespace: "apps".into(),
        }
    }

    fn object(text: &str) -> Node {
        read(&Text::from(text), 1, &Budget::default()).expect("YAML").remove(0)
    }

    #[test]
    fn names_of_inventories_fit_into_labels() {
        for name in ["web", "shop-2", "a.b", &"x".repeat(63)] {
            assert!(is_inventory_name(name), "{name}");
        }
        for name in ["", "Web", "-a", "a-", "a_b", "a/b", &"x".repeat(64)] {
            assert!(!is_inventory_name(name), "{name}");
        }
    }

    fn is_owned(object: &Node) -> bool {
        Marks::of(object, &owner().group).may_be_deleted_by(&owner())
    }

    #[test]
    fn marked_objects_are_owned() {
        for text in ["{kind: A}", "{kind: A, metadata: null}", "{metadata: {labels: {a: b}}}"] {
            let mut object = object(text);
            assert!(!is_owned(&object));
            owner().marks(&mut object);
            assert!(is_owned(&object), "{text}");
        }
        let other = Owner { name: "api".into(), ..owner() };
        let mut object = object("{}");
        other.marks(&mut object);
        assert!(!is_owned(&object), "of another set");
    }

    #[test]
    fn marks_are_labels_or_annotations_in_any_case() {
        let check = |place: &str, key: &str, value: &str| {
            object(&format!("metadata: {{{place}: {{inventory.kustomizer.dev/{key}: {value}}}}}"))
        };
        assert!(owner().leaves_alone(&check("labels", "ssa", "ignore")));
        assert!(owner().leaves_alone(&check("annotations", "reconcile", "Disabled")));
        assert!(owner().only_creates(&check("annotations", "ssa", "ifNotPresent")));
        assert!(is_kept(&owner().group, &check("labels", "prune", "disabled")));
        assert!(is_kept(&owner().group, &check("labels", "reconcile", "disabled")));
        assert!(owner().recreates(&check("annotations", "force", "enabled")));
        assert!(!owner().leaves_alone(&check("annotations", "prune", "disabled")));
    }
}
