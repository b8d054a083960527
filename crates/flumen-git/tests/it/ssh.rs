//! Repositories behind the real sshd.

use std::sync::atomic::AtomicBool;

use flumen_fs::Bounds;
use flumen_git::{
    Access, Checkout, Client, Error, GitReference, GitUrl, Limits, Proxy, Selection, SshIdentity,
};
use flumen_testkit::{GitRepository, SshKey, SshServer};

use crate::proxies;

/// What makes a server speak the newer version of Git's protocol.
const NEW: &str = "AcceptEnv GIT_PROTOCOL";

/// A server with a repository of two commits: `old` (tag `v1`, annotated), and `new` on `main`.
struct Fixture {
    server: SshServer,
    repository: GitRepository,
    key: SshKey,
    old: String,
    new: String,
}

impl Fixture {
    fn new(settings: &str) -> Option<Self> {
        let server = SshServer::start("repositories over ssh", settings)?;
        let repository = server.create_repository("org/it's an app");
        let old = repository.commit(&[("a.yaml", "old\n")]);
        repository.git(&["tag", "--annotate", "--message=first", "v1"]);
        let new = repository.commit(&[("a.yaml", "new\n")]);
        let key = server.generate_key("ed25519", "");
        server.authorize(&key);
        Some(Self { server, repository, key, old, new })
    }

    fn url(&self) -> GitUrl {
        GitUrl::parse(&self.server.url("org/it's an app")).expect("an address")
    }

    fn identity(&self) -> SshIdentity {
        SshIdentity {
            key: self.key.private.clone().into_bytes(),
            passphrase: None,
            known_hosts: self.server.known_hosts().into_bytes(),
        }
    }

    fn open(&self, identity: SshIdentity, reference: &GitReference) -> Result<Checkout, Error> {
        let client = client(identity, Limits::default());
        client.open(&self.url(), reference, &Selection::default(), &AtomicBool::new(false))
    }

    fn error(&self, identity: SshIdentity) -> Error {
        let outcome = self.open(identity, &GitReference::Default);
        outcome.map(|checkout| checkout.commit).expect_err("no way in")
    }
}

fn client(identity: SshIdentity, limits: Limits) -> Client {
    Client::new(Access { ssh: Some(identity), ..Access::default() }, limits)
}

fn file(checkout: &Checkout, path: &str) -> String {
    let path = checkout.root.join(path);
    let bytes = checkout.tree.read(&path, Bounds::Within(&checkout.root)).expect("a file");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn references_lead_to_commits_with_both_versions_of_the_protocol() {
    for settings in [NEW, ""] {
        let Some(fixture) = Fixture::new(settings) else { return };
        let branch = GitReference::Branch("main".to_owned());
        let on_branch =
            GitReference::CommitOf { branch: "main".to_owned(), commit: fixture.old.clone() };
        let table = [
            (GitReference::Default, &fixture.new, "refs/heads/main"),
            (branch, &fixture.new, "refs/heads/main"),
            (GitReference::Tag("v1".to_owned()), &fixture.old, "refs/tags/v1"),
            (GitReference::Commit(fixture.old.clone()), &fixture.old, &fixture.old),
            (on_branch, &fixture.old, "refs/heads/main"),
        ];
        for (reference, commit, name) in table {
            let context = format!("{reference:?} with {settings:?}");
            let checkout = fixture.open(fixture.identity(), &reference).expect(&context);
            assert_eq!(
                (&checkout.commit, checkout.reference.as_str()),
                (commit, name),
                "{context}"
            );
            let content = if *commit == fixture.old { "old\n" } else { "new\n" };
            assert_eq!(file(&checkout, "a.yaml"), content, "{context}");

            let client = client(fixture.identity(), Limits::default());
            let resolved = client.resolve(&fixture.url(), &reference, &AtomicBool::new(false));
            assert_eq!(&resolved.expect(&context).id, commit, "{context}");
        }
    }
}

#[test]
fn commits_without_a_name_are_found() {
    for settings in [NEW, ""] {
        let Some(fixture) = Fixture::new(settings) else { return };
        fixture.repository.git(&["tag", "--delete", "v1"]);
        let reference = GitReference::Commit(fixture.old.clone());
        let checkout = fixture.open(fixture.identity(), &reference).expect("a commit");
        assert_eq!(file(&checkout, "a.yaml"), "old\n");
    }
}

#[test]
fn keys_of_all_kinds_open_the_door() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    for (kind, passphrase) in
        [("rsa", ""), ("rsa", "w0rds"), ("ecdsa", ""), ("ecdsa", "w0rds"), ("ed25519", "w0rds")]
    {
        let key = fixture.server.generate_key(kind, passphrase);
        fixture.server.authorize(&key);
        let identity = SshIdentity {
            key: key.private.into_bytes(),
            passphrase: Some(passphrase.to_owned()),
            ..fixture.identity()
        };
        let checkout = fixture.open(identity, &GitReference::Default);
        assert_eq!(checkout.expect(kind).commit, fixture.new, "{kind}");
    }
}

