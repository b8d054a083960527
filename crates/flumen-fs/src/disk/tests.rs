//! The same expectations on disk and in memory, and what only a disk has.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::fs::{CWD, FileType, Mode};
use tempfile::TempDir;

use super::DiskTree;
use crate::{Bounds, Entry, EntryKind, FsError, MAX_FILE_SIZE, MemoryTree, Tree};

/// One tree, twice: `root` is where builds are bound to, `outside` lies beside it.
struct Twins {
    _scratch: TempDir,
    top: PathBuf,
    memory: MemoryTree,
}

fn twins() -> Twins {
    let scratch = tempfile::tempdir().expect("scratch directory");
    let top = fs::canonicalize(scratch.path()).expect("real scratch directory");
    let mut memory = MemoryTree::new();
    for (path, content) in [
        ("root/a.yaml", "a"),
        ("root/sub/b.yaml", "b"),
        ("root/empty.yaml", ""),
        ("outside/secret.yaml", "secret"),
        ("rootless/c.yaml", "c"),
    ] {
        let path = top.join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(&path, content).expect("file");
        memory.insert_file(path, content);
    }
    let absolute_inside = top.join("root/sub");
    let absolute_outside = top.join("outside");
    for (link, target) in [
        ("root/inside-link.yaml", Path::new("sub/b.yaml")),
        ("root/up-and-back.yaml", Path::new("sub/../../root/a.yaml")),
        ("root/absolute-dir", &absolute_inside),
        ("root/escape.yaml", Path::new("../outside/secret.yaml")),
        ("root/escape-dir", &absolute_outside),
        ("root/dangling.yaml", Path::new("nothing.yaml")),
        ("root/loop.yaml", Path::new("loop2.yaml")),
        ("root/loop2.yaml", Path::new("loop.yaml")),
        ("root/self", Path::new(".")),
        ("root-link", Path::new("root")),
        ("outside/back.yaml", Path::new("../root/a.yaml")),
    ] {
        symlink(target, top.join(link)).expect("link");
        memory.insert_link(top.join(link), target);
    }
    Twins { _scratch: scratch, top, memory }
}

impl Twins {
    fn trees(&self) -> [&dyn Tree; 2] {
        [&DiskTree, &self.memory]
    }

    /// Reads a path below `root`, bound to `root`, from both trees.
    #[track_caller]
    fn check_read(&self, path: &str, expected: Result<&str, &str>) {
        let root = self.top.join("root");
        for tree in self.trees() {
            let read = tree.read(&root.join(path), Bounds::Within(&root));
            check(read, expected, &format!("{path} in {tree:?}"));
        }
    }

    #[track_caller]
    fn check_real_dir(&self, path: &str, expected: Result<&str, &str>) {
        for tree in self.trees() {
            let what = format!("{path} in {tree:?}");
            match (tree.real_dir(&self.top.join(path)), expected) {
                (Ok(real), Ok(expected)) => assert_eq!(real, self.top.join(expected), "{what}"),
                (Err(error), Err(expected)) => assert_eq!(variant(&error), expected, "{what}"),
                (result, _) => panic!("{what}: {result:?}, expected {expected:?}"),
            }
        }
    }
}

#[track_caller]
fn check(read: Result<Vec<u8>, FsError>, expected: Result<&str, &str>, what: &str) {
    match (read, expected) {
        (Ok(content), Ok(expected)) => assert_eq!(content, expected.as_bytes(), "{what}"),
        (Err(error), Err(expected)) => assert_eq!(variant(&error), expected, "{what}"),
        (result, _) => panic!("{what}: {result:?}, expected {expected:?}"),
    }
}

