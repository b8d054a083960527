//! Sets of fields as `metadata.managedFields` holds them.
//!
//! `fieldsV1` is a tree of path elements: `f:name` is a field, `k:{"name":"web"}` the list element with
//! these keys, `v:"a"` the element with this value, `i:0` the one at this place. An empty node is
//! a member of the set; a node with children is one only if `.` is among them.

use std::collections::BTreeMap;

use flumen_yaml::{Budget, Entry, Node, Pos, Text, Value, read, same_value};

use crate::pointer::{Pointer, child};

const SELF: &str = ".";

/// One entry of `metadata.managedFields`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manager<'a>(pub(crate) &'a Node);

impl<'a> Manager<'a> {
    pub(crate) fn name(self) -> &'a str {
        self.text("manager")
    }

    pub(crate) fn operation(self) -> &'a str {
        self.text("operation")
    }

    pub(crate) fn subresource(self) -> &'a str {
        self.text("subresource")
    }

    /// Whether it is what `owner` has applied; what it did to a subresource is not.
    pub(crate) fn is_applied_by(self, owner: &str) -> bool {
        self.name() == owner && self.operation() == "Apply" && self.subresource().is_empty()
    }

    pub(crate) fn fields(self) -> FieldSet {
        self.0.get("fieldsV1").map(FieldSet::of).unwrap_or_default()
    }

    fn text(self, key: &str) -> &'a str {
        self.0.get(key).and_then(Node::as_str).unwrap_or_default()
    }
}

/// The managers of an object, in its order.
pub(crate) fn managers(object: &Node) -> impl Iterator<Item = Manager<'_>> {
    let entries = object.at(&["metadata", "managedFields"]).and_then(Node::as_seq);
    entries.into_iter().flatten().map(Manager)
}

/// Who wrote an object last beside `manager`. What is written to a subresource, such as the status, does not count.
pub fn last_manager_but<'a>(object: &'a Node, manager: &str) -> Option<&'a str> {
    let others = managers(object)
        .filter(|other| other.name() != manager && other.subresource().is_empty())
        .filter(|other| !other.name().is_empty());
    // Times are of one form, so that their texts compare as they do.
    others.max_by_key(|other| other.text("time")).map(Manager::name)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    is_member: bool,
    children: BTreeMap<Text, Self>,
}

impl FieldSet {
    /// Reads `fieldsV1`. The root is never a member itself.
    fn of(root: &Node) -> Self {
        Self { is_member: false, ..Self::below(root) }
    }

    fn below(node: &Node) -> Self {
        let entries = node.as_map().map(flumen_yaml::Map::entries).unwrap_or_default();
        let children = entries
            .iter()
            .filter(|entry| entry.key != SELF)
            .map(|entry| (entry.key.clone(), Self::below(&entry.value)))
            .collect::<BTreeMap<_, _>>();
        let is_member = children.is_empty() || entries.iter().any(|entry| entry.key == SELF);
        Self { is_member, children }
    }

    pub(crate) fn to_node(&self) -> Node {
        let own = self.is_member && !self.children.is_empty();
        let own = own.then(|| Entry::new(Text::literal(SELF), Node::map()));
        let children = self.children.iter();
        let children = children.map(|(key, child)| Entry::new(key.clone(), child.to_node()));
        Node::new(Pos::default(), Value::Map(own.into_iter().chain(children).collect()))
    }

    /// Adds all members of another set.
    pub(crate) fn extend(&mut self, other: Self) {
        self.is_member |= other.is_member;
        for (key, child) in other.children {
            self.children.entry(key).or_default().extend(child);
        }
    }

    /// Whether all members of another set are members of this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        (self.is_member || !other.is_member)
            && other.children.iter().all(|(key, child)| match self.children.get(key) {
                Some(own) => own.covers(child),
                None => child.is_empty(),
            })
    }

    fn is_empty(&self) -> bool {
        !self.is_member && self.children.values().all(Self::is_empty)
    }

    /// Takes out a field of `object` and everything below it.
    pub(crate) fn remove(&mut self, path: &Pointer, object: &Node) {
        let Some(elements) = self.elements(path, object) else { return };
        let Some((last, parents)) = elements.split_last() else { return };
        let mut at = self;
        for element in parents {
            let Some(next) = at.children.get_mut(element) else { return };
            at = next;
        }
        at.children.remove(last);
    }

    /// Whether a field of `object`, or something in it, is in the set.
    pub(crate) fn has(&self, path: &Pointer, object: &Node) -> bool {
        self.elements(path, object).is_some()
    }

    /// How a set spells the way to a field of `object`; `None` if it has nothing there.
    fn elements(&self, path: &Pointer, object: &Node) -> Option<Vec<Text>> {
        let mut at = (self, object);
        let mut elements = Vec::with_capacity(path.segments().len());
        for segment in path.segments() {
            let (fields, node) = at;
            let next = child(node, segment)?;
            let (element, fields) = match node.as_seq() {
                Some(_) => fields.list_element(next, segment.parse().ok()?)?,
                None => fields.children.get_key_value(format!("f:{segment}").as_str())?,
            };
            elements.push(element.clone());
            at = (fields, next);
        }
        Some(elements)
    }

    /// The child that stands for one element of a list.
    fn list_element(&self, item: &Node, index: usize) -> Option<(&Text, &Self)> {
        self.children.iter().find(|(key, _)| match key.split_once(':') {
            Some(("k", keys)) => json(keys).is_some_and(|keys| has_keys(item, &keys)),
            Some(("v", value)) => json(value).is_some_and(|value| same_value(&value, item)),
            Some(("i", place)) => place.parse() == Ok(index),
            _ => false,
        })
    }
}

