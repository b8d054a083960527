//! Media types that are written or recognised.

pub const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const OCI_EMPTY: &str = "application/vnd.oci.empty.v1+json";
pub const OCI_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub const OCI_LAYER_GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
pub const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";
pub const DOCKER_LAYER_GZIP: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";

/// Says that an OCI artifact holds manifests as Flumen packs them.
pub const FLUMEN_MANIFESTS: &str = "application/vnd.flumen.manifests.v1";

pub const FLUX_CONFIG: &str = "application/vnd.cncf.flux.config.v1+json";
pub const FLUX_CONTENT: &str = "application/vnd.cncf.flux.content.v1";
pub const FLUX_CONTENT_GZIP: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// Manifests of one image or artifact.
pub const MANIFESTS: [&str; 2] = [OCI_MANIFEST, DOCKER_MANIFEST];
/// Manifests that list others.
pub const INDEXES: [&str; 2] = [OCI_INDEX, DOCKER_INDEX];

/// Whether a layer may only be had from where its manifest says.
pub(crate) fn is_foreign(media_type: &str) -> bool {
    media_type.starts_with("application/vnd.oci.image.layer.nondistributable.")
        || media_type.starts_with("application/vnd.docker.image.rootfs.foreign.")
}
