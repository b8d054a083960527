//! A resource that is served.

use super::TypeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Cluster,
    Namespaced,
}

/// A resource in one version.
#[derive(Debug)]
pub struct ApiKind {
    /// Empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub scope: Scope,
    pub short_names: Vec<&'static str>,
    pub categories: Vec<&'static str>,
    /// Sorted.
    pub verbs: Vec<&'static str>,
    /// Sorted by name.
    pub subresources: Vec<Subresource>,
    pub object: TypeId,
}

#[derive(Debug)]
pub struct Subresource {
    pub name: &'static str,
    /// What is sent and answered: the kind itself, or one like `autoscaling/v1 Scale`.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub verbs: Vec<&'static str>,
}

/// A kind of body that is no resource.
#[derive(Debug)]
pub struct Message {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub object: TypeId,
}
