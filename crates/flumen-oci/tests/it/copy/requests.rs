//! How many requests many copies take.

use std::collections::{BTreeMap, HashMap};

use flumen_oci::{
    Descriptor, Digest, Index, Manifest, RawManifest, Target,
    copy::{Copier, CopyOptions},
    media_type,
};

use super::repository;
use crate::stub::{Reply, Seen, Stub, reply};

const ARTIFACTS: usize = 30;
/// What is asked before anything is learned.
const LESSONS: usize = 8;

/// A registry that keeps no lists of referrers, as those before OCI 1.1.
#[derive(Default)]
struct Source {
    tags: Vec<String>,
    manifests: HashMap<String, RawManifest>,
    blobs: HashMap<Digest, String>,
}

impl Source {
    /// Artifacts `t0` and so on. The last one is signed, the one before has a bill of materials that
    /// clients keep the list of.
    fn new() -> Self {
        let mut source = Self::default();
        let all: Vec<RawManifest> = (0..ARTIFACTS)
            .map(|number| source.artifact(&format!("layer {number}"), &format!("t{number}"), None))
            .collect();
        let list = |manifest: &RawManifest| format!("sha256-{}", manifest.digest().hex());
        let [.., with_bill, signed] = &all[..] else { panic!("there are many") };
        source.artifact("signature", &format!("{}.sig", list(signed)), None);
        let bill = source.artifact("bill", "bill", Some(with_bill));
        let index = Index {
            schema_version: 2,
            media_type: Some(media_type::OCI_INDEX.to_owned()),
            artifact_type: None,
            manifests: vec![bill.descriptor],
            subject: None,
            annotations: BTreeMap::new(),
        };
        let index = serde_json::to_vec(&index).expect("JSON");
        source.put(RawManifest::new(media_type::OCI_INDEX, index), &list(with_bill));
        source
    }

    fn artifact(&mut self, layer: &str, tag: &str, subject: Option<&RawManifest>) -> RawManifest {
        let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
        let described = Descriptor::of(media_type::OCI_LAYER_GZIP, layer.as_bytes());
        self.blobs.insert(config.digest.clone(), "{}".to_owned());
        self.blobs.insert(described.digest.clone(), layer.to_owned());
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(media_type::OCI_MANIFEST.to_owned()),
            artifact_type: None,
            config,
            layers: vec![described],
            subject: subject.map(|subject| subject.descriptor.clone()),
            annotations: BTreeMap::new(),
        };
        let manifest = serde_json::to_vec(&manifest).expect("JSON");
        self.put(RawManifest::new(media_type::OCI_MANIFEST, manifest), tag)
    }

    fn put(&mut self, manifest: RawManifest, tag: &str) -> RawManifest {
        self.tags.push(tag.to_owned());
        self.manifests.insert(tag.to_owned(), manifest.clone());
        self.manifests.insert(manifest.digest().to_string(), manifest.clone());
        manifest
    }

    fn answer(&self, seen: &Seen) -> Reply {
        if seen.path.contains("/tags/list") {
            return reply(200).body(serde_json::json!({ "tags": self.tags }).to_string());
        }
        let name = seen.path.rsplit('/').next().unwrap_or_default();
        if let (true, Some(manifest)) =
            (seen.path.contains("/manifests/"), self.manifests.get(name))
        {
            let kind = &manifest.descriptor.media_type;
            return reply(200).with("Content-Type", kind).body(&manifest.bytes);
        }
        match name.parse().ok().and_then(|digest: Digest| self.blobs.get(&digest)) {
            Some(blob) if seen.path.contains("/blobs/") => reply(200).body(blob),
            _ => reply(404),
        }
    }
}

/// A destination that has these blobs and takes all others.
fn accept(seen: &Seen, present: &[&str]) -> Reply {
    let names = |blob: &&&str| seen.path.ends_with(&Digest::of(blob.as_bytes()).to_string());
    match seen.method.as_str() {
        "HEAD" => present.iter().find(names).map_or(reply(404), |blob| reply(200).body(blob)),
        "POST" => reply(202).with("Location", "/upload"),
        "PUT" => reply(201),
        _ => reply(404),
    }
}

/// Copies all artifacts one after the other.
async fn copy_all(present: &'static [&str]) -> (Stub, Stub) {
    let content = Source::new();
    let source = Stub::start(move |seen, _| content.answer(seen)).await;
    let destination = Stub::start(move |seen, _| accept(seen, present)).await;
    let from = repository(source.host(), "org/app");
    let to = repository(destination.host(), "org/app");
    let copier = Copier::new(CopyOptions::default());
    for number in 0..ARTIFACTS {
        let tag = format!("t{number}");
        copier.copy(&from, &Target::Tag(tag.clone()), &to, Some(&tag)).await.expect("a copy");
    }
    (source, destination)
}

fn count(stub: &Stub, words: &str) -> usize {
    stub.asked().iter().filter(|asked| asked.contains(words)).count()
}

#[tokio::test]
async fn what_was_learned_is_not_asked_again() {
    let (source, destination) = copy_all(&[]).await;
    assert_eq!(count(&source, "GET /v2/org/app/manifests/t"), ARTIFACTS);
    assert_eq!(count(&source, "/tags/list"), 1);
    assert_eq!(count(&source, "/referrers/"), LESSONS);
    assert_eq!(count(&source, ".sig"), LESSONS + 1, "the last one is on the list");
    assert_eq!(count(&source, ".att") + count(&source, ".sbom"), 2 * LESSONS);
    assert_eq!(count(&source, "/manifests/sha256-"), 4 * LESSONS + 2);

    assert_eq!(count(&destination, "HEAD "), LESSONS);
    // All layers, the signature, the bill of materials, and the configuration of all of them once.
    let blobs = ARTIFACTS + 3;
    assert_eq!(count(&source, "/blobs/"), blobs);
    assert_eq!(count(&destination, "POST "), blobs);
    assert_eq!(count(&destination, "PUT /upload"), blobs);
    assert_eq!(count(&destination, "PUT /v2/org/app/manifests/t"), ARTIFACTS);
    let signature = count(&destination, ".sig");
    assert_eq!(signature, 1, "{:?}", destination.asked());
    // The list of referrers is kept for this destination as well.
    assert!(count(&destination, "PUT /v2/org/app/manifests/sha256-") > signature);
}

#[tokio::test]
async fn a_destination_that_has_something_is_always_asked() {
    let (_, destination) = copy_all(&["{}"]).await;
    assert_eq!(count(&destination, "HEAD "), ARTIFACTS + 3);
    assert_eq!(count(&destination, "PUT /upload"), ARTIFACTS + 2);
}
