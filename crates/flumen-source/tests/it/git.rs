//! Repositories as objects describe them, behind real servers.

use std::{path::Path, time::SystemTime};

use flumen_api::GitRepository;
use flumen_archive::{Files, Ignore};
use flumen_fs::Bounds;
use flumen_git::{Limits, SshAlgorithms};
use flumen_source::{
    Owner, Storage,
    git::{GitError, GitFetch, GitSecrets, GitSource, Include, SecretData, include},
};
use flumen_testkit::{GitServer, SshKey, SshServer};
use serde_json::{Value, json};

fn object(spec: Value) -> GitRepository {
    let mut spec = spec;
    spec["interval"] = json!("1m");
    let object = json!({ "metadata": { "name": "app", "namespace": "team" }, "spec": spec });
    serde_json::from_value(object).expect("an object")
}

#[expect(clippy::unnecessary_wraps, reason = "as the fields have it that take it")]
fn data(pairs: &[(&str, &str)]) -> Option<SecretData> {
    let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
    Some(pairs.collect())
}

fn source(spec: Value, secrets: &GitSecrets) -> Result<GitSource, GitError> {
    GitSource::new(&object(spec), secrets, &Limits::default(), &SshAlgorithms::default())
}

async fn fetched(spec: Value, secrets: &GitSecrets) -> Result<GitFetch, GitError> {
    source(spec, secrets)?.fetch().await
}

fn file(fetched: &GitFetch, path: &str) -> String {
    let checkout = &fetched.checkout;
    let bytes = checkout.tree.read(&checkout.root.join(path), Bounds::Within(&checkout.root));
    String::from_utf8(bytes.expect("a file")).expect("text")
}

/// What the condition would say.
fn told(error: &GitError) -> (&'static str, bool, String) {
    (error.reason(), error.is_stalling(), error.to_string())
}

#[tokio::test]
async fn revisions_are_those_of_flux() {
    let Some(server) = GitServer::start("Git sources") else { return };
    let repository = server.create_repository("org/app");
    let old = repository.commit(&[("a.yaml", "old\n")]);
    repository.git(&["tag", "--annotate", "--message=first", "v1.2.3"]);
    let new = repository.commit(&[("a.yaml", "new\n")]);
    repository.git(&["branch", "master"]);
    let url = server.url("org/app");
    let secrets = GitSecrets::default();
    for (reference, commit, expected) in [
        (Value::Null, &new, "master@sha1:"),
        (json!({ "branch": "main" }), &new, "main@sha1:"),
        (json!({ "tag": "v1.2.3" }), &old, "v1.2.3@sha1:"),
        (json!({ "semver": ">=1.0.0" }), &old, "v1.2.3@sha1:"),
        (json!({ "name": "refs/tags/v1.2.3" }), &old, "refs/tags/v1.2.3@sha1:"),
        (json!({ "name": "refs/heads/main" }), &new, "refs/heads/main@sha1:"),
        (json!({ "commit": old }), &old, "sha1:"),
        (json!({ "commit": old, "branch": "main" }), &old, "main@sha1:"),
    ] {
        let spec = json!({ "url": url, "ref": reference });
        let expected = format!("{expected}{commit}");
        let source = source(spec, &secrets).expect("a source");
        assert_eq!(source.resolve().await.expect("a revision"), expected);
        let fetched = source.fetch().await.expect("a commit");
        assert_eq!(fetched.revision, expected);
        let content = if *commit == old { "old\n" } else { "new\n" };
        assert_eq!(file(&fetched, "a.yaml"), content, "{reference}");
        assert_eq!(fetched.subject(), "a commit");
    }
}

