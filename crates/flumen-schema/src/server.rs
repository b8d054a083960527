//! What a current API server knows, for everything that talks to one.
//!
//! Rendering must not use this: kustomize does not know these kinds and fields.

use crate::generated::server::{DEFINITION_NAMES, FIELDS, KINDS, MERGE_KEYS, NAMES, TYPES};

/// How the server merges the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A list that is replaced as a whole.
    Atomic,
    /// A list of distinct scalars.
    Set,
    /// A list of mappings that are told apart by keys.
    MapList,
    /// A mapping that is replaced as a whole.
    AtomicMap,
    /// Anything that is merged field by field.
    Granular,
}

/// A kind that the server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub plural: &'static str,
    pub namespaced: bool,
}

/// A field whose merging the server declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub topology: Topology,
    /// The keys of a [`Topology::MapList`].
    pub keys: &'static [&'static str],
}

pub fn kind(api_version: &str, kind: &str) -> Option<Kind> {
    let compare = |name: &str, version: &str| name.cmp(kind).then_with(|| version.cmp(api_version));
    let index = KINDS.binary_search_by(|row| compare(row.0.of(NAMES), row.1.of(NAMES))).ok()?;
    let row = KINDS.get(index)?;
    Some(Kind { plural: row.2.of(NAMES), namespaced: row.3 })
}

/// A field of a definition, which is named as in the server's `OpenAPI` document.
pub fn field(definition: &str, name: &str) -> Option<Field> {
    let index = TYPES.binary_search_by(|row| row.0.of(DEFINITION_NAMES).cmp(definition)).ok()?;
    let start = usize::from(TYPES.get(index)?.1);
    let end = TYPES.get(index + 1).map_or(FIELDS.len(), |next| usize::from(next.1));
    let fields = FIELDS.get(start..end)?;
    let row = fields.get(fields.binary_search_by(|row| row.0.of(NAMES).cmp(name)).ok()?)?;
    Some(Field { topology: row.1, keys: MERGE_KEYS.get(usize::from(row.2)).copied()? })
}

#[cfg(test)]
mod tests {
    use super::{Field, Kind, Topology, field, kind};

    #[test]
    fn kinds_have_plural_and_scope() {
        let expected = Kind { plural: "ingresses", namespaced: true };
        assert_eq!(kind("networking.k8s.io/v1", "Ingress"), Some(expected));
        assert_eq!(kind("v1", "Node").map(|kind| kind.namespaced), Some(false));
        assert_eq!(kind("extensions/v1beta1", "Ingress"), None);
    }

    #[test]
    fn fields_have_a_topology() {
        let ports = Field { topology: Topology::MapList, keys: &["containerPort", "protocol"] };
        assert_eq!(field("io.k8s.api.core.v1.Container", "ports"), Some(ports));
        let args = Field { topology: Topology::Atomic, keys: &[] };
        assert_eq!(field("io.k8s.api.core.v1.Container", "args"), Some(args));
        assert_eq!(field("io.k8s.api.core.v1.Container", "image"), None);
    }
}
