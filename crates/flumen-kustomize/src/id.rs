//! Identities of resources during a build.
//!
//! kustomize compares resources by group, version, kind, name and *effective* namespace: a kind that
//! is known to be cluster-wide has none, and an empty namespace equals `default`.

use std::fmt;

use flumen_object::Gvk;
use flumen_schema::Schema;
use flumen_yaml::{Node, Text};

/// The effective namespace of cluster-wide kinds. No namespace can have this name.
pub(crate) const NOT_A_NAMESPACE: &str = "_non_namespaceable_";
const DEFAULT_NAMESPACE: &str = "default";

#[derive(Clone, Debug)]
pub(crate) struct ResId {
    pub(crate) gvk: Gvk,
    pub(crate) name: Text,
    /// As written: empty when the manifest names none.
    pub(crate) namespace: Text,
    pub(crate) cluster_scoped: bool,
}

impl ResId {
    pub(crate) fn of(node: &Node, schema: &Schema) -> Self {
        let api_version = node.get("apiVersion").and_then(Node::text).cloned().unwrap_or_default();
        let kind = node.get("kind").and_then(Node::text).cloned().unwrap_or_default();
        let cluster_scoped = schema.is_cluster_scoped(&api_version, &kind);
        Self {
            gvk: Gvk::new(&api_version, kind),
            name: meta_text(node, "name"),
            namespace: meta_text(node, "namespace"),
            cluster_scoped,
        }
    }

    pub(crate) fn effective_namespace(&self) -> &str {
        if self.cluster_scoped {
            NOT_A_NAMESPACE
        } else if self.namespace.is_empty() {
            DEFAULT_NAMESPACE
        } else {
            &self.namespace
        }
    }

    /// Same kind and name, whatever the namespace.
    pub(crate) fn same_name(&self, other: &Self) -> bool {
        self.name == other.name && self.gvk == other.gvk
    }
}

/// A non-empty scalar of `metadata`; anything else counts as missing.
pub(crate) fn meta_text(node: &Node, key: &str) -> Text {
    let value = node.get("metadata").and_then(|meta| meta.get(key));
    value.filter(|value| !value.is_null()).and_then(Node::text).cloned().unwrap_or_default()
}

impl PartialEq for ResId {
    fn eq(&self, other: &Self) -> bool {
        self.same_name(other) && self.effective_namespace() == other.effective_namespace()
    }
}

impl Eq for ResId {}

impl std::hash::Hash for ResId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.gvk.hash(state);
        self.name.hash(state);
        self.effective_namespace().hash(state);
    }
}

/// `Deployment.v1.apps/web.[noNs]`, the notation of kustomize's messages.
impl fmt::Display for ResId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "[noName]" } else { self.name.as_str() };
        let namespace = if self.namespace.is_empty() { "[noNs]" } else { self.namespace.as_str() };
        write!(f, "{}/{name}.{namespace}", self.gvk)
    }
}