#[tokio::test]
async fn what_is_missing_is_said_as_flux_says_it() {
    let Some(server) = GitServer::start("Git sources") else { return };
    let commit = server.create_repository("org/app").commit(&[("a.yaml", "a\n")]);
    server.create_repository("org/empty");
    let url = server.url("org/app");
    let unknown: String = commit.chars().rev().collect();
    let secrets = GitSecrets::default();
    let failed = "failed to checkout and determine revision: ";
    for (reference, expected) in [
        (
            json!({ "branch": "none" }),
            format!("unable to clone '{url}': couldn't find remote ref \"refs/heads/none\""),
        ),
        (
            json!({ "tag": "none" }),
            format!("unable to clone '{url}': couldn't find remote ref \"refs/tags/none\""),
        ),
        (json!({ "semver": "9.x" }), "no match found for semver: 9.x".to_owned()),
        (json!({ "semver": "one" }), "semver parse error: improper constraint: \"one\"".to_owned()),
        (
            json!({ "name": "refs/pull/1/head" }),
            "unable to resolve ref 'refs/pull/1/head' to a specific commit".to_owned(),
        ),
        (
            json!({ "name": "refs/heads/main/" }),
            "ref refs/heads/main/ is invalid; Git refs cannot begin or end with a slash '/'"
                .to_owned(),
        ),
        (
            json!({ "commit": unknown }),
            format!("unable to resolve commit object for '{unknown}': object not found"),
        ),
        (
            json!({ "commit": commit, "branch": "none" }),
            format!("unable to clone '{url}': couldn't find remote ref \"refs/heads/none\""),
        ),
        (
            json!({ "commit": unknown, "branch": "main" }),
            format!("unable to resolve commit object for '{unknown}': object not found"),
        ),
    ] {
        let error = fetched(json!({ "url": url, "ref": reference }), &secrets).await;
        let expected = format!("{failed}{expected}");
        let error = error.map(|fetched| fetched.revision).expect_err(&expected);
        assert_eq!(told(&error), ("GitOperationFailed", false, expected));
    }
    let error = fetched(json!({ "url": server.url("org/empty") }), &secrets).await;
    let error = error.map(|fetched| fetched.revision).expect_err("empty");
    let expected = ("EmptyGitRepository", false, "git repository is empty".to_owned());
    assert_eq!(told(&error), expected);

    let spec = json!({ "url": url, "ref": { "branch": "main" }, "sparseCheckout": ["./none"] });
    let error = fetched(spec, &secrets).await.map(|fetched| fetched.revision).expect_err("none");
    let expected = "failed to sparse checkout directories : sparse checkout dir './none' does not \
                    exist in repository";
    assert_eq!(told(&error), ("GitOperationFailed", false, expected.to_owned()));
}

#[tokio::test]
async fn secrets_hold_credentials() {
    let Some(server) = GitServer::start("Git sources") else { return };
    let commit = server.create_repository("org/app").commit(&[("a.yaml", "a\n")]);
    let spec = |path: &str| {
        json!({
            "url": server.url(path),
            "ref": { "branch": "main" },
            "secretRef": { "name": "login" },
        })
    };
    for (path, pairs) in [
        ("private/org/app", vec![("username", "me"), ("password", "secret")]),
        ("token/org/app", vec![("bearerToken", "t0ken")]),
    ] {
        let secrets = GitSecrets { credentials: data(&pairs), ..GitSecrets::default() };
        let fetched = fetched(spec(path), &secrets).await.expect(path);
        assert_eq!(fetched.revision, format!("main@sha1:{commit}"));
    }
    let secrets = GitSecrets {
        credentials: data(&[("username", "me"), ("password", "h1dden")]),
        ..GitSecrets::default()
    };
    let source = source(spec("private/org/app"), &secrets).expect("a source");
    let error = source.resolve().await.expect_err("another password");
    let url = server.url("private/org/app");
    let expected = format!(
        "failed to checkout and determine revision: unable to list remote for '{url}': asks for \
         credentials"
    );
    assert_eq!(told(&error), ("GitOperationFailed", false, expected));
    assert!(!format!("{error:?} {source:?} {secrets:?}").contains("h1dden"));
}

