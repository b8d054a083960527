//! References to commits, of servers and of this machine.

use std::{path::Path, sync::atomic::AtomicBool};

use flumen_fs::Bounds;
use flumen_git::{Checkout, Error, GitReference, GitUrl, Limits, open, resolve};
use flumen_testkit::{GitRepository, GitServer};

/// Two commits: `old` (tags `v1`, `1.0.9` and, annotated, `v1.0`), and `new` on branch `main` (tag
/// `v1.2.3`).
struct Fixture {
    server: GitServer,
    repository: GitRepository,
    old: String,
    new: String,
}

impl Fixture {
    fn new() -> Option<Self> {
        let server = GitServer::start("reading repositories")?;
        let repository = server.create_repository("org/app");
        let old = repository.commit(&[("deploy/a.yaml", "old\n")]);
        repository.git(&["tag", "v1"]);
        repository.git(&["tag", "--annotate", "--message=first", "v1.0"]);
        repository.git(&["tag", "1.0.9"]);
        repository.git(&["update-ref", "refs/pull/1/head", "HEAD"]);
        let new = repository.commit(&[("deploy/a.yaml", "new\n")]);
        repository.git(&["tag", "--annotate", "--message=third", "v1.2.3"]);
        repository.git(&["tag", "v2.0.0-rc.1"]);
        Some(Self { server, repository, old, new })
    }

    /// The same repository over both protocols and on disk.
    fn addresses(&self) -> Vec<String> {
        vec![
            self.server.url("org/app"),
            self.server.url("v0/org/app"),
            self.server.url("moved/org/app"),
            self.server.url_as("me:secret", "private/org/app"),
            format!("file://{}", self.repository.path().display()),
            self.repository.path().join(".git").display().to_string(),
        ]
    }
}

fn open_at(url: &str, reference: &GitReference) -> Result<Checkout, Error> {
    let url = GitUrl::parse(url)?;
    open(&url, reference, &Limits::default(), &AtomicBool::new(false))
}

fn file(checkout: &Checkout, path: &str) -> String {
    let path = checkout.root.join(path);
    let bytes = checkout.tree.read(&path, Bounds::Within(&checkout.root)).expect("a file");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn references_lead_to_commits() {
    let Some(fixture) = Fixture::new() else { return };
    let named = |name: &str| GitReference::Name(name.to_owned());
    let table = [
        (GitReference::Default, &fixture.new, "refs/heads/main"),
        (GitReference::Branch("main".to_owned()), &fixture.new, "refs/heads/main"),
        (GitReference::Tag("v1".to_owned()), &fixture.old, "refs/tags/v1"),
        (GitReference::Tag("v1.0".to_owned()), &fixture.old, "refs/tags/v1.0"),
        (GitReference::Commit(fixture.new.clone()), &fixture.new, &fixture.new),
        (named("main"), &fixture.new, "refs/heads/main"),
        (named("refs/heads/main"), &fixture.new, "refs/heads/main"),
        (named("tags/v1"), &fixture.old, "refs/tags/v1"),
        (named("v1.0"), &fixture.old, "refs/tags/v1.0"),
        (named(&fixture.old), &fixture.old, &fixture.old),
        (GitReference::Semver(">=1.0.0".to_owned()), &fixture.new, "refs/tags/v1.2.3"),
        (GitReference::Semver("1.0.x".to_owned()), &fixture.old, "refs/tags/1.0.9"),
        (GitReference::Full("refs/tags/v1.0".to_owned()), &fixture.old, "refs/tags/v1.0"),
        (GitReference::Full("refs/tags/v1.0^{}".to_owned()), &fixture.old, "refs/tags/v1.0"),
        (GitReference::Full("refs/pull/1/head".to_owned()), &fixture.old, "refs/pull/1/head"),
    ];
    for address in fixture.addresses() {
        for (reference, commit, name) in &table {
            let context = format!("{reference:?} of {address}");
            let checkout = open_at(&address, reference).expect(&context);
            assert_eq!(
                (&checkout.commit, checkout.reference.as_str()),
                (*commit, *name),
                "{context}"
            );
            let content = if *commit == &fixture.old { "old\n" } else { "new\n" };
            assert_eq!(file(&checkout, "deploy/a.yaml"), content, "{context}");

            let url = GitUrl::parse(&address).expect("an address");
            let resolved = resolve(&url, reference, &Limits::default(), &AtomicBool::new(false));
            assert_eq!(&resolved.expect(&context).id, *commit, "{context}");
        }
    }
}

#[test]
fn commits_without_a_name_are_found_on_old_servers() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.repository.git(&["tag", "--delete", "v1", "v1.0", "1.0.9"]);
    fixture.repository.git(&["update-ref", "-d", "refs/pull/1/head"]);
    let reference = GitReference::Commit(fixture.old.clone());
    for address in [fixture.server.url("org/app"), fixture.server.url("v0/org/app")] {
        let checkout = open_at(&address, &reference).expect(&address);
        assert_eq!(file(&checkout, "deploy/a.yaml"), "old\n");
    }
}

