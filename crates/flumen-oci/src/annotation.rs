//! Annotations of manifests, by the names that OCI gave them.

pub(crate) const CREATED: &str = "org.opencontainers.image.created";
pub(crate) const SOURCE: &str = "org.opencontainers.image.source";
pub(crate) const REVISION: &str = "org.opencontainers.image.revision";