#[test]
fn objects_that_make_no_sense_are_refused() {
    let https = "https://git.example.com/org/app";
    let ssh = "ssh://git@git.example.com/org/app";
    let check = |spec: Value, pairs: &[(&str, &str)], expected: (&'static str, bool, &str)| {
        let mut spec = spec;
        spec["secretRef"] = json!({ "name": "login" });
        let secrets = GitSecrets { credentials: data(pairs), ..GitSecrets::default() };
        let error = source(spec, &secrets).map(|_| ()).expect_err(expected.2);
        let (reason, is_stalling, text) = expected;
        assert_eq!(told(&error), (reason, is_stalling, text.to_owned()));
        for (_, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            assert!(!format!("{error} {error:?}").contains(value), "{error:?}");
        }
    };
    let options = "failed to configure authentication options: ";
    check(
        json!({ "url": ssh }),
        &[("known_hosts", "hosts")],
        (
            "AuthenticationFailed",
            false,
            &format!("{options}invalid 'ssh' auth option: 'identity' is required"),
        ),
    );
    check(
        json!({ "url": ssh }),
        &[("identity", "k3y")],
        (
            "AuthenticationFailed",
            false,
            &format!("{options}invalid 'ssh' auth option: 'known_hosts' is required"),
        ),
    );
    check(
        json!({ "url": https }),
        &[("password", "h1dden")],
        (
            "AuthenticationFailed",
            false,
            &format!(
                "{options}invalid 'https' auth option: 'password' requires 'username' to be set"
            ),
        ),
    );
    check(
        json!({ "url": "https://me@git.example.com/org/app" }),
        &[("bearerToken", "t0ken")],
        (
            "GitOperationFailed",
            false,
            "failed to checkout and determine revision: basic auth and bearer token cannot be set \
             at the same time",
        ),
    );
    check(
        json!({ "url": https }),
        &[("githubAppID", "123")],
        (
            "InvalidProviderConfiguration",
            false,
            "secretRef 'team/login' has github app data but provider is not set to github",
        ),
    );
    check(
        json!({ "url": "git@git.example.com:org/app" }),
        &[],
        (
            "URLInvalid",
            true,
            "failed to parse url 'git.example.com:org/app': it does not begin with http://, \
             https:// or ssh://",
        ),
    );
}

#[test]
fn proxies_are_read() {
    let check = |pairs: &[(&str, &str)], expected: &str| {
        let spec = json!({
            "url": "https://git.example.com/org/app",
            "proxySecretRef": { "name": "proxy" },
        });
        let secrets = GitSecrets { proxy: data(pairs), ..GitSecrets::default() };
        let error = source(spec, &secrets).map(|_| ()).expect_err(expected);
        let text = format!("failed to configure proxy options: secret 'team/proxy': {expected}");
        assert_eq!(told(&error), ("AuthenticationFailed", false, text));
    };
    check(&[], "key 'address' not found");
    check(&[("address", "")], "proxy address is empty");
    check(
        &[("address", "ftp://proxy.example.com")],
        "proxy URL must use one of the supported schemes (http, https, socks5), got 'ftp'",
    );
    let long = format!("http://{}", "a".repeat(2048));
    check(&[("address", &long)], "proxy URL exceeds maximum length of 2048 characters");
}

#[tokio::test]
async fn ssh_keys_come_from_secrets() {
    let Some(server) = SshServer::start("Git sources over ssh", "") else { return };
    let commit = server.create_repository("org/app").commit(&[("a.yaml", "a\n")]);
    let key = server.generate_key("ed25519", "w0rds");
    server.authorize(&key);
    let known_hosts = server.known_hosts();
    let login = [("identity", key.private.as_str()), ("known_hosts", &known_hosts)];
    let spec = json!({
        "url": server.url("org/app"),
        "ref": { "branch": "main" },
        "secretRef": { "name": "login" },
    });
    let locked = GitSecrets { credentials: data(&login), ..GitSecrets::default() };
    let error = source(spec.clone(), &locked).map(|_| ()).expect_err("no password");
    let expected = "SSH identity key is encrypted but no 'password' field was provided in the \
                    secret 'team/login'";
    assert_eq!(told(&error), ("AuthenticationFailed", false, expected.to_owned()));

    let login = [&login[..], &[("password", "w0rds")]].concat();
    let secrets = GitSecrets { credentials: data(&login), ..GitSecrets::default() };
    let fetched = fetched(spec, &secrets).await.expect("a commit");
    assert_eq!(fetched.revision, format!("main@sha1:{commit}"));
}

