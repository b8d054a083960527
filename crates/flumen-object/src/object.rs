//! Objects and ordered sets of them.

use std::fmt;

use flumen_yaml::{Node, Text};

use crate::{Gvk, Origin};

/// One Kubernetes object: its tree and where it came from.
#[derive(Clone, Debug)]
pub struct Object {
    pub node: Node,
    pub origin: Origin,
}

impl Object {
    pub fn id(&self) -> ObjectId {
        ObjectId::of(&self.node)
    }
}

/// What tells one object of a set from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    pub gvk: Gvk,
    /// Empty for cluster-wide objects and for those that leave the choice to the cluster.
    pub namespace: Text,
    pub name: Text,
}

impl ObjectId {
    /// Reads the identity of a manifest; what is missing stays empty.
    pub fn of(node: &Node) -> Self {
        let meta =
            |key| node.at(&["metadata", key]).and_then(Node::text).cloned().unwrap_or_default();
        Self { gvk: Gvk::of(node), namespace: meta("namespace"), name: meta("name") }
    }
}

/// `Kind/namespace/name`, as messages name an object.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.gvk.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// Objects in the order in which they are printed and packaged.
#[derive(Clone, Debug, Default)]
pub struct ObjectSet {
    objects: Vec<Object>,
}

impl ObjectSet {
    pub const fn len(&self) -> usize {
        self.objects.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Object> {
        self.objects.iter()
    }
}

impl FromIterator<Object> for ObjectSet {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        Self { objects: objects.into_iter().collect() }
    }
}

impl<'a> IntoIterator for &'a ObjectSet {
    type Item = &'a Object;
    type IntoIter = std::slice::Iter<'a, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}

impl IntoIterator for ObjectSet {
    type Item = Object;
    type IntoIter = std::vec::IntoIter<Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Entry, Node, Pos, Value};

    use super::{Object, ObjectSet};
    use crate::Origin;

    fn object(namespace: &str, name: &str) -> Object {
        let mut metadata = vec![Entry::new("name", Node::string(name))];
        if !namespace.is_empty() {
            metadata.push(Entry::new("namespace", Node::string(namespace)));
        }
        let map = |entries: Vec<Entry>| Node::new(Pos::default(), Value::Map(entries.into()));
        let node = map(vec![
            Entry::new("apiVersion", Node::string("v1")),
            Entry::new("kind", Node::string("ConfigMap")),
            Entry::new("metadata", map(metadata)),
        ]);
        Object { node, origin: Origin::default() }
    }

    #[test]
    fn ids_read_like_paths() {
        assert_eq!(object("web", "settings").id().to_string(), "ConfigMap/web/settings");
        assert_eq!(object("", "settings").id().to_string(), "ConfigMap/settings");
        assert_ne!(object("web", "settings").id(), object("", "settings").id());
    }

    #[test]
    fn sets_keep_their_order() {
        let set: ObjectSet = ["b", "a", "c"].into_iter().map(|name| object("", name)).collect();
        let names: Vec<String> = set.iter().map(|object| object.id().name.to_string()).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert_eq!(set.len(), 3);
    }
}
