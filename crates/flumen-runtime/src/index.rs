//! Which objects refer to which, in both directions, so that a change finds its users without a search.

use std::collections::{BTreeSet, HashMap};

use flumen_object::ObjectId;

use crate::Key;

/// How one object uses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Relation(&'static str);

impl Relation {
    /// The user is built from the artifact of the other.
    pub const SOURCE: Self = Self("source");
    /// The user waits until the other is ready, and is deleted before it.
    pub const DEPENDENCY: Self = Self("dependency");
    /// The user reads values, keys or credentials of the other.
    pub const INPUT: Self = Self("input");
}

/// One object that another refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    pub relation: Relation,
    pub id: ObjectId,
}

/// References of all objects.
#[derive(Debug, Default)]
pub struct Index {
    references: HashMap<Key, Vec<Reference>>,
    users: HashMap<Reference, BTreeSet<Key>>,
    /// Keys of the objects that refer to others, by identity.
    keys: HashMap<ObjectId, Key>,
}

impl Index {
    /// Replaces the references of an object and returns the former ones.
    pub(crate) fn update(&mut self, key: &Key, references: Vec<Reference>) -> Vec<Reference> {
        let before = self.references.remove(key).unwrap_or_default();
        for reference in &before {
            if let Some(users) = self.users.get_mut(reference) {
                users.remove(key);
                if users.is_empty() {
                    self.users.remove(reference);
                }
            }
        }
        for reference in &references {
            self.users.entry(reference.clone()).or_default().insert(key.clone());
        }
        if references.is_empty() {
            self.keys.remove(&key.object_id());
        } else {
            self.keys.insert(key.object_id(), key.clone());
            self.references.insert(key.clone(), references);
        }
        before
    }

    /// Returns what an object refers to.
    pub(crate) fn references(&self, key: &Key) -> &[Reference] {
        self.references.get(key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the objects that refer to one in this way.
    pub fn users(&self, relation: Relation, id: &ObjectId) -> impl Iterator<Item = &Key> {
        let reference = Reference { relation, id: id.clone() };
        self.users.get(&reference).into_iter().flatten()
    }

    /// Returns the dependencies of an object.
    fn dependencies(&self, key: &Key) -> impl Iterator<Item = &ObjectId> {
        let references = self.references(key).iter();
        references.filter(|one| one.relation == Relation::DEPENDENCY).map(|one| &one.id)
    }

    /// Returns all objects that depend on one, also through others.
    pub fn dependents(&self, key: &Key) -> BTreeSet<Key> {
        let mut found = BTreeSet::new();
        let mut open = vec![key.object_id()];
        while let Some(id) = open.pop() {
            for dependent in self.users(Relation::DEPENDENCY, &id) {
                if found.insert(dependent.clone()) {
                    open.push(dependent.object_id());
                }
            }
        }
        found
    }

    /// Returns everything that an object depends on, also through others; with a cycle it is among them.
    pub fn all_dependencies(&self, key: &Key) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        let mut open: Vec<ObjectId> = self.dependencies(key).cloned().collect();
        while let Some(id) = open.pop() {
            if found.contains(&id) {
                continue;
            }
            if let Some(key) = self.keys.get(&id) {
                open.extend(self.dependencies(key).cloned());
            }
            found.insert(id);
        }
        found
    }

    /// Returns the length of the longest chain of dependencies before an object.
    pub(crate) fn depth(&self, key: &Key) -> usize {
        let mut level: BTreeSet<ObjectId> = self.dependencies(key).cloned().collect();
        let mut depth = 0;
        while !level.is_empty() && depth < DEEPEST {
            depth += 1;
            let keys = level.iter().filter_map(|id| self.keys.get(id));
            level = keys.flat_map(|key| self.dependencies(key).cloned()).collect();
        }
        depth
    }

    /// Returns the objects on the way from one back to itself along its dependencies, if there is such a way.
    pub fn cycle(&self, key: &Key) -> Option<Vec<ObjectId>> {
        let start = key.object_id();
        // Most objects have no dependents.
        self.users(Relation::DEPENDENCY, &start).next()?;
        let mut visited = BTreeSet::new();
        let mut way = vec![(start.clone(), self.dependencies(key).cloned().collect::<Vec<_>>())];
        while let Some((_, rest)) = way.last_mut() {
            let Some(next) = rest.pop() else {
                way.pop();
                continue;
            };
            if next == start {
                return Some(way.into_iter().map(|(id, _)| id).chain([start]).collect());
            }
            if !visited.insert(next.clone()) {
                continue;
            }
            if let Some(key) = self.keys.get(&next) {
                let dependencies = self.dependencies(key).cloned().collect();
                way.push((next, dependencies));
            }
        }
        None
    }
}

/// A longer chain of dependencies is a cycle.
const DEEPEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KindInfo;

    static KIND: KindInfo = crate::kind::tests::kind("Widget");

    fn key(name: &str) -> Key {
        Key::new(&KIND, "apps", name)
    }

    fn index(dependencies: &[(&str, &[&str])]) -> Index {
        let mut index = Index::default();
        for (name, on) in dependencies {
            index.update(&key(name), on.iter().map(|name| dependency(name)).collect());
        }
        index
    }

    fn dependency(name: &str) -> Reference {
        Reference { relation: Relation::DEPENDENCY, id: key(name).object_id() }
    }

    fn names(keys: impl IntoIterator<Item = Key>) -> Vec<String> {
        keys.into_iter().map(|key| key.name).collect()
    }

    #[test]
    fn dependents_and_dependencies_are_found_through_others() {
        let index = index(&[("c", &["b"]), ("b", &["a"]), ("d", &["a", "c"])]);
        assert_eq!(names(index.dependents(&key("a"))), ["b", "c", "d"]);
        assert_eq!(names(index.dependents(&key("c"))), ["d"]);
        assert_eq!(index.all_dependencies(&key("c")).len(), 2);
        let depths = ["a", "b", "c", "d"].map(|name| index.depth(&key(name)));
        assert_eq!(depths, [0, 1, 2, 3]);
        assert_eq!(index.cycle(&key("a")), None);
    }

    #[test]
    fn a_cycle_is_named_from_each_of_its_members() {
        let index = index(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]);
        let way = |name: &str| {
            let ids = index.cycle(&key(name))?;
            Some(ids.iter().map(|id| id.name.to_string()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(way("a").as_deref(), Some("a b c a"));
        assert_eq!(way("c").as_deref(), Some("c a b c"));
        assert_eq!(way("d"), None, "it only depends on a cycle");
        assert_eq!(index.depth(&key("a")), DEEPEST);
    }

    #[test]
    fn former_references_are_forgotten() {
        let mut index = index(&[("b", &["a"])]);
        assert_eq!(index.update(&key("b"), vec![dependency("c")]), [dependency("a")]);
        let users = |index: &Index, name: &str| {
            index.users(Relation::DEPENDENCY, &key(name).object_id()).count()
        };
        assert_eq!((users(&index, "a"), users(&index, "c")), (0, 1));
        index.update(&key("b"), Vec::new());
        assert_eq!(users(&index, "c"), 0);
        assert!(index.users.is_empty() && index.references.is_empty() && index.keys.is_empty());
    }
}
