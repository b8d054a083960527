//! The files of a commit, and what leads out of it.

use std::{os::unix::fs::symlink, path::PathBuf, sync::atomic::AtomicBool};

use flumen_fs::{Bounds, FsError};
use flumen_git::{Checkout, GitReference, GitUrl, Limits, open};
use flumen_testkit::{GitRepository, GitServer};

/// A commit with files, links of all kinds and a submodule.
fn checkout(limits: &Limits) -> Option<(GitServer, GitRepository, Checkout)> {
    let server = GitServer::start("trees of commits")?;
    let repository = server.create_repository("org/app");
    let path = repository.path();
    repository.commit(&[("base/a.yaml", "a\n"), ("base/sub/b.yaml", "b\n"), ("top.yaml", "t\n")]);
    symlink("base", path.join("linked")).expect("a link");
    symlink("../../top.yaml", path.join("base/sub/up.yaml")).expect("a link");
    symlink("../../../../../etc/hostname", path.join("base/sub/out.yaml")).expect("a link");
    symlink("/etc/hostname", path.join("absolute.yaml")).expect("a link");
    symlink("loop", path.join("loop")).expect("a link");
    let commit = repository.commit(&[]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},module")]);
    repository.git(&["commit", "--quiet", "--message=a submodule"]);
    let url = GitUrl::parse(&server.url("org/app")).expect("an address");
    let checkout = open(&url, &GitReference::Default, limits, &AtomicBool::new(false));
    Some((server, repository, checkout.expect("a repository")))
}

fn read(checkout: &Checkout, path: &str) -> Result<String, FsError> {
    let bytes = checkout.tree.read(&checkout.root.join(path), Bounds::Within(&checkout.root))?;
    Ok(String::from_utf8(bytes).expect("text"))
}

#[test]
fn files_are_read_through_links() {
    let Some((_server, _repository, checkout)) = checkout(&Limits::default()) else { return };
    let table = [
        ("base/a.yaml", "a\n"),
        ("./base/sub/../a.yaml", "a\n"),
        ("linked/sub/b.yaml", "b\n"),
        ("linked/sub/up.yaml", "t\n"),
    ];
    for (path, content) in table {
        assert_eq!(read(&checkout, path).expect(path), content);
    }
    let base = checkout.tree.real_dir(&checkout.root.join("linked")).expect("a directory");
    assert_eq!(base, checkout.root.join("base"));
    let outside = checkout.tree.read(&base.join("sub/up.yaml"), Bounds::Within(&base));
    assert!(matches!(outside, Err(FsError::Outside { .. })), "{outside:?}");
    assert_eq!(checkout.tree.list(&base).expect("names"), ["a.yaml", "sub"]);
}

#[test]
fn nothing_leads_out_of_the_repository() {
    let Some((_server, _repository, checkout)) = checkout(&Limits::default()) else { return };
    for path in ["base/sub/out.yaml", "absolute.yaml", "../x", "/etc/hostname"] {
        let outcome = read(&checkout, path);
        assert!(matches!(outcome, Err(FsError::Outside { .. })), "{path}: {outcome:?}");
    }
    for path in ["..", "/", "../../etc"] {
        let outcome = checkout.tree.real_dir(&checkout.root.join(path));
        assert!(matches!(outcome, Err(FsError::Outside { .. })), "{path}: {outcome:?}");
    }
    let anywhere = checkout.tree.read(&PathBuf::from("/etc/hostname"), Bounds::Anywhere);
    assert!(matches!(anywhere, Err(FsError::Outside { .. })), "{anywhere:?}");
}

#[test]
fn other_paths_have_a_reason() {
    let Some((_server, _repository, checkout)) = checkout(&Limits::default()) else { return };
    assert!(matches!(read(&checkout, "base/no.yaml"), Err(FsError::NotFound { .. })));
    assert!(matches!(read(&checkout, "base"), Err(FsError::IsDirectory { .. })));
    assert!(matches!(read(&checkout, "top.yaml/x"), Err(FsError::NotDirectory { .. })));
    assert!(matches!(read(&checkout, "loop"), Err(FsError::Loop { .. })));
    let file = checkout.tree.real_dir(&checkout.root.join("top.yaml"));
    assert!(matches!(file, Err(FsError::NotDirectory { .. })), "{file:?}");
    let Err(FsError::Io { source, .. }) = read(&checkout, "module/x") else {
        panic!("a submodule has no files")
    };
    assert_eq!(source.to_string(), "a submodule, whose files are not fetched");
}

#[test]
fn entries_are_bounded() {
    let Some((_server, repository, _checkout)) = checkout(&Limits::default()) else { return };
    let url = GitUrl::parse(&repository.path().display().to_string()).expect("a path");
    let limits = Limits { objects: 10, ..Limits::default() };
    let checkout = open(&url, &GitReference::Default, &limits, &AtomicBool::new(false));
    let checkout = checkout.expect("a repository");
    assert_eq!(read(&checkout, "top.yaml").expect("within the limit"), "t\n");
    let Err(FsError::Io { source, .. }) = read(&checkout, "base/sub/b.yaml") else {
        panic!("too many entries")
    };
    assert_eq!(source.to_string(), "more than 10 entries");
}
