//! What the metadata of an object says that matters to its deletion.

use flumen_yaml::Node;

use crate::{Owner, owner::is_kept};

/// Whose an object is, which one it is, and whether it may be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub uid: String,
    pub resource_version: String,
    /// Namespace and name of the owner, if the object bears its labels.
    pub owner: Option<(String, String)>,
    /// A label or annotation keeps it from deletion.
    pub is_kept: bool,
    /// It is being deleted.
    pub is_terminating: bool,
}

impl Marks {
    /// Reads the marks of `group` on an object as the cluster has it.
    pub fn of(live: &Node, group: &str) -> Self {
        let text = |path: &[&str]| live.at(path).and_then(Node::as_str).map(str::to_owned);
        let label = |key: &str| text(&["metadata", "labels", &format!("{group}/{key}")]);
        Self {
            uid: text(&["metadata", "uid"]).unwrap_or_default(),
            resource_version: text(&["metadata", "resourceVersion"]).unwrap_or_default(),
            owner: label("namespace").zip(label("name")),
            is_kept: is_kept(group, live),
            is_terminating: live.at(&["metadata", "deletionTimestamp"]).is_some(),
        }
    }

    /// Whether the owner may delete the object.
    pub(crate) fn may_be_deleted_by(&self, owner: &Owner) -> bool {
        let is_owned = self
            .owner
            .as_ref()
            .is_some_and(|(namespace, name)| *namespace == owner.namespace && *name == owner.name);
        is_owned && !self.is_kept
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Text, read};

    use super::*;

    #[test]
    fn only_objects_of_the_owner_that_nothing_keeps_may_be_deleted() {
        let owner = Owner {
            manager: "m".into(),
            group: "example.com".into(),
            name: "web".into(),
            namespace: "apps".into(),
        };
        let check = |metadata: &str, expected: bool| {
            let text = format!("metadata: {{uid: u, resourceVersion: '7', {metadata}}}");
            let live = read(&Text::from(text), 1, &Budget::default()).expect("YAML").remove(0);
            let marks = Marks::of(&live, &owner.group);
            assert_eq!((&*marks.uid, &*marks.resource_version), ("u", "7"));
            assert_eq!(marks.may_be_deleted_by(&owner), expected, "{metadata}");
        };
        let ours = "example.com/name: web, example.com/namespace: apps";
        check(&format!("labels: {{{ours}}}"), true);
        check("", false);
        check("labels: {example.com/name: web}", false);
        check("labels: {example.com/name: api, example.com/namespace: apps}", false);
        check(&format!("labels: {{{ours}, example.com/prune: Disabled}}"), false);
        check(&format!("labels: {{{ours}}}, annotations: {{example.com/ssa: ignore}}"), false);
    }
}
