//! Layouts through the public surface, on real directories.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use super::*;
use crate::{Manifest, Repository};

/// A manifest with one layer, stored with its content.
async fn put(layout: &Layout, content: &str, tag: Option<&str>) -> RawManifest {
    put_about(layout, content, tag, None).await
}

async fn put_about(
    layout: &Layout,
    content: &str,
    tag: Option<&str>,
    subject: Option<&RawManifest>,
) -> RawManifest {
    let to = Repository::Layout(layout.clone());
    let layer = Descriptor::of("text/plain", content.as_bytes());
    let config = Descriptor::of(media_type::OCI_EMPTY, b"{}");
    to.put_blob(&layer, BlobStream::from_bytes(content.to_owned())).await.expect("layer");
    to.put_blob(&config, BlobStream::from_bytes("{}")).await.expect("configuration");
    let manifest = Manifest {
        schema_version: 2,
        media_type: Some(media_type::OCI_MANIFEST.to_owned()),
        artifact_type: Some("application/x.test".to_owned()),
        config,
        layers: vec![layer],
        subject: subject.map(|subject| subject.descriptor.clone()),
        annotations: BTreeMap::new(),
    };
    let bytes = serde_json::to_vec(&manifest).expect("JSON");
    let raw = RawManifest::new(media_type::OCI_MANIFEST, bytes);
    to.put_manifest(&raw, tag).await.expect("manifest");
    raw
}

fn index_of(children: &[&RawManifest]) -> RawManifest {
    let index = crate::Index {
        schema_version: 2,
        media_type: Some(media_type::OCI_INDEX.to_owned()),
        artifact_type: None,
        manifests: children.iter().map(|child| child.descriptor.clone()).collect(),
        subject: None,
        annotations: BTreeMap::new(),
    };
    RawManifest::new(media_type::OCI_INDEX, serde_json::to_vec(&index).expect("JSON"))
}

fn tag(name: &str) -> Target {
    Target::Tag(name.to_owned())
}

fn blob_path(root: &Path, digest: &Digest) -> PathBuf {
    root.join("blobs/sha256").join(digest.hex())
}

fn blobs(root: &Path) -> usize {
    fs::read_dir(root.join("blobs/sha256")).expect("blobs").count()
}

async fn read(layout: &Layout, descriptor: &Descriptor) -> Result<Bytes> {
    layout.blob(descriptor).await?.collect().await
}

#[tokio::test]
async fn what_is_put_is_read_back() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let root = dir.path().join("new/layout");
    let layout = Layout::create(&root).expect("layout");
    let large = "0123456789".repeat(100_000);
    let manifest = put(&layout, &large, Some("v1")).await;

    let other = Layout::open(&root).expect("the same layout");
    assert_eq!(other.manifest(&tag("v1")).await.expect("by tag"), manifest);
    let by_digest = Target::Digest(manifest.digest().clone());
    assert_eq!(other.resolve(&by_digest).await.expect("by digest"), manifest.descriptor);
    assert_eq!(other.tags().await.expect("tags"), ["v1"]);
    assert_eq!(other.sole_target().await.expect("one artifact"), tag("v1"));
    let layer = Descriptor::of("text/plain", large.as_bytes());
    assert_eq!(read(&other, &layer).await.expect("layer"), large);
    assert!(other.manifest(&tag("v2")).await.expect_err("no such tag").is_not_found());
    let left: Vec<_> = fs::read_dir(&root).expect("listing").map(|e| e.expect("entry")).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[tokio::test]
async fn an_archive_holds_the_same() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let path = dir.path().join("bundle.tar");
    let layout = Layout::create_archive(&path).expect("archive");
    let first = put(&layout, "first", Some("v1")).await;
    assert!(!path.exists(), "an archive appears when it is complete");
    layout.finish().await.expect("finished");

    let layout = Layout::create_archive(&path).expect("archive");
    let second = put(&layout, &"second".repeat(100_000), Some("v2")).await;
    layout.finish().await.expect("finished");
    assert_eq!(fs::read_dir(dir.path()).expect("listing").count(), 1);

    let layout = Layout::open(&path).expect("archive");
    assert_eq!(layout.tags().await.expect("tags"), ["v1", "v2"]);
    for (name, manifest) in [("v1", first), ("v2", second)] {
        assert_eq!(layout.manifest(&tag(name)).await.expect("manifest"), manifest);
        let Document::Manifest(document) = manifest.parse().expect("manifest") else {
            panic!("not an index")
        };
        read(&layout, &document.layers[0]).await.expect("layer");
    }
    let error = layout.untag("v1").await.expect_err("read only");
    assert!(matches!(error, Error::ReadOnlyArchive { .. }), "{error}");
}