#[test]
fn hosts_must_be_known() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    let with = |known_hosts: String| SshIdentity {
        known_hosts: known_hosts.into_bytes(),
        ..fixture.identity()
    };
    let (host, key) = (fixture.server.host(), fixture.server.host_key());
    let other = fixture.server.generate_key("ed25519", "").public;
    let rsa = fixture.server.generate_key("rsa", "").public;

    let error = fixture.error(with(format!("{host} {other}\n")));
    let expected =
        format!("{host} shows a key of type ssh-ed25519 that is not among its known ones");
    assert_eq!(error.to_string(), expected);
    // The port is part of the name.
    let error = fixture.error(with(format!("127.0.0.1 {key}\n")));
    assert!(matches!(error, Error::UnknownHost { .. }), "{error:?}");
    let error = fixture.error(with(format!("@revoked * {key}\n{host} {key}\n")));
    assert!(matches!(error, Error::RevokedHost { .. }), "{error:?}");
    let error = fixture.error(with(" \n".to_owned()));
    assert!(matches!(error, Error::NoKnownHosts { .. }), "{error:?}");
    // A server that has no key of a known type cannot show the right one.
    let error = fixture.error(with(format!("{host} {rsa}\n")));
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");

    let both = with(format!("{host} {rsa}\nelse,{host} {key} with a comment\n"));
    fixture.open(both, &GitReference::Default).expect("a known host");
}

#[test]
fn keys_that_do_not_fit_are_named_and_not_shown() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    let stranger = fixture.server.generate_key("ecdsa", "");
    let identity = SshIdentity { key: stranger.private.into_bytes(), ..fixture.identity() };
    let error = fixture.error(identity);
    let Error::Refused { host, kind, .. } = &error else { panic!("{error:?}") };
    assert_eq!((host.as_str(), kind.as_str()), (&*fixture.server.host(), "ecdsa-sha2-nistp256"));

    let locked = fixture.server.generate_key("ed25519", "w0rds");
    let identity = SshIdentity { key: locked.private.clone().into_bytes(), ..fixture.identity() };
    let error = fixture.error(identity.clone());
    let expected = "the ssh key is encrypted, and there is no password for it";
    assert_eq!(error.to_string(), expected);
    let error = fixture.error(SshIdentity { passphrase: Some("wr0ng".to_owned()), ..identity });
    let text = format!("{error} {error:?}");
    assert!(text.contains("its password is another one"), "{text}");
    let lines = locked.private.lines().filter(|line| !line.starts_with("-----"));
    for secret in lines.chain(["w0rds", "wr0ng"]) {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn the_other_side_has_its_say() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    let client = client(fixture.identity(), Limits::default());
    let url = GitUrl::parse(&fixture.server.url("org/none")).expect("an address");
    let error = client.resolve(&url, &GitReference::Default, &AtomicBool::new(false));
    let Error::Rejected { reason, .. } = error.expect_err("no such repository") else {
        panic!("another error")
    };
    assert!(reason.contains("does not appear to be a git repository"), "{reason}");
}

#[test]
fn limits_hold() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    let numbers = (0..40_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string());
    let noise = numbers.collect::<Vec<_>>().join("\n");
    fixture.repository.commit(&[("noise", &noise)]);
    let within = |limits: Limits| {
        let client = client(fixture.identity(), limits);
        let all = Selection::default();
        let outcome =
            client.open(&fixture.url(), &GitReference::Default, &all, &AtomicBool::new(false));
        outcome.map(|checkout| checkout.commit).expect_err("beyond the limits")
    };
    let error = within(Limits { bytes: 20_000, ..Limits::default() });
    assert!(matches!(error, Error::TooLarge { limit: 20_000, .. }), "{error:?}");
    let error = within(Limits { objects: 3, ..Limits::default() });
    assert!(matches!(error, Error::TooManyObjects { limit: 3, .. }), "{error:?}");
}

#[test]
fn proxies_lead_to_the_server() {
    let Some(fixture) = Fixture::new(NEW) else { return };
    for kind in [proxies::Kind::Http, proxies::Kind::Socks5] {
        let proxy = proxies::start(kind);
        let resolve = |password: &str| {
            let proxy = Proxy {
                url: proxy.url.parse().expect("an address"),
                username: "me".to_owned(),
                password: password.to_owned(),
            };
            let access =
                Access { ssh: Some(fixture.identity()), proxy: Some(proxy), ..Access::default() };
            let client = Client::new(access, Limits::default());
            client.resolve(&fixture.url(), &GitReference::Default, &AtomicBool::new(false))
        };
        assert_eq!(resolve("secret").expect("a way").id, fixture.new, "{kind:?}");
        assert_eq!(proxy.count(), 1, "{kind:?}");
        let error = resolve("h1dden").expect_err("another password");
        assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("h1dden"), "{error:?}");
    }
}