#[tokio::test]
async fn signatures_are_asked_for() {
    let Some(server) = GitServer::start("Git sources") else { return };
    if flumen_testkit::tool("ssh-keygen").is_none() {
        flumen_testkit::skip("signatures of Git sources", "ssh-keygen is not installed");
        return;
    }
    let scratch = tempfile::tempdir().expect("scratch directory");
    let path = scratch.path().join("key");
    let key = SshKey::generate(&path, "ed25519", "");
    let repository = server.create_repository("org/app");
    repository.git(&["config", "gpg.format", "ssh"]);
    repository.git(&["config", "user.signingkey", &path.display().to_string()]);
    repository.git(&["commit", "--quiet", "--allow-empty", "-S", "--message=signed"]);
    let spec = |mode: &str| {
        let verify = json!({ "mode": mode, "secretRef": { "name": "keys" } });
        json!({ "url": server.url("org/app"), "ref": { "branch": "main" }, "verify": verify })
    };
    let secrets = GitSecrets {
        keys: data(&[("me.sshpub", &key.public), ("other.asc", "nonsense")]),
        ..GitSecrets::default()
    };
    let now = SystemTime::now();
    let signed = source(spec("HEAD"), &secrets).expect("a source");
    let fetched = signed.fetch().await.expect("a commit");
    let verified = signed.verify(&fetched, now).expect("a request").expect("a good signature");
    assert!(verified.text.starts_with("verified signature of\n\t- commit '"), "{}", verified.text);

    let by_tag = source(spec("Tag"), &secrets).expect("a source");
    let error = by_tag.verify(&fetched, now).expect("a request").expect_err("no tag");
    assert_eq!((error.reason(), error.is_stalling()), ("InvalidVerificationMode", true));
    let without = source(spec("HEAD"), &GitSecrets::default()).expect("a source");
    let error = without.verify(&fetched, now).expect("a request").expect_err("no keys");
    assert_eq!((error.reason(), error.is_stalling()), ("InvalidCommitSignature", false));
    let unasked = json!({ "url": server.url("org/app") });
    assert!(source(unasked, &secrets).expect("a source").verify(&fetched, now).is_none());
}

#[tokio::test]
async fn trees_are_stored_with_what_they_include() {
    let Some(server) = GitServer::start("Git sources") else { return };
    let repository = server.create_repository("org/app");
    repository.commit(&[("app/a.yaml", "a\n"), (".sourceignore", "*.txt\n"), ("b.txt", "b\n")]);
    let spec = json!({ "url": server.url("org/app"), "ref": { "branch": "main" } });
    let fetched = fetched(spec, &GitSecrets::default()).await.expect("a commit");

    let scratch = tempfile::tempdir().expect("scratch directory");
    let storage = Storage::open(scratch.path()).expect("a storage");
    let owner = |name: &str| Owner::new("GitRepository", "team", name).expect("an owner");
    let checkout = &fetched.checkout;
    let put = |name: &str, files: Files<'_>| {
        let rules = Ignore::of_source(files, None).expect("rules");
        storage.put(&owner(name), "x.tar.gz", files, &rules).expect("stored")
    };
    let plain = put("plain", Files { tree: checkout.tree.as_ref(), root: &checkout.root });
    let part = Include {
        name: "plain".to_owned(),
        tree: storage.tree(&plain.digest).expect("a tree"),
        from: "app".to_owned(),
        to: "from/plain".to_owned(),
    };
    let tree = include(checkout.tree.clone(), &checkout.root, [part]).expect("a tree");
    let joined = put("joined", Files { tree: tree.as_ref(), root: &checkout.root });
    let tree = storage.tree(&joined.digest).expect("a tree");
    for (path, content) in [("/app/a.yaml", "a\n"), ("/from/plain/a.yaml", "a\n")] {
        let found = tree.read(Path::new(path), Bounds::Anywhere).expect(path);
        assert_eq!(found, content.as_bytes());
    }
    let names = tree.list(Path::new("/")).expect("names");
    assert_eq!(names, [".sourceignore", "app", "from"]);
}