#[tokio::test]
async fn an_archive_that_is_given_up_leaves_nothing() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create_archive(dir.path().join("bundle.tar")).expect("archive");
    put(&layout, "content", Some("v1")).await;
    drop(layout);
    assert_eq!(fs::read_dir(dir.path()).expect("listing").count(), 0);
}

#[tokio::test]
async fn content_that_changed_on_disk_is_refused() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create(dir.path()).expect("layout");
    let manifest = put(&layout, "content", Some("v1")).await;
    let layer = Descriptor::of("text/plain", b"content");
    for path in [blob_path(dir.path(), &layer.digest), blob_path(dir.path(), manifest.digest())] {
        let mut bytes = fs::read(&path).expect("blob");
        bytes[0] ^= 1;
        fs::write(&path, bytes).expect("damage");
        let name = path.display().to_string();
        let layer = read(&layout, &layer).await.expect_err("damaged").to_string();
        assert!(layer.contains("digest mismatch") && layer.contains("blobs/sha256"), "{layer}");
        if let Err(error) = layout.manifest(&tag("v1")).await {
            assert!(error.to_string().contains(&name), "{error}");
        }
    }
    layout.manifest(&tag("v1")).await.expect_err("damaged");
}

#[tokio::test]
async fn a_stream_that_breaks_off_leaves_nothing() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create(dir.path()).expect("layout");
    let descriptor = Descriptor::of("text/plain", b"announced");
    for content in ["short", "announced and more"] {
        let error = layout.put_blob(&descriptor, BlobStream::from_bytes(content)).await;
        assert!(matches!(error, Err(Error::SizeMismatch { .. })), "{error:?}");
    }
    assert_eq!(blobs(dir.path()), 0);
    assert_eq!(fs::read_dir(dir.path()).expect("listing").count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_lose_no_tag() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..16 {
        let root = dir.path().to_owned();
        writers.spawn(async move {
            let layout = Layout::create(root).expect("layout");
            put(&layout, &format!("content {number}"), Some(&format!("v{number:02}"))).await;
        });
    }
    writers.join_all().await;
    let layout = Layout::open(dir.path()).expect("layout");
    let expected: Vec<String> = (0..16).map(|number| format!("v{number:02}")).collect();
    assert_eq!(layout.tags().await.expect("tags"), expected);
}

/// An index that is still the same value was not read again.
#[tokio::test]
async fn an_index_is_read_once_until_it_changes() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let writer = Layout::create(dir.path()).expect("layout");
    let mut manifests = Vec::new();
    for number in 0..20 {
        manifests.push(put(&writer, &number.to_string(), Some(&format!("v{number}"))).await);
    }
    put_about(&writer, "signature", None, Some(&manifests[0])).await;

    let reader = Layout::open(dir.path()).expect("the same layout");
    let index = |layout: &Layout| layout.0.store.index().expect("an index");
    let subjects = || reader.0.by_subject().expect("subjects");
    let (first, about) = (index(&reader), subjects());
    for (number, manifest) in manifests.iter().enumerate() {
        let found = reader.manifest(&tag(&format!("v{number}"))).await.expect("by tag");
        assert_eq!(found, *manifest);
        let by_digest = Target::Digest(manifest.digest().clone());
        reader.resolve(&by_digest).await.expect("by digest");
        reader.tags().await.expect("tags");
        let referrers = reader.referrers(manifest.digest(), None).await.expect("referrers");
        assert_eq!(referrers.len(), usize::from(number == 0));
    }
    assert!(Arc::ptr_eq(&first, &index(&reader)));
    assert!(Arc::ptr_eq(&about, &subjects()));

    put(&writer, "more", Some("more")).await;
    let written = index(&writer);
    writer.manifest(&tag("more")).await.expect("what it wrote itself");
    assert!(Arc::ptr_eq(&written, &index(&writer)));
    reader.manifest(&tag("more")).await.expect("what another process wrote");
    let signature = put_about(&writer, "late", None, Some(&manifests[1])).await;
    let late = reader.referrers(manifests[1].digest(), None).await.expect("referrers");
    assert_eq!(late[0].digest, *signature.digest());

    // Other tools write into the file.
    let path = dir.path().join("index.json");
    let text = fs::read_to_string(&path).expect("index");
    fs::write(&path, text.replace("\"more\"", "\"another\"")).expect("written");
    reader.manifest(&tag("another")).await.expect("what another tool wrote");
    assert!(reader.manifest(&tag("more")).await.expect_err("renamed").is_not_found());
}

