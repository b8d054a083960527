//! How manifests that speak about another one are named and listed.
//!
//! OCI 1.1 has an endpoint for them. Before it, and on registries without it, tags are made of the
//! digest: `sha256-<hex>` lists all of them, and cosign's `sha256-<hex>.sig` and the like are the
//! manifests themselves.

use crate::{Descriptor, Digest, Document};

/// What cosign puts behind the digest: signatures, attestations, bills of materials.
pub(crate) const COSIGN_SUFFIXES: [&str; 3] = ["sig", "att", "sbom"];

/// The tag that lists the referrers of a manifest where there is no endpoint for it.
pub(crate) fn fallback_tag(digest: &Digest) -> String {
    // A tag has no room for more.
    let hex = digest.hex().get(..64).unwrap_or(digest.hex());
    format!("{}-{hex}", digest.algorithm().name())
}

/// The digest that a tag of either kind is about.
pub(crate) fn subject_of_tag(tag: &str) -> Option<Digest> {
    let digest = match tag.split_once('.') {
        Some((digest, suffix)) if COSIGN_SUFFIXES.contains(&suffix) => digest,
        Some(_) => return None,
        None => tag,
    };
    digest.replacen('-', ":", 1).parse().ok()
}

/// A manifest as a list of referrers has it.
pub(crate) fn describe(manifest: &Descriptor, document: &Document) -> Descriptor {
    let (artifact_type, annotations) = match document {
        Document::Manifest(manifest) => {
            let config = &manifest.config.media_type;
            let kind = manifest.artifact_type.as_ref().unwrap_or(config);
            (Some(kind.clone()), &manifest.annotations)
        }
        Document::Index(index) => (index.artifact_type.clone(), &index.annotations),
    };
    Descriptor { artifact_type, annotations: annotations.clone(), ..manifest.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_their_subject() {
        let digest = Digest::of(b"");
        let tag = fallback_tag(&digest);
        assert_eq!(subject_of_tag(&tag), Some(digest.clone()));
        assert_eq!(subject_of_tag(&format!("{tag}.sig")), Some(digest));
        for other in ["v1.0.0", "sha256-00", &format!("{tag}.txt"), &tag.replace('-', "_")] {
            assert_eq!(subject_of_tag(other), None, "{other}");
        }
    }
}
