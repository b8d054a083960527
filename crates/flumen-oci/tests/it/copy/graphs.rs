//! Whole graphs, between every two kinds of place.

use std::{fs, path::Path};

use flumen_oci::{
    BlobStream, Descriptor, Error, RawManifest, Repository, Target,
    copy::{Budget, Copied, Copier, CopyOptions, copy},
    layout::Layout,
    media_type,
};
use flumen_testkit::EmbeddedRegistry;
use tokio::runtime::Runtime;

use super::{repository, sample::Sample, with_each};

fn tag(name: &str) -> Target {
    Target::Tag(name.to_owned())
}

fn layout(path: &Path) -> Repository {
    Repository::Layout(Layout::create(path).expect("a layout"))
}

/// Copies `v1` to `v2`, checks all of it, and copies again.
async fn check(sample: &Sample, from: &Repository, to: &Repository) -> Copied {
    let options = CopyOptions::default();
    let copied = copy(from, &tag("v1"), to, Some("v2"), &options).await.expect("a copy");
    assert_eq!(copied.descriptor.digest, *sample.root.digest());
    assert_eq!(copied.manifests, 6);
    assert_eq!(copied.blobs_copied + copied.blobs_mounted + copied.blobs_skipped, 7, "{from} {to}");
    sample.check(to, "v2").await;
    let again = copy(from, &tag("v1"), to, Some("v2"), &options).await.expect("the same copy");
    assert_eq!((again.blobs_copied, again.bytes), (0, 0), "{from} {to}");
    copied
}

#[tokio::test]
async fn layouts_and_archives_hold_whole_graphs() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let source = layout(&dir.path().join("source"));
    let sample = Sample::put(&source).await;
    let copied = check(&sample, &source, &layout(&dir.path().join("other"))).await;
    assert_eq!(copied.blobs_copied, 7);

    let path = dir.path().join("bundle.tar");
    let archive = Layout::create_archive(&path).expect("an archive");
    check(&sample, &source, &Repository::Layout(archive.clone())).await;
    archive.finish().await.expect("complete");
    drop(archive);
    let archive = Repository::Layout(Layout::open(&path).expect("the archive"));
    sample.check(&archive, "v2").await;
    let back = layout(&dir.path().join("back"));
    copy(&archive, &tag("v2"), &back, Some("v1"), &CopyOptions::default()).await.expect("back");
    sample.check(&back, "v1").await;
}

#[test]
fn registries_hold_whole_graphs() {
    with_each(async |registry| {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let source = layout(&dir.path().join("source"));
        let sample = Sample::put(&source).await;
        let first = repository(registry.host(), "org/first");
        let options = CopyOptions::default();
        copy(&source, &tag("v1"), &first, Some("v1"), &options).await.expect("to the registry");
        let second = repository(registry.host(), "org/second");
        let copied = check(&sample, &first, &second).await;
        assert_eq!((copied.blobs_copied, copied.blobs_mounted), (0, 7));
        check(&sample, &first, &layout(&dir.path().join("back"))).await;
    });
}

/// The build of an artifact that someone brings mirrors it under the name of the build.
#[test]
fn acceptance_10_another_registry_holds_the_same_digest() {
    let a = EmbeddedRegistry::start();
    let from = repository(a.host(), "org/app");
    let sample = Runtime::new().expect("a runtime").block_on(Sample::put(&from));
    with_each(async |b| {
        // Connections belong to the runtime that made them.
        let from = repository(a.host(), "org/app");
        let to = repository(b.host(), "org/app");
        let options = CopyOptions::default();
        copy(&from, &tag("v1"), &to, Some("build-1"), &options).await.expect("a mirror");
        let resolved = to.resolve(&tag("build-1")).await.expect("the name of the build");
        assert_eq!(resolved.digest, *sample.root.digest());
        sample.check(&to, "build-1").await;
    });
}

