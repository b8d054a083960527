//! Taking fields over from those who managed an object before.
//!
//! Server-side apply removes a field that is no longer declared only if it belongs to the one who
//! applies. Fields that `kubectl` once set would stay for ever. So they are made ours first.

use flumen_yaml::{Entry, Node, Pos, Tag, Text, Value};

use crate::managed_fields::{FieldSet, Manager, managers};
use crate::pointer::escape;

/// Where `kubectl apply` remembers the object as it was sent.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is taken from a live object before it is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// Annotations to remove.
    pub annotations: Vec<String>,
    /// Labels to remove.
    pub labels: Vec<String>,
    /// Managers whose fields become the owner's.
    pub managers: Vec<FormerManager>,
}

/// Managers whose name begins with `prefix`, as far as they used `operation`. What they did to a
/// subresource stays theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerManager {
    pub prefix: String,
    pub operation: Operation,
}

/// How a manager came by its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Apply,
    Update,
}

impl Operation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl FormerManager {
    fn covers(&self, manager: Manager<'_>) -> bool {
        manager.subresource().is_empty()
            && manager.operation() == self.operation.name()
            && manager.name().starts_with(&self.prefix)
    }
}

/// What `kubectl` leaves behind, whichever way it was used.
impl Default for Takeover {
    fn default() -> Self {
        let manager =
            |prefix: &str, operation| FormerManager { prefix: prefix.to_owned(), operation };
        Self {
            annotations: vec![LAST_APPLIED.to_owned()],
            labels: Vec::new(),
            managers: vec![
                manager("kubectl", Operation::Apply),
                manager("kubectl", Operation::Update),
                // What existed before somebody applied for the first time.
                manager("before-first-apply", Operation::Update),
            ],
        }
    }
}

impl Takeover {
    /// Takes the fields of managers whose names begin with one of these, and nothing else. An empty one would
    /// mean everybody, and does not count.
    pub fn from_managers(prefixes: &[String]) -> Self {
        let both = |prefix: &String| {
            [Operation::Apply, Operation::Update]
                .map(|operation| FormerManager { prefix: prefix.clone(), operation })
        };
        let managers = prefixes.iter().filter(|prefix| !prefix.is_empty()).flat_map(both).collect();
        Self { annotations: Vec::new(), labels: Vec::new(), managers }
    }

    /// Whether fields of this manager become the owner's.
    pub(crate) fn takes_from(&self, manager: Manager<'_>) -> bool {
        self.managers.iter().any(|former| former.covers(manager))
    }

    /// The JSON patch that makes `owner` the manager of what others left, if they left anything.
    ///
    /// The patch holds for the state that it was made from: if the object has changed since, the
    /// server refuses it as a conflict, and it has to be made again.
    pub fn patch(&self, live: &Node, owner: &str) -> Option<Node> {
        let removals = |field: &str, keys: &[String]| {
            let present = keys.iter().filter(|key| live.at(&["metadata", field, key]).is_some());
            let path = |key: &String| format!("/metadata/{field}/{}", escape(key));
            present.map(|key| operation("remove", path(key), None)).collect::<Vec<_>>()
        };
        let mut operations = removals("annotations", &self.annotations);
        operations.extend(removals("labels", &self.labels));
        if let Some(managers) = self.merged(live, owner) {
            let path = "/metadata/managedFields".to_owned();
            operations.push(operation("replace", path, Some(Node::seq(managers))));
        }
        if operations.is_empty() {
            return None;
        }
        if let Some(version) = live.at(&["metadata", "resourceVersion"]) {
            let path = "/metadata/resourceVersion".to_owned();
            operations.push(operation("replace", path, Some(version.clone())));
        }
        Some(Node::seq(operations))
    }

    /// The managers of the object with those that are taken over folded into the owner's entry, which
    /// comes last; none if there are no such.
    fn merged(&self, live: &Node, owner: &str) -> Option<Vec<Node>> {
        let mut others = Vec::new();
        let mut merged: Option<(Node, FieldSet)> = managers(live)
            .find(|manager| manager.is_applied_by(owner))
            .map(|own| (own.0.clone(), own.fields()));
        let mut is_changed = false;
        for manager in managers(live) {
            if manager.is_applied_by(owner) {
                // More than one entry is not what servers write, but it is the owner's all the same.
                if let Some((_, fields)) = &mut merged {
                    fields.extend(manager.fields());
                }
            } else if self.takes_from(manager) {
                is_changed = true;
                match &mut merged {
                    Some((_, fields)) => fields.extend(manager.fields()),
                    None => merged = Some((renamed(manager.0, owner), manager.fields())),
                }
            } else {
                others.push(manager.0.clone());
            }
        }
        let (mut entry, fields) = merged.filter(|_| is_changed)?;
        entry.as_map_mut()?.set("fieldsV1", fields.to_node());
        others.push(entry);
        Some(others)
    }
}

/// The entry of a former manager as an entry of the owner.
fn renamed(entry: &Node, owner: &str) -> Node {
    let mut entry = entry.clone();
    if let Some(map) = entry.as_map_mut() {
        map.set("manager", Node::string(owner));
        map.set("operation", Node::string(Text::literal(Operation::Apply.name())));
    }
    entry
}

