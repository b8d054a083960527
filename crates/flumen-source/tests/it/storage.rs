//! What is stored, published, unpacked, kept and removed.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::{Arc, Barrier},
    thread,
    time::{Duration, SystemTime},
};

use flumen_archive::{Files, Ignore};
use flumen_fs::{Bounds, DiskTree, FsError, MemoryTree, Tree};
use flumen_oci::Digest;
use flumen_source::{Owner, Retention, Storage, StorageError, Stored, Unverified};
use tempfile::TempDir;

struct Fixture {
    scratch: TempDir,
    storage: Storage,
}

impl Fixture {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("scratch");
        let storage = Storage::open(scratch.path()).expect("opened");
        Self { scratch, storage }
    }

    fn reopen(self) -> Self {
        let Self { scratch, storage } = self;
        drop(storage);
        let storage = Storage::open(scratch.path()).expect("opened again");
        Self { scratch, storage }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).expect("listing");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn put(&self, name: &str, file: &str, content: &str) -> Stored {
        let mut tree = MemoryTree::new();
        tree.insert_file("/app.yaml", content);
        let files = Files { tree: &tree, root: Path::new("/") };
        self.storage.put(&owner(name), file, files, &Ignore::new([])).expect("stored")
    }

    fn blob(&self, digest: &Digest) -> PathBuf {
        self.path("blobs/sha256").join(digest.hex())
    }
}

fn owner(name: &str) -> Owner {
    Owner::new("GitRepository", "default", name).expect("an owner")
}

fn entries(archive: &Path) -> Vec<(String, u32, String)> {
    let file = fs::File::open(archive).expect("archive");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    archive
        .entries()
        .expect("entries")
        .map(|entry| {
            let mut entry = entry.expect("entry");
            let header = entry.header();
            assert_eq!(
                (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()),
                (0, 0, 0)
            );
            let (path, mode) = (
                String::from_utf8(entry.path_bytes().into_owned()).unwrap(),
                header.mode().unwrap(),
            );
            let mut content = String::new();
            entry.read_to_string(&mut content).expect("content");
            (path, mode, content)
        })
        .collect()
}

#[test]
fn a_directory_is_archived_as_flux_does_it() {
    let fixture = Fixture::new();
    let source = tempfile::tempdir().expect("source");
    let write = |path: &str, content: &str| {
        let path = source.path().join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("directories");
        fs::write(path, content).expect("file");
    };
    write("b/run.sh", "run");
    fs::set_permissions(source.path().join("b/run.sh"), fs::Permissions::from_mode(0o755))
        .expect("permissions");
    write("a.yaml", "a");
    write("logo.png", "");
    write(".git/config", "");
    write("docs/x.md", "");
    write("docs/keep/y.md", "y");
    symlink("a.yaml", source.path().join("link.yaml")).expect("link");
    let files = Files { tree: &DiskTree, root: source.path() };
    let rules = Ignore::of_source(files, Some("/docs\n!/docs/keep/y.md\n*.png")).expect("rules");
    let stored = fixture.storage.put(&owner("app"), "1.tar.gz", files, &rules).expect("stored");
    assert_eq!(stored.path, "gitrepository/default/app/1.tar.gz");
    let bytes = fs::read(fixture.path(&stored.path)).expect("published");
    assert_eq!((Digest::of(&bytes), bytes.len() as u64), (stored.digest.clone(), stored.size));
    let entry = |path: &str, mode, content: &str| (path.to_owned(), mode, content.to_owned());
    assert_eq!(
        entries(&fixture.path(&stored.path)),
        [
            entry(".", 0o750, ""),
            entry("a.yaml", 0o600, "a"),
            entry("b", 0o750, ""),
            entry("b/run.sh", 0o700, "run"),
            // A file can be taken back in although its directory is ignored.
            entry("docs/keep/y.md", 0o600, "y"),
        ]
    );
    // The same content from elsewhere is the same artifact.
    let tree = fixture.storage.tree(&stored.digest).expect("unpacked");
    let unpacked = Files { tree: &*tree, root: Path::new("/b") };
    let again = Files { tree: &DiskTree, root: &source.path().join("b") };
    let [unpacked, again] = [unpacked, again].map(|files| {
        fixture.storage.put(&owner("b"), "b.tar.gz", files, &Ignore::new([])).expect("stored")
    });
    assert_eq!(unpacked, again);
}

