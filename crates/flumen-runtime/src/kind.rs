//! Kinds as data, and the names of their objects.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use flumen_api::Kind;
use flumen_kube::Resource;
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Text;

/// Namespace and name of an object.
pub type Name = (String, String);

/// What the runtime has to know of a kind.
#[derive(Debug)]
pub struct KindInfo {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    /// Name of the controller that reconciles the kind, in leases and events.
    pub controller: &'static str,
    /// Finalizer of objects that leave something behind.
    pub finalizer: &'static str,
    /// Field manager of statuses and finalizers.
    pub status_manager: &'static str,
    /// Workers that reconcile the kind.
    pub pool: Pool,
}

/// Worker pools. A slow remote only delays reconciliations of its own pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Reconciliations that read from remotes which may not answer.
    Fetch,
    /// All others.
    Work,
}

/// The names that a family of kinds has in common.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub controller: &'static str,
    pub finalizer: &'static str,
    pub status_manager: &'static str,
    pub pool: Pool,
}

impl KindInfo {
    /// Returns the facts of a kind in a family.
    pub const fn new<K: Kind>(family: Family) -> Self {
        Self {
            group: K::GROUP,
            version: K::VERSION,
            kind: K::KIND,
            plural: K::PLURAL,
            controller: family.controller,
            finalizer: family.finalizer,
            status_manager: family.status_manager,
            pool: family.pool,
        }
    }

    pub fn gvk(&self) -> Gvk {
        Gvk {
            group: Text::literal(self.group),
            version: Text::literal(self.version),
            kind: Text::literal(self.kind),
        }
    }

    /// Returns how the kind is served; the server need not be asked.
    pub fn resource(&self) -> Resource {
        Resource { gvk: self.gvk(), plural: self.plural.into(), namespaced: true, verbs: [].into() }
    }
}

impl PartialEq for KindInfo {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.kind, self.group) == (other.kind, other.group)
    }
}

impl Eq for KindInfo {}

impl Hash for KindInfo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, self.group).hash(state);
    }
}

impl PartialOrd for KindInfo {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KindInfo {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.kind, self.group).cmp(&(other.kind, other.group))
    }
}

/// One object of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub kind: &'static KindInfo,
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub fn new(
        kind: &'static KindInfo,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }

    pub fn object_id(&self) -> ObjectId {
        ObjectId {
            gvk: self.kind.gvk(),
            namespace: Text::from(self.namespace.as_str()),
            name: Text::from(self.name.as_str()),
        }
    }

    /// Returns namespace and name.
    pub fn to_name(&self) -> Name {
        (self.namespace.clone(), self.name.clone())
    }
}

/// Prints the name that messages use, such as `Kind/namespace/name`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind.kind, self.namespace, self.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A kind for tests.
    pub(crate) const fn kind(kind: &'static str) -> KindInfo {
        KindInfo {
            group: "example.com",
            version: "v1",
            kind,
            plural: "things",
            controller: "example-controller",
            finalizer: "example.com/finalizer",
            status_manager: "example-controller",
            pool: Pool::Work,
        }
    }

    #[test]
    fn kinds_of_the_same_name_in_different_groups_differ() {
        static ONE: KindInfo = kind("Widget");
        static SAME: KindInfo = kind("Widget");
        static OTHER: KindInfo = KindInfo { group: "example.org", ..kind("Widget") };
        assert_eq!(ONE, SAME);
        assert_ne!(ONE, OTHER);
        assert_ne!(Key::new(&ONE, "a", "b"), Key::new(&OTHER, "a", "b"));
        assert_eq!(Key::new(&ONE, "a", "b").to_string(), "Widget/a/b");
        assert_eq!(Key::new(&ONE, "a", "b").object_id().gvk.api_version(), "example.com/v1");
    }
}