fn variant(error: &FsError) -> String {
    format!("{error:?}").split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn files_in_and_below_the_root_are_read() {
    let twins = twins();
    twins.check_read("a.yaml", Ok("a"));
    twins.check_read("sub/b.yaml", Ok("b"));
    twins.check_read("empty.yaml", Ok(""));
    twins.check_read("sub/../a.yaml", Ok("a"));
    twins.check_read("../root/a.yaml", Ok("a"));
}

#[test]
fn links_that_stay_inside_are_followed() {
    let twins = twins();
    twins.check_read("inside-link.yaml", Ok("b"));
    twins.check_read("up-and-back.yaml", Ok("a"));
    twins.check_read("absolute-dir/b.yaml", Ok("b"));
    twins.check_read("self/self/sub/b.yaml", Ok("b"));
    twins.check_read("../outside/back.yaml", Ok("a"));
}

#[test]
fn parents_are_taken_lexically() {
    let twins = twins();
    twins.check_read("escape-dir/../a.yaml", Ok("a"));
    twins.check_read("missing/../a.yaml", Ok("a"));
}

#[test]
fn files_outside_are_refused() {
    let twins = twins();
    twins.check_read("escape.yaml", Err("Outside"));
    twins.check_read("escape-dir/secret.yaml", Err("Outside"));
    twins.check_read("../outside/secret.yaml", Err("Outside"));
    twins.check_read("../rootless/c.yaml", Err("Outside"));
}

#[test]
fn refusals_name_the_asked_and_the_real_path() {
    let twins = twins();
    let root = twins.top.join("root");
    for tree in twins.trees() {
        let error = tree
            .read(&root.join("escape.yaml"), Bounds::Within(&root))
            .expect_err("the file is outside");
        let FsError::Outside { path, real, root: named } = error else { panic!("{error:?}") };
        assert_eq!(path, root.join("escape.yaml"));
        assert_eq!(real, twins.top.join("outside/secret.yaml"));
        assert_eq!(named, root);
    }
}

#[test]
fn missing_files_and_wrong_kinds_are_told_apart() {
    let twins = twins();
    twins.check_read("missing.yaml", Err("NotFound"));
    twins.check_read("../missing.yaml", Err("NotFound"));
    twins.check_read("dangling.yaml", Err("NotFound"));
    twins.check_read("a.yaml/b", Err("NotDirectory"));
    twins.check_read("sub", Err("IsDirectory"));
    twins.check_read("self", Err("IsDirectory"));
    twins.check_read("../outside", Err("IsDirectory"));
    twins.check_read("loop.yaml", Err("Loop"));
}

#[test]
fn unbounded_reads_go_anywhere() {
    let twins = twins();
    for tree in twins.trees() {
        for path in ["root/escape.yaml", "outside/secret.yaml"] {
            let read = tree.read(&twins.top.join(path), Bounds::Anywhere);
            check(read, Ok("secret"), path);
        }
        let looped = tree.read(&twins.top.join("root/loop.yaml"), Bounds::Anywhere);
        check(looped, Err("Loop"), "loop");
    }
}

#[test]
fn real_directories_have_no_links() {
    let twins = twins();
    twins.check_real_dir("root", Ok("root"));
    twins.check_real_dir("root-link", Ok("root"));
    twins.check_real_dir("root-link/sub/", Ok("root/sub"));
    twins.check_real_dir("root/absolute-dir/.", Ok("root/sub"));
    twins.check_real_dir("root/escape-dir", Ok("outside"));
    twins.check_real_dir("root/a.yaml", Err("NotDirectory"));
    twins.check_real_dir("root/a.yaml/x", Err("NotDirectory"));
    twins.check_real_dir("root/inside-link.yaml", Err("NotDirectory"));
    twins.check_real_dir("root/missing", Err("NotFound"));
    twins.check_real_dir("root/loop.yaml", Err("Loop"));
}

#[test]
fn the_empty_path_is_no_directory() {
    let error = DiskTree.real_dir(Path::new("")).expect_err("nothing was named");
    assert_eq!(variant(&error), "NotFound");
}

#[test]
fn relative_paths_start_at_the_current_directory() {
    let current = std::env::current_dir().and_then(fs::canonicalize).expect("current directory");
    assert_eq!(DiskTree.real_dir(Path::new(".")).expect("a directory"), current);
    let parent = DiskTree.real_dir(Path::new("..")).expect("a directory");
    assert_eq!(Some(parent.as_path()), current.parent());
}

#[test]
fn listings_are_sorted() {
    let twins = twins();
    for tree in twins.trees() {
        let names = tree.list(&twins.top.join("outside")).expect("listing");
        assert_eq!(names, ["back.yaml", "secret.yaml"]);
        let through_link = tree.list(&twins.top.join("root/escape-dir")).expect("listing");
        assert_eq!(through_link, names);
        let not_a_dir = tree.list(&twins.top.join("root/a.yaml")).expect_err("a file");
        assert_eq!(variant(&not_a_dir), "NotDirectory");
    }
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let twins = twins();
    let root = twins.top.join("root");
    let pipe = root.join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    symlink("pipe", root.join("pipe-link")).expect("link");
    let _socket = UnixListener::bind(root.join("socket")).expect("a socket");
    for path in ["pipe", "pipe-link", "socket"] {
        let read = DiskTree.read(&root.join(path), Bounds::Within(&root));
        check(read, Err("NotRegular"), path);
    }
    check(DiskTree.read(&pipe, Bounds::Anywhere), Err("NotRegular"), "unbounded pipe");
    check(DiskTree.read(Path::new("/dev/zero"), Bounds::Anywhere), Err("NotRegular"), "device");
}

#[test]
fn huge_files_are_refused_before_they_are_read() {
    let twins = twins();
    let path = twins.top.join("root/huge");
    let file = fs::File::create(&path).expect("file");
    file.set_len(MAX_FILE_SIZE + 1).expect("a sparse file");
    check(DiskTree.read(&path, Bounds::Anywhere), Err("TooLarge"), "huge");
}

#[test]
fn files_that_hide_their_size_are_read_whole() {
    let status = DiskTree.read(Path::new("/proc/self/status"), Bounds::Anywhere);
    if cfg!(target_os = "linux") {
        assert!(status.expect("a file of size zero with content").ends_with(b"\n"));
    }
}

#[test]
fn swapping_a_directory_for_a_link_never_leads_outside() {
    let twins = twins();
    let root = twins.top.join("root");
    let inside = twins.top.join("root/inside");
    let swapped = root.join("swapped");
    fs::create_dir(&inside).expect("directory");
    fs::write(inside.join("secret.yaml"), "public").expect("file");
    symlink("inside", &swapped).expect("link");

    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let next = root.join("next");
            for target in ["../outside", "inside"].iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                symlink(target, &next).expect("link");
                fs::rename(&next, &swapped).expect("the link is replaced");
            }
        });
        let leaked = (0..3000).find_map(|_| {
            let read = DiskTree.read(&swapped.join("secret.yaml"), Bounds::Within(&root));
            read.ok().filter(|content| content != b"public")
        });
        done.store(true, Ordering::Relaxed);
        assert_eq!(leaked, None);
    });
}

#[test]
fn entries_say_what_they_are_and_links_stay_links() {
    let dir = tempfile::tempdir().expect("scratch directory");
    fs::create_dir(dir.path().join("dir")).expect("directory");
    fs::write(dir.path().join("file"), "").expect("file");
    fs::write(dir.path().join("program"), "").expect("file");
    fs::set_permissions(dir.path().join("program"), fs::Permissions::from_mode(0o755))
        .expect("permissions");
    symlink("dir", dir.path().join("link")).expect("link");
    let entry = |name: &str, kind| Entry { name: name.to_owned(), kind };
    assert_eq!(
        DiskTree.entries(dir.path()).expect("entries"),
        [
            entry("dir", EntryKind::Directory),
            entry("file", EntryKind::File { is_executable: false }),
            entry("link", EntryKind::Other),
            entry("program", EntryKind::File { is_executable: true }),
        ]
    );
}