#[test]
fn the_same_tree_is_stored_once_and_counted() {
    let fixture = Fixture::new();
    let first = fixture.put("a", "1.tar.gz", "x");
    let second = fixture.put("b", "2.tar.gz", "x");
    assert_eq!(first.digest, second.digest);
    assert_eq!(fixture.names("blobs/sha256"), [first.digest.hex()]);
    assert_eq!(fs::metadata(fixture.blob(&first.digest)).expect("blob").nlink(), 3);

    assert!(fixture.storage.remove_owner(&owner("a")).expect("removed"));
    assert!(fixture.blob(&first.digest).exists(), "the other still has it");
    assert!(!fixture.path("gitrepository/default/a").exists());
    assert!(fixture.storage.remove_owner(&owner("b")).expect("removed"));
    assert!(fixture.names("blobs/sha256").is_empty());
    assert!(!fixture.storage.remove_owner(&owner("b")).expect("nothing there"));
}

#[test]
fn another_content_under_the_same_name_replaces_it() {
    let fixture = Fixture::new();
    let old = fixture.put("a", "1.tar.gz", "x");
    fixture.storage.publish_again(&owner("a"), &old, "latest.tar.gz").expect("linked");
    let new = fixture.put("a", "1.tar.gz", "y");
    assert!(fixture.blob(&old.digest).exists(), "the other name still leads there");
    let path = fixture.storage.publish_again(&owner("a"), &new, "latest.tar.gz").expect("linked");
    assert_eq!(path, "gitrepository/default/a/latest.tar.gz");
    assert_eq!(fixture.names("blobs/sha256"), [new.digest.hex()]);
    let read = |path: &str| fs::read(fixture.path(path)).expect("published");
    assert_eq!(read(&path), read(&new.path));
    // Once more changes nothing.
    assert_eq!(fixture.put("a", "1.tar.gz", "y"), new);
    assert!(fixture.names("temp").is_empty());
}

#[test]
fn trees_are_unpacked_once_for_all_who_ask() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    let barrier = Barrier::new(8);
    let trees: Vec<Arc<dyn Tree>> = thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            fixture.storage.tree(&stored.digest).expect("unpacked")
        };
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().expect("asked")).collect()
    });
    let tree = Arc::clone(&trees[0]);
    for tree in trees {
        assert_eq!(tree.read(Path::new("/app.yaml"), Bounds::Anywhere).expect("file"), b"x");
    }
    assert_eq!(fixture.names("trees"), [stored.digest.hex()]);
    assert!(fixture.names("temp").is_empty());

    let read = |path: &str| tree.read(Path::new(path), Bounds::Anywhere);
    assert_eq!(read("/app.yaml").expect("file"), b"x");
    assert_eq!(tree.real_dir(Path::new("/")).expect("root"), Path::new("/"));
    assert_eq!(read("/../../app.yaml").expect("`..` stops at the root"), b"x");
    let error = read("/missing.yaml").expect_err("not there");
    assert!(matches!(&error, FsError::NotFound { path } if path == Path::new("/missing.yaml")));

    // What is removed stays for who reads it.
    fixture.storage.remove_owner(&owner("a")).expect("removed");
    assert!(fixture.names("blobs/sha256").is_empty());
    assert_eq!(read("/app.yaml").expect("still there"), b"x");
    // It comes back under the same digest, and nobody takes it away.
    let again = fixture.put("b", "1.tar.gz", "x");
    let other = fixture.storage.tree(&again.digest).expect("there");
    drop(tree);
    assert_eq!(other.read(Path::new("/app.yaml"), Bounds::Anywhere).expect("file"), b"x");
    fixture.storage.remove_owner(&owner("b")).expect("removed");
    drop(other);
    assert!(fixture.names("trees").is_empty());
    let error = fixture.storage.tree(&again.digest).expect_err("gone");
    assert!(matches!(error, StorageError::Missing { .. }), "{error}");
}

