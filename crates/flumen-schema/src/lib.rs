//! Embedded facts of the Kubernetes API.

/// What is known about kinds and their fields.
#[derive(Clone, Debug, Default)]
pub struct Schema {}

impl Schema {
    pub const fn builtin() -> Self {
        Self {}
    }

    /// Whether instances of the kind are known to live outside namespaces.
    pub fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        api_version == "v1" && kind == "Namespace"
    }
}