fn operation(name: &'static str, path: String, value: Option<Node>) -> Node {
    let fields = [
        Some(Entry::new(Text::literal("op"), Node::scalar(Text::literal(name), Tag::Str))),
        Some(Entry::new(Text::literal("path"), Node::string(path))),
        value.map(|value| Entry::new(Text::literal("value"), value)),
    ];
    Node::new(Pos::default(), Value::Map(fields.into_iter().flatten().collect()))
}

#[cfg(test)]
mod tests {
    use flumen_yaml::same_value;

    use super::*;
    use crate::tests::node;

    const OWNER: &str = "flumen";

    /// The patch for an object with these managers, as a list of managers; none if there is no patch.
    #[track_caller]
    fn check_managers(managers: &str, expected: Option<&str>) {
        let live = node(&format!("{{metadata: {{managedFields: [{managers}]}}}}"));
        let patch = Takeover::default().patch(&live, OWNER);
        match (patch, expected) {
            (Some(patch), Some(expected)) => {
                let wanted = format!(
                    "[{{op: replace, path: /metadata/managedFields, value: [{expected}]}}]"
                );
                assert!(same_value(&patch, &node(&wanted)), "{patch:?}");
            }
            (patch, expected) => assert_eq!(patch.is_some(), expected.is_some(), "{patch:?}"),
        }
    }

    #[test]
    fn objects_that_nobody_else_managed_are_left_alone() {
        check_managers("", None);
        check_managers("{manager: flumen, operation: Apply, fieldsV1: {'f:a': {}}}", None);
        check_managers("{manager: helm, operation: Update, fieldsV1: {'f:a': {}}}", None);
        check_managers("{manager: before-first-apply, operation: Apply}", None);
        check_managers("{manager: kubectl-scale, operation: Update, subresource: scale}", None);
    }

    #[test]
    fn the_first_of_the_former_managers_is_renamed() {
        check_managers(
            "{manager: kubectl-client-side-apply, operation: Update, apiVersion: v1, time: t, \
             fieldsV1: {'f:a': {}}}, {manager: helm, operation: Update}",
            Some(
                "{manager: helm, operation: Update}, {manager: flumen, operation: Apply, \
                 apiVersion: v1, time: t, fieldsV1: {'f:a': {}}}",
            ),
        );
    }

    #[test]
    fn fields_come_together_in_the_entry_of_the_owner() {
        check_managers(
            "{manager: kubectl-edit, operation: Update, fieldsV1: {'f:a': {'f:x': {}}}}, \
             {manager: flumen, operation: Apply, time: t, fieldsV1: {'f:a': {'f:y': {}}}}, \
             {manager: kubectl, operation: Apply, fieldsV1: {'f:b': {}}}, \
             {manager: flumen, operation: Apply, subresource: status, fieldsV1: {'f:s': {}}}",
            Some(
                "{manager: flumen, operation: Apply, subresource: status, fieldsV1: {'f:s': {}}}, \
                 {manager: flumen, operation: Apply, time: t, \
                 fieldsV1: {'f:a': {'f:x': {}, 'f:y': {}}, 'f:b': {}}}",
            ),
        );
    }

    #[test]
    fn managers_are_named_by_the_beginnings_of_their_names() {
        let takeover = Takeover::from_managers(&["old-".to_owned(), String::new()]);
        let live = node(
            "{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x}, managedFields: [\
             {manager: old-controller, operation: Update, fieldsV1: {'f:a': {}}}, \
             {manager: old-tool, operation: Apply, fieldsV1: {'f:b': {}}}, \
             {manager: kubectl, operation: Apply, fieldsV1: {'f:c': {}}}]}}",
        );
        let patch = takeover.patch(&live, OWNER).expect("a patch");
        let expected = "[{op: replace, path: /metadata/managedFields, value: [\
                        {manager: kubectl, operation: Apply, fieldsV1: {'f:c': {}}}, \
                        {manager: flumen, operation: Apply, fieldsV1: {'f:a': {}, 'f:b': {}}}]}]";
        assert!(same_value(&patch, &node(expected)), "{patch:?}");
    }

    #[test]
    fn annotations_and_labels_are_removed_where_they_are() {
        let takeover = Takeover {
            annotations: vec!["example.com/a".to_owned(), "b".to_owned()],
            labels: vec!["c~d".to_owned()],
            managers: Vec::new(),
        };
        let live = node(
            "{metadata: {resourceVersion: '7', annotations: {example.com/a: x, z: y}, \
             labels: {c~d: x}}}",
        );
        let patch = takeover.patch(&live, OWNER).expect("a patch");
        let expected = "[{op: remove, path: /metadata/annotations/example.com~1a}, \
                        {op: remove, path: /metadata/labels/c~0d}, \
                        {op: replace, path: /metadata/resourceVersion, value: '7'}]";
        assert!(same_value(&patch, &node(expected)), "{patch:?}");
        assert!(takeover.patch(&node("{metadata: {resourceVersion: '7'}}"), OWNER).is_none());
    }
}