fn json(text: &str) -> Option<Node> {
    let mut documents = read(&Text::from(text), 1, &Budget::default()).ok()?;
    if documents.len() == 1 { documents.pop() } else { None }
}

fn has_keys(item: &Node, keys: &Node) -> bool {
    let mut keys = keys.as_map().into_iter().flatten();
    keys.all(|key| item.get(&key.key).is_some_and(|value| same_value(value, &key.value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    fn set(json: &str) -> FieldSet {
        FieldSet::of(&node(json))
    }

    #[track_caller]
    fn check_union(a: &str, b: &str, expected: &str) {
        for (mut first, second) in [(set(a), set(b)), (set(b), set(a))] {
            first.extend(second);
            let (found, expected) = (first.to_node(), node(expected));
            assert!(same_value(&found, &expected), "{a} {b}: {found:?}");
        }
    }

    #[test]
    fn the_last_other_manager_is_found_by_time() {
        let entry = |manager: &str, second: u8, subresource: &str| {
            format!(
                "{{manager: {manager}, time: '2026-01-01T00:00:0{second}Z', subresource: '{subresource}'}}"
            )
        };
        let entries =
            [entry("old", 1, ""), entry("new", 3, ""), entry("us", 4, ""), entry("s", 5, "status")];
        let object = node(&format!("{{metadata: {{managedFields: [{}]}}}}", entries.join(", ")));
        assert_eq!(last_manager_but(&object, "us"), Some("new"));
        assert_eq!(last_manager_but(&node("{}"), "us"), None);
    }

    #[test]
    fn sets_are_read_and_written_alike() {
        for json in [
            "{}",
            r#"{"f:spec": {"f:replicas": {}}}"#,
            r#"{"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}"#,
            r#"{"f:spec": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}, "v:\"a\"": {}, "i:0": {}}}"#,
        ] {
            assert!(same_value(&set(json).to_node(), &node(json)), "{json}");
        }
    }

    #[test]
    fn a_union_has_the_members_of_both() {
        check_union("{}", r#"{"f:a": {}}"#, r#"{"f:a": {}}"#);
        check_union(r#"{"f:a": {}}"#, r#"{"f:b": {}}"#, r#"{"f:a": {}, "f:b": {}}"#);
        check_union(
            r#"{"f:a": {"f:x": {}}}"#,
            r#"{"f:a": {"f:y": {}}}"#,
            r#"{"f:a": {"f:x": {}, "f:y": {}}}"#,
        );
        // The field itself, and something below it.
        check_union(
            r#"{"f:a": {}}"#,
            r#"{"f:a": {"f:x": {}}}"#,
            r#"{"f:a": {".": {}, "f:x": {}}}"#,
        );
    }

    #[test]
    fn list_elements_are_found_by_keys_value_and_place() {
        let keyed = set(r#"{"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:name": {}}}"#);
        let port = node("{name: http, port: 80, protocol: TCP}");
        assert!(
            keyed
                .list_element(&port, 3)
                .is_some_and(|(_, child)| child.children.contains_key("f:name"))
        );
        assert!(keyed.list_element(&node("{port: 80, protocol: UDP}"), 0).is_none());
        assert!(keyed.list_element(&node("{port: '80', protocol: TCP}"), 0).is_none());
        let values = set(r#"{"v:\"a\"": {}}"#);
        assert!(values.list_element(&node("a"), 1).is_some());
        assert!(values.list_element(&node("b"), 0).is_none());
        let places = set(r#"{"i:1": {}}"#);
        assert!(places.list_element(&node("b"), 1).is_some());
        assert!(places.list_element(&node("b"), 0).is_none());
    }

    #[test]
    fn what_is_no_set_is_an_empty_one() {
        assert!(set("[]").children.is_empty());
        assert!(set("x").children.is_empty());
        let broken = set(r#"{"k:{": {}, "k:": {}, "": {}, "v:": {}}"#);
        assert!(broken.list_element(&node("{a: b}"), 0).is_none());
    }
}