#[tokio::test]
async fn a_copy_goes_on_with_what_is_missing() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let source = layout(&dir.path().join("source"));
    let sample = Sample::put(&source).await;
    let to = layout(&dir.path().join("to"));
    let options = CopyOptions::default();
    copy(&source, &tag("v1"), &to, Some("v1"), &options).await.expect("a copy");
    let (descriptor, content) = &sample.blobs[2];
    let blob = dir.path().join("to/blobs/sha256").join(descriptor.digest.hex());
    fs::remove_file(&blob).expect("removed");
    let again = copy(&source, &tag("v1"), &to, Some("v1"), &options).await.expect("the rest");
    assert_eq!((again.blobs_copied, again.bytes), (1, content.len() as u64));
    sample.check(&to, "v1").await;
}

#[test]
fn damage_stays_where_it_is() {
    with_each(async |registry| {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let source = layout(&dir.path().join("source"));
        let sample = Sample::put(&source).await;
        let descriptor = &sample.blobs[2].0;
        let damaged = dir.path().join("source/blobs/sha256").join(descriptor.digest.hex());
        let mut bytes = fs::read(&damaged).expect("a blob");
        bytes[0] ^= 1;
        fs::write(&damaged, bytes).expect("damage");
        for to in [layout(&dir.path().join("to")), repository(registry.host(), "org/app")] {
            let result = copy(&source, &tag("v1"), &to, Some("v1"), &CopyOptions::default()).await;
            let error = result.expect_err("damaged content").to_string();
            assert!(error.contains("digest mismatch"), "{error}");
            assert!(error.contains(&damaged.display().to_string()), "{error}");
            assert!(to.resolve(&tag("v1")).await.expect_err("no tag").is_not_found());
            assert!(!to.has_blob(descriptor).await.expect("an answer"), "{to}");
        }
    });
}

#[tokio::test]
async fn a_graph_has_a_limit() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let source = layout(&dir.path().join("source"));
    Sample::put(&source).await;
    let to = layout(&dir.path().join("to"));
    let budget = Budget::default();
    for budget in [
        Budget { manifests: 5, ..budget },
        Budget { manifest_bytes: 2000, ..budget },
        Budget { blobs: 6, ..budget },
    ] {
        let options = CopyOptions { budget, ..CopyOptions::default() };
        let result = copy(&source, &tag("v1"), &to, Some("v1"), &options).await;
        assert!(matches!(result, Err(Error::GraphTooLarge { .. })), "{result:?}");
        assert_eq!(to.tags().await.expect("tags"), [""; 0]);
    }
}

#[tokio::test]
async fn layers_of_others_stay_with_them() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let source = layout(&dir.path().join("source"));
    let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    source.put_blob(&config, BlobStream::from_bytes("{}")).await.expect("configuration");
    let foreign = Descriptor::of(
        "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
        b"not in the layout",
    );
    let urls = vec!["https://registry.example.com/layer".to_owned()];
    let layer = |content: &str| {
        let described = Descriptor::of(media_type::OCI_LAYER_GZIP, content.as_bytes());
        Descriptor { urls: urls.clone(), ..described }
    };
    let (here, elsewhere) = (layer("also in the layout"), layer("elsewhere"));
    let content = BlobStream::from_bytes("also in the layout");
    source.put_blob(&here, content).await.expect("a layer");
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": media_type::OCI_MANIFEST,
        "config": config,
        "layers": [foreign, here, elsewhere],
    });
    let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
    source.put_manifest(&manifest, Some("v1")).await.expect("manifest");
    let to = layout(&dir.path().join("to"));
    let copied = copy(&source, &tag("v1"), &to, Some("v1"), &CopyOptions::default()).await;
    assert_eq!(copied.expect("a copy").foreign, [foreign, elsewhere]);
    assert!(to.has_blob(&here).await.expect("an answer"));
}

#[tokio::test]
async fn tags_of_signatures_are_not_artifacts() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let source = layout(&dir.path().join("source"));
    Sample::put(&source).await;
    assert_eq!(source.tags().await.expect("tags").len(), 2);
    let copier = Copier::new(CopyOptions::default());
    assert_eq!(copier.artifact_tags(&source).await.expect("tags"), ["v1"]);
}