#[test]
fn old_artifacts_go_and_the_current_one_stays() {
    let fixture = Fixture::new();
    let retention = Retention { records: 2, ttl: Duration::from_mins(1) };
    let now = SystemTime::now();
    let age = |stored: &Stored, seconds| {
        let file = fs::File::open(fixture.path(&stored.path)).expect("published");
        file.set_modified(now - Duration::from_secs(seconds)).expect("aged");
    };
    for (file, seconds) in [("1", 40), ("2", 30), ("3", 20), ("4", 10)] {
        age(&fixture.put("a", file, file), seconds);
    }
    let current = fixture.put("a", "4", "4");
    fixture.storage.publish_again(&owner("a"), &current, "latest.tar.gz").expect("linked");
    let retain = |current: &str, now| fixture.storage.retain(&owner("a"), current, retention, now);
    assert_eq!(retain("4", now).expect("retained"), 2, "two too many");
    assert_eq!(fixture.names("gitrepository/default/a"), ["3", "4", "latest.tar.gz"]);
    let later = now + Duration::from_mins(10);
    assert_eq!(retain("4", later).expect("retained"), 1, "one too old");
    assert_eq!(fixture.names("gitrepository/default/a"), ["4", "latest.tar.gz"]);
    assert_eq!(fixture.names("blobs/sha256"), [current.digest.hex()]);
    assert_eq!(retain("4", later).expect("retained"), 0);
}

#[test]
fn what_a_crash_leaves_is_removed_and_what_is_published_stays() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    fixture.storage.tree(&stored.digest).expect("unpacked");
    // Half of an archive, a blob that was stored and not yet published, half of a tree.
    let orphan = Digest::of(b"orphan");
    fs::write(fixture.path("temp/half"), "half").expect("file");
    fs::write(fixture.blob(&orphan), "orphan").expect("file");
    fs::write(fixture.path("blobs/sha256/no-digest"), "").expect("file");
    fs::create_dir_all(fixture.path("temp/tree/a")).expect("directory");

    let fixture = fixture.reopen();
    assert!(fixture.names("temp").is_empty());
    assert!(fixture.names("trees").is_empty());
    assert_eq!(fixture.names("blobs/sha256"), [stored.digest.hex()]);
    let digest = stored.digest.to_string();
    assert_eq!(fixture.storage.verify(&stored.path, &digest), Ok(()));
    fixture.storage.tree(&stored.digest).expect("unpacked again");
    // What was known before the crash is known after it.
    fixture.storage.remove_owner(&owner("a")).expect("removed");
    assert!(fixture.names("blobs/sha256").is_empty());
    assert!(fixture.names("trees").is_empty());
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let fixture = Fixture::new();
    let error = Storage::open(fixture.scratch.path()).expect_err("in use");
    assert!(matches!(error, StorageError::InUse { .. }), "{error}");
}

#[test]
fn damage_is_noticed() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    let digest = stored.digest.to_string();
    let verify = |path: &str, digest: &str| fixture.storage.verify(path, digest);
    assert_eq!(verify(&stored.path, &digest), Ok(()));
    let other = Digest::of(b"other").to_string();
    assert_eq!(
        verify(&stored.path, &other).expect_err("other").to_string(),
        format!("computed digest doesn't match '{other}'")
    );
    for path in ["gitrepository/default/a/2.tar.gz", "../../etc/passwd", "blobs/sha256/x/y"] {
        assert_eq!(verify(path, &digest), Err(Unverified::Missing), "{path}");
    }
    assert!(matches!(verify(&stored.path, "x"), Err(Unverified::Digest { .. })));

    fs::write(fixture.path(&stored.path), "damaged").expect("written");
    assert!(matches!(verify(&stored.path, &digest), Err(Unverified::Mismatch { .. })));
    let error = fixture.storage.tree(&stored.digest).expect_err("damaged");
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
    fixture.storage.remove(&stored.path).expect("removed");
    assert!(fixture.names("blobs/sha256").is_empty());
    let again = fixture.put("a", "1.tar.gz", "x");
    assert_eq!(verify(&again.path, &digest), Ok(()));
}