#[test]
fn commits_are_looked_for_on_their_branch() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.repository.git(&["checkout", "--quiet", "-b", "side", &fixture.old]);
    let side = fixture.repository.commit(&[("deploy/a.yaml", "side\n")]);
    fixture.repository.git(&["checkout", "--quiet", "main"]);
    let on = |branch: &str, commit: &str| GitReference::CommitOf {
        branch: branch.to_owned(),
        commit: commit.to_owned(),
    };
    let check = |address: String| {
        let newest = open_at(&address, &on("main", &fixture.new)).expect("the end of the branch");
        assert_eq!(file(&newest, "deploy/a.yaml"), "new\n");
        let old = open_at(&address, &on("main", &fixture.old)).expect("in the history");
        assert_eq!(file(&old, "deploy/a.yaml"), "old\n");
        assert_eq!(old.reference, "refs/heads/main");
        let revision = on("main", &fixture.old).revision(&old.resolved());
        assert_eq!(revision, format!("main@sha1:{}", fixture.old));

        let error = open_at(&address, &on("main", &side)).expect_err("on another branch");
        assert_eq!(error.to_string(), format!("'{address}' has no commit `{side}`"));
        let error = open_at(&address, &on("none", &side)).expect_err("no such branch");
        let expected = format!("'{address}' has no commit `{side}` on branch `none`");
        assert_eq!(error.to_string(), expected);
    };
    for leaves_out_files in ["false", "true"] {
        fixture.repository.git(&["config", "uploadpack.allowFilter", leaves_out_files]);
        check(fixture.server.url("org/app"));
        check(fixture.server.url("v0/org/app"));
    }
}

#[test]
fn files_before_a_commit_of_a_branch_are_not_received() {
    let Some(fixture) = Fixture::new() else { return };
    let numbers = (0..40_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string());
    let noise = numbers.collect::<Vec<_>>().join("\n");
    fixture.repository.commit(&[("deploy/a.yaml", &noise)]);
    let commit = fixture.repository.commit(&[("deploy/a.yaml", "quiet\n")]);
    fixture.repository.commit(&[("deploy/a.yaml", "after\n")]);
    let reference = GitReference::CommitOf { branch: "main".to_owned(), commit };
    let url = GitUrl::parse(&fixture.server.url("org/app")).expect("an address");
    let limits = Limits { bytes: 20_000, ..Limits::default() };
    let open = || open(&url, &reference, &limits, &AtomicBool::new(false));
    let error = open().expect_err("the server sends all or nothing");
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    fixture.repository.git(&["config", "uploadpack.allowFilter", "true"]);
    assert_eq!(file(&open().expect("small"), "deploy/a.yaml"), "quiet\n");
}

#[test]
fn versions_that_differ_in_build_metadata_are_told_apart_by_time() {
    let Some(fixture) = Fixture::new() else { return };
    let repository = &fixture.repository;
    // Neither the order of the names nor that of the commits is the order of time.
    for (tag, seconds) in [("v5.0.0+b", 1000), ("v5.0.0+c", 3000), ("v5.0.0+a", 2000)] {
        repository.commit_at(seconds);
        repository.git(&["tag", tag]);
    }
    let newest = repository.git(&["rev-parse", "v5.0.0+c"]);
    let reference = GitReference::Semver("5.x".to_owned());
    for address in fixture.addresses() {
        let checkout = open_at(&address, &reference).expect(&address);
        assert_eq!(
            (checkout.commit.as_str(), checkout.reference.as_str()),
            (newest.as_str(), "refs/tags/v5.0.0+c"),
            "{address}"
        );
    }
}

#[test]
fn commits_and_tags_speak_for_themselves() {
    let Some(fixture) = Fixture::new() else { return };
    for address in fixture.addresses() {
        let checkout = open_at(&address, &GitReference::Tag("v1.0".to_owned())).expect(&address);
        assert_eq!(checkout.metadata.subject(), "a commit");
        let author = &checkout.metadata.author;
        assert_eq!((author.name.as_str(), author.email.as_str()), ("test", "test@example.com"));
        assert_eq!(checkout.metadata.signed, None);
        let tag = checkout.tag.expect("a tag");
        let id = fixture.repository.git(&["rev-parse", "v1.0"]);
        assert_eq!((tag.name.as_str(), tag.id), ("v1.0", Some(id)));
        assert_eq!(tag.message, "first\n");

        let light = open_at(&address, &GitReference::Tag("v1".to_owned())).expect(&address);
        let tag = light.tag.expect("a tag");
        assert_eq!((tag.name.as_str(), tag.id), ("v1", None));
        let branch = open_at(&address, &GitReference::Default).expect(&address);
        assert_eq!(branch.tag, None);
    }
}

