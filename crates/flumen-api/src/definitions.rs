//! The definitions of the kinds, for those who serve or install them.

/// The `CustomResourceDefinition` of each kind, as JSON.
///
/// They are made from the types by `cargo xtask generate`. They say what Flux's own say, and a little more.
pub fn definitions() -> [&'static str; 4] {
    [
        include_str!("../crds/kustomize.toolkit.fluxcd.io_kustomizations.json"),
        include_str!("../crds/source.toolkit.fluxcd.io_gitrepositories.json"),
        include_str!("../crds/source.toolkit.fluxcd.io_ocirepositories.json"),
        include_str!("../crds/source.toolkit.fluxcd.io_externalartifacts.json"),
    ]
}