/// Damage leaves the length as it is, and a blob has more names than the one that is looked at.
#[test]
fn damage_is_repaired_wherever_the_content_is_published() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    let latest = fixture.storage.publish_again(&owner("a"), &stored, "latest.tar.gz");
    let latest = latest.expect("linked");
    let other = fixture.put("b", "2.tar.gz", "x");
    let digest = stored.digest.to_string();
    let verify = |path: &str| fixture.storage.verify(path, &digest);
    let path = fixture.path(&stored.path);
    let mut bytes = fs::read(&path).expect("published");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).expect("written");
    let later = SystemTime::now() + Duration::from_secs(1);
    fs::File::open(&path).and_then(|file| file.set_modified(later)).expect("dated");
    for path in [&stored.path, &latest, &other.path] {
        assert!(matches!(verify(path), Err(Unverified::Mismatch { .. })), "{path}");
    }
    let error = fixture.storage.tree(&stored.digest).expect_err("damaged");
    assert!(matches!(error, StorageError::Damaged { .. }), "{error}");
    let known = fixture.storage.publish_known(&owner("c"), "3.tar.gz", &stored.digest);
    assert_eq!(known.expect("looked at"), None, "bad bytes get no more names");

    fixture.storage.remove(&stored.path).expect("removed");
    assert_eq!(fixture.put("a", "1.tar.gz", "x"), stored);
    fixture.storage.publish_again(&owner("a"), &stored, "latest.tar.gz").expect("linked");
    assert_eq!((verify(&stored.path), verify(&latest)), (Ok(()), Ok(())));
    fixture.storage.tree(&stored.digest).expect("unpacked");
    // The other owner notices it in its own time.
    assert!(matches!(verify(&other.path), Err(Unverified::Mismatch { .. })));
    fixture.storage.remove(&other.path).expect("removed");
    assert_eq!(fixture.put("b", "2.tar.gz", "x"), other);
    assert_eq!(verify(&other.path), Ok(()));
    assert_eq!(fs::metadata(fixture.blob(&stored.digest)).expect("blob").nlink(), 4);
    for name in ["a", "b"] {
        fixture.storage.remove_owner(&owner(name)).expect("removed");
    }
    assert!(fixture.names("blobs/sha256").is_empty(), "nothing of it is left behind");
}

#[test]
fn damage_from_before_a_restart_is_repaired() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    let path = fixture.path(&stored.path);
    let damaged = vec![0; fs::read(&path).expect("published").len()];
    fs::write(&path, damaged).expect("written");
    let fixture = fixture.reopen();
    // Nobody has looked at what was there before.
    assert_eq!(fixture.put("b", "1.tar.gz", "x").digest, stored.digest);
    let digest = stored.digest.to_string();
    assert_eq!(fixture.storage.verify("gitrepository/default/b/1.tar.gz", &digest), Ok(()));
    fixture.storage.tree(&stored.digest).expect("unpacked");
}

#[test]
fn files_of_another_program_are_taken_over() {
    let fixture = Fixture::new();
    let stored = fixture.put("a", "1.tar.gz", "x");
    let digest = stored.digest.to_string();
    // As if somebody else had written it: no blob, only the published file.
    fs::copy(fixture.path(&stored.path), fixture.path("gitrepository/copy")).expect("copied");
    fixture.storage.remove_owner(&owner("a")).expect("removed");
    fs::create_dir_all(fixture.path("gitrepository/default/a")).expect("directory");
    fs::rename(fixture.path("gitrepository/copy"), fixture.path(&stored.path)).expect("moved");
    assert_eq!(fixture.storage.verify(&stored.path, &digest), Ok(()));
    fixture.storage.tree(&stored.digest).expect("unpacked");
    fixture.storage.remove_owner(&owner("a")).expect("removed");
    assert!(fixture.names("blobs/sha256").is_empty());
}