#[test]
fn empty_repositories_are_called_so() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.server.create_repository("org/empty");
    for path in ["org/empty", "v0/org/empty"] {
        let url = fixture.server.url(path);
        let error = open_at(&url, &GitReference::Branch("main".to_owned())).expect_err("empty");
        assert!(matches!(error, Error::Empty { .. }), "{path}: {error:?}");
    }
}

#[test]
fn repositories_with_longer_hashes_are_read() {
    let Some(fixture) = Fixture::new() else { return };
    let repository = fixture.server.create_repository("org/long");
    std::fs::remove_dir_all(repository.path().join(".git")).expect("removed");
    repository.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    let commit = repository.commit(&[("deploy/a.yaml", "long\n")]);
    let branch = GitReference::Branch("main".to_owned());
    for path in ["org/long", "v0/org/long"] {
        let checkout = open_at(&fixture.server.url(path), &branch).expect(path);
        assert_eq!(file(&checkout, "deploy/a.yaml"), "long\n");
        assert_eq!(branch.revision(&checkout.resolved()), format!("main@sha256:{commit}"));
    }
}

#[test]
fn bare_repositories_are_opened() {
    let Some(fixture) = Fixture::new() else { return };
    let bare = fixture.repository.path().with_extension("git");
    let bare_path = bare.display().to_string();
    fixture.repository.git(&["clone", "--quiet", "--bare", ".", &bare_path]);
    let checkout = open_at(&bare_path, &GitReference::Default).expect("a bare repository");
    assert_eq!(checkout.commit, fixture.new);
}

#[test]
fn what_is_not_there_is_named() {
    let Some(fixture) = Fixture::new() else { return };
    let message = |url: &str, reference: GitReference| {
        open_at(url, &reference).map(|checkout| checkout.commit).expect_err("nothing").to_string()
    };
    let url = fixture.server.url("org/app");
    let no_branch = GitReference::Branch("nope".to_owned());
    assert_eq!(message(&url, no_branch), format!("'{url}' has no branch `nope`"));
    let short = GitReference::Name("0123456".to_owned());
    assert_eq!(message(&url, short), format!("'{url}' has no branch, tag or commit `0123456`"));
    let unknown = "0".repeat(39) + "1";
    let commit = GitReference::Commit(unknown.clone());
    assert_eq!(message(&url, commit), format!("'{url}' has no commit `{unknown}`"));
    let absent = fixture.server.url("org/other");
    assert_eq!(
        message(&absent, GitReference::Default),
        format!("'{absent}' answered with status 404")
    );
    let page = fixture.server.url("files/page");
    fixture.server.put_file("page/info/refs", "hello");
    assert_eq!(message(&page, GitReference::Default), format!("'{page}' is not a Git repository"));
    let directory = fixture.repository.path().join("deploy");
    let directory = directory.display().to_string();
    assert_eq!(
        message(&directory, GitReference::Default),
        format!("'{directory}' is not a Git repository")
    );
    let ssh = open_at("git@host:org/app", &GitReference::Default).expect_err("ssh");
    let expected = "'git@host:org/app' is reached over ssh, and there is no key for it";
    assert_eq!(ssh.to_string(), expected);
    assert_eq!(ssh.hint(), Some("use https, or give a private key"));
}

#[test]
fn credentials_are_for_one_host_and_for_no_message() {
    let Some(fixture) = Fixture::new() else { return };
    let error = open_at(&fixture.server.url("private/org/app"), &GitReference::Default);
    let error = error.expect_err("no credentials");
    assert!(matches!(error, Error::Unauthorized { were_given: false, .. }), "{error:?}");

    let wrong = fixture.server.url_as("me:h1dden", "private/org/app");
    let error = open_at(&wrong, &GitReference::Default).expect_err("wrong credentials");
    assert!(matches!(error, Error::Unauthorized { were_given: true, .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("h1dden"));

    let elsewhere = fixture.server.url_as("me:secret", "elsewhere/org/app");
    let error = open_at(&elsewhere, &GitReference::Default).expect_err("another host");
    assert!(matches!(error, Error::Unauthorized { .. }), "{error:?}");
    let requests = fixture.server.requests();
    let after = requests.iter().skip_while(|request| !request.contains("elsewhere")).nth(1);
    assert_eq!(after.map(String::as_str), Some("GET private/org/app/info/refs"));
}

#[test]
fn local_repositories_are_not_written_to() {
    let Some(fixture) = Fixture::new() else { return };
    let before = listing(fixture.repository.path());
    let checkout =
        open_at(&fixture.repository.path().display().to_string(), &GitReference::Default);
    assert_eq!(file(&checkout.expect("a repository"), "deploy/a.yaml"), "new\n");
    assert_eq!(listing(fixture.repository.path()), before);
}

/// All files below a directory, with their times of change.
fn listing(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("metadata");
        if metadata.is_dir() {
            found.extend(listing(&entry.path()));
        } else {
            found.push(format!("{} {:?}", entry.path().display(), metadata.modified()));
        }
    }
    found.sort();
    found
}
