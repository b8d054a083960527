//! A directory that somebody works in, as a source.

use std::{fs, path::Path};

use flumen_fs::Bounds;
use flumen_source::{LocalArtifact, LocalSource, Owner, Storage};
use flumen_testkit::{GitServer, PATIENCE};
use tempfile::TempDir;

struct Fixture {
    _scratch: TempDir,
    storage: Storage,
}

impl Fixture {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("scratch");
        let storage = Storage::open(scratch.path()).expect("opened");
        Self { _scratch: scratch, storage }
    }

    fn store(&self, source: &LocalSource, ignore: Option<&str>) -> LocalArtifact {
        let owner = Owner::new("gitrepository", "flux-system", "here").expect("an owner");
        source.store(&self.storage, &owner, ignore).expect("stored")
    }

    fn has(&self, artifact: &LocalArtifact, path: &str) -> bool {
        let tree = self.storage.tree(&artifact.stored.digest).expect("unpacked");
        tree.read(&Path::new("/").join(path), Bounds::Anywhere).is_ok()
    }
}

#[test]
fn the_revision_is_the_commit_that_would_give_the_same() {
    let Some(server) = GitServer::start("the revision of a work tree") else { return };
    let repository = server.create_repository("here");
    let files = [
        ("apps/web.yaml", "a: 1\n"),
        (".gitignore", "*.log\n"),
        ("apps/debug.txt", "ignored by the source\n"),
    ];
    let commit = repository.commit(&files);
    let fixture = Fixture::new();
    let source = LocalSource::new(repository.path()).expect("a source");
    let clean = fixture.store(&source, Some("*.txt"));
    assert_eq!(clean.revision, format!("main@sha1:{commit}"));
    assert!(fixture.has(&clean, "apps/web.yaml") && !fixture.has(&clean, "apps/debug.txt"));

    // What is in no clone changes nothing.
    fs::write(repository.path().join("run.log"), "noise").expect("written");
    fs::write(repository.path().join("apps/.web.yaml.swp"), "an editor").expect("written");
    assert_eq!(fixture.store(&source, Some("*.txt")).revision, clean.revision);

    fs::write(repository.path().join("apps/web.yaml"), "a: 2\n").expect("written");
    let edited = fixture.store(&source, Some("*.txt"));
    assert_eq!(edited.revision, format!("local@{}", edited.stored.digest));
    let commit = repository.commit(&[]);
    let committed = fixture.store(&source, Some("*.txt"));
    assert_eq!(committed.revision, format!("main@sha1:{commit}"));
    assert_eq!(committed.stored.digest, edited.stored.digest, "the same files");

    // A part of a repository is a source as well.
    let part = LocalSource::new(&repository.path().join("apps")).expect("a source");
    assert_eq!(fixture.store(&part, Some("*.txt")).revision, committed.revision);
}

#[test]
fn without_a_repository_the_revision_is_the_content() {
    let (fixture, directory) = (Fixture::new(), tempfile::tempdir().expect("a directory"));
    fs::write(directory.path().join("a.yaml"), "a: 1\n").expect("written");
    let source = LocalSource::new(directory.path()).expect("a source");
    let first = fixture.store(&source, None);
    assert_eq!(first.revision, format!("local@{}", first.stored.digest));
    fs::write(directory.path().join("a.yaml"), "a: 2\n").expect("written");
    assert_ne!(fixture.store(&source, None).revision, first.revision);
    fs::write(directory.path().join("a.yaml"), "a: 1\n").expect("written");
    assert_eq!(fixture.store(&source, None).revision, first.revision, "as it was");
    assert!(LocalSource::new(&directory.path().join("a.yaml")).is_err(), "no directory");
}

#[tokio::test]
async fn a_save_is_heard_and_reading_is_not() {
    let (fixture, directory) = (Fixture::new(), tempfile::tempdir().expect("a directory"));
    fs::create_dir(directory.path().join("apps")).expect("a directory");
    let source = LocalSource::new(directory.path()).expect("a source");
    let changes = source.changes().expect("watched");
    fixture.store(&source, None);
    let file = directory.path().join("apps/web.yaml");
    fs::write(&file, "a: 1\n").expect("written");
    tokio::time::timeout(PATIENCE, changes.next()).await.expect("a new file is heard");
    fixture.store(&source, None);
    // A file that is put in the place of another, as editors do it.
    let aside = directory.path().join("apps/new");
    fs::write(&aside, "a: 2\n").expect("written");
    fs::rename(&aside, &file).expect("renamed");
    tokio::time::timeout(PATIENCE, changes.next()).await.expect("a replaced file is heard");
}