#[tokio::test]
async fn referrers_are_found_by_their_subject() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create(dir.path()).expect("layout");
    let subject = put(&layout, "content", Some("v1")).await;
    let signature = put_about(&layout, "signature", None, Some(&subject)).await;
    let found = layout.referrers(subject.digest(), None).await.expect("referrers");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].digest, *signature.digest());
    assert_eq!(found[0].artifact_type.as_deref(), Some("application/x.test"));
    let other = layout.referrers(subject.digest(), Some("application/x.other")).await;
    assert_eq!(other.expect("referrers"), []);
    assert_eq!(layout.sole_target().await.expect("a signature does not count"), tag("v1"));
}

#[tokio::test]
async fn collection_keeps_what_tags_lead_to() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create(dir.path()).expect("layout");
    let kept = put(&layout, "kept", None).await;
    let index = index_of(&[&kept]);
    layout.put_manifest(&index, Some("all")).await.expect("index");
    put_about(&layout, "its signature", None, Some(&kept)).await;
    let gone = put(&layout, "gone", Some("old")).await;
    put_about(&layout, "its signature too", None, Some(&gone)).await;
    let cosign = format!("sha256-{}.sig", gone.digest().hex());
    put(&layout, "cosign's signature", Some(&cosign)).await;
    let before = blobs(dir.path());

    assert!(layout.untag("old").await.expect("untagged"));
    assert!(!layout.untag("old").await.expect("untagged before"));
    let day = Duration::from_hours(24);
    assert_eq!(layout.collect(day).await.expect("too young"), Collected::default());
    assert_eq!(blobs(dir.path()), before);

    let collected = layout.collect(Duration::ZERO).await.expect("collected");
    assert_eq!(collected.blobs, 6, "three manifests and their layers");
    assert_eq!(layout.tags().await.expect("tags"), ["all"]);
    assert_eq!(blobs(dir.path()), before - 6);
    read(&layout, &Descriptor::of("text/plain", b"its signature")).await.expect("kept");
}

#[tokio::test]
async fn asking_for_content_keeps_it_young() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let layout = Layout::create(dir.path()).expect("layout");
    let day = Duration::from_hours(24);
    for content in ["asked for", "forgotten"] {
        let descriptor = Descriptor::of("text/plain", content.as_bytes());
        layout.put_blob(&descriptor, BlobStream::from_bytes(content)).await.expect("blob");
        let file = fs::File::open(blob_path(dir.path(), &descriptor.digest)).expect("file");
        file.set_modified(SystemTime::now() - 2 * day).expect("an old file");
    }
    let asked = Descriptor::of("text/plain", b"asked for");
    assert!(layout.has_blob(&asked).await.expect("present"));
    assert_eq!(layout.collect(day).await.expect("collected").blobs, 1);
    read(&layout, &asked).await.expect("still there");
}

#[test]
fn only_empty_directories_become_layouts() {
    let dir = tempfile::tempdir().expect("scratch directory");
    fs::write(dir.path().join("notes.txt"), "mine").expect("file");
    let error = Layout::create(dir.path()).expect_err("not empty").to_string();
    assert!(error.contains("neither empty nor an OCI layout"), "{error}");
    let error = Layout::open(dir.path()).expect_err("no layout").to_string();
    assert!(error.contains("not an OCI layout"), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_private_layout_is_for_its_owner() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let root = dir.path().join("store");
        Layout::create_private(&root).expect("layout");
        assert_eq!(fs::metadata(&root).expect("layout").permissions().mode() & 0o777, 0o700);
    }

    #[tokio::test]
    async fn links_lead_nowhere() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).expect("directory");
        fs::write(outside.join("secret"), "content").expect("file");
        let descriptor = Descriptor::of("text/plain", b"content");

        let root = dir.path().join("file");
        let layout = Layout::create(&root).expect("layout");
        fs::create_dir_all(root.join("blobs/sha256")).expect("directory");
        symlink(outside.join("secret"), blob_path(&root, &descriptor.digest)).expect("link");
        let error = read(&layout, &descriptor).await.expect_err("a link").to_string();
        assert!(error.contains("symbolic link"), "{error}");

        let root = dir.path().join("directory");
        let layout = Layout::create(&root).expect("layout");
        fs::create_dir_all(root.join("blobs")).expect("directory");
        symlink(&outside, root.join("blobs/sha256")).expect("link");
        let put = layout.put_blob(&descriptor, BlobStream::from_bytes("content")).await;
        let error = put.expect_err("a link").to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(fs::read_dir(&outside).expect("listing").count(), 1);
    }
}
