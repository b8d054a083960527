//! An artifact with everything that can belong to one.

use std::collections::BTreeMap;

use flumen_oci::{
    BlobStream, Descriptor, Digest, Index, Manifest, RawManifest, Repository, Target, media_type,
};

/// Every manifest of the sample, with its tags.
pub(super) struct Sample {
    pub(super) root: RawManifest,
    pub(super) manifests: Vec<RawManifest>,
    pub(super) blobs: Vec<(Descriptor, String)>,
    signature_tag: String,
}

impl Sample {
    /// An index of two manifests under the tag `v1`, signed as cosign does, with an attestation of one of
    /// the two and a signature of the attestation.
    pub(super) async fn put(to: &Repository) -> Self {
        let mut sample = Self {
            root: RawManifest::new(media_type::OCI_INDEX, ""),
            manifests: Vec::new(),
            blobs: Vec::new(),
            signature_tag: String::new(),
        };
        let large = "large layer ".repeat(100_000);
        let first = sample.manifest(to, &["shared layer", &large], None, None).await;
        let second = sample.manifest(to, &["shared layer", "another layer"], None, None).await;
        let index = Index {
            schema_version: 2,
            media_type: Some(media_type::OCI_INDEX.to_owned()),
            artifact_type: None,
            manifests: vec![first.descriptor.clone(), second.descriptor],
            subject: None,
            annotations: BTreeMap::from([("key".to_owned(), "value".to_owned())]),
        };
        // Not as we would write it: a copy must not notice.
        let bytes = serde_json::to_string_pretty(&index).expect("JSON") + "\n\n";
        sample.root = RawManifest::new(media_type::OCI_INDEX, bytes);
        to.put_manifest(&sample.root, Some("v1")).await.expect("index");
        sample.signature_tag = format!("sha256-{}.sig", sample.root.digest().hex());
        let tag = sample.signature_tag.clone();
        sample.manifest(to, &["cosign's signature"], Some(&tag), None).await;
        let attestation = sample.manifest(to, &["attestation"], None, Some(&first)).await;
        sample.manifest(to, &["its signature"], None, Some(&attestation)).await;
        sample
    }

    async fn manifest(
        &mut self,
        to: &Repository,
        layers: &[&str],
        tag: Option<&str>,
        subject: Option<&RawManifest>,
    ) -> RawManifest {
        let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
        let mut contents = vec![(config.clone(), "{}".to_owned())];
        for content in layers {
            let layer = Descriptor::of(media_type::OCI_LAYER_GZIP, content.as_bytes());
            contents.push((layer, (*content).to_owned()));
        }
        for (descriptor, content) in &contents {
            let stream = BlobStream::from_bytes(content.clone());
            to.put_blob(descriptor, stream).await.expect("blob");
        }
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(media_type::OCI_MANIFEST.to_owned()),
            artifact_type: Some("application/vnd.example.test".to_owned()),
            config,
            layers: contents[1..].iter().map(|(layer, _)| layer.clone()).collect(),
            subject: subject.map(|subject| subject.descriptor.clone()),
            annotations: BTreeMap::new(),
        };
        let raw = RawManifest::new(
            media_type::OCI_MANIFEST,
            serde_json::to_vec(&manifest).expect("JSON"),
        );
        to.put_manifest(&raw, tag).await.expect("manifest");
        self.manifests.push(raw.clone());
        self.blobs.extend(contents);
        raw
    }

    /// Fails if anything of it is missing or different.
    pub(super) async fn check(&self, place: &Repository, tag: &str) {
        let root = place.manifest(&Target::Tag(tag.to_owned())).await.expect("the tag");
        assert_eq!(root.bytes, self.root.bytes, "{place}");
        let signature = Target::Tag(self.signature_tag.clone());
        place.manifest(&signature).await.expect("cosign's tag");
        for manifest in &self.manifests {
            let target = Target::Digest(manifest.digest().clone());
            let found = place.manifest(&target).await.expect("a manifest");
            assert_eq!(found.bytes, manifest.bytes, "{place}");
        }
        for (descriptor, content) in &self.blobs {
            let stream = place.blob(descriptor).await.expect("a blob");
            assert_eq!(stream.collect().await.expect("its content"), content, "{place}");
        }
        let [first, _, _, attestation, signature] = &self.manifests[..] else {
            panic!("the sample has five manifests below and beside its index")
        };
        for (subject, referrer) in [(first, attestation), (attestation, signature)] {
            let found = place.referrers(subject.digest(), None).await.expect("referrers");
            let digests: Vec<&Digest> = found.iter().map(|referrer| &referrer.digest).collect();
            assert_eq!(digests, [referrer.digest()], "{place}");
        }
    }
}
