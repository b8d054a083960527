//! Keys, signatures, and artifacts that are pulled only if they are signed.

use std::{fs, os::unix::fs::PermissionsExt as _};

use flumen_registry::{Options, Server};
use tokio::runtime::Runtime;

use crate::{Scratch, config_map};

/// A registry, a key pair, and a place to call the command from.
struct Fixture {
    scratch: Scratch,
    server: Server,
    _runtime: Runtime,
}

impl Fixture {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("password", "open sesame\n");
        let runtime = Runtime::new().expect("a runtime");
        let options = Options::new(scratch.path().join("registry"));
        let server = runtime.block_on(Server::start(options)).expect("a registry");
        let fixture = Self { scratch, server, _runtime: runtime };
        fixture.generate("cosign");
        fixture
    }

    fn generate(&self, prefix: &str) {
        let args = ["sign", "generate-key-pair", "--password-file=password"];
        let prefix = format!("--output-key-prefix={prefix}");
        self.scratch.check(&[&args[..], &[&prefix]].concat(), "");
    }

    fn url(&self, rest: &str) -> String {
        format!("oci://{}/org/app{rest}", self.server.address())
    }

    /// Pushes `a`. Returns what names it for good.
    fn push(&self, more: &[&str]) -> String {
        let url = self.url(":v1");
        let args = ["push", "artifact", &url, "-k", "a", "--insecure-registry"];
        let outcome = self.scratch.flumen(&[&args, more].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    }

    #[track_caller]
    fn check(&self, args: &[&str], expected: &str) {
        self.scratch.check(&[args, &[&self.url(":v1"), "--insecure-registry"]].concat(), expected);
    }

    #[track_caller]
    fn check_refused(&self, args: &[&str], words: &[&str]) {
        let url = self.url(":v1");
        self.scratch.check_refused(&[args, &[&url, "--insecure-registry"]].concat(), 1, words);
    }
}

const SIGN: [&str; 4] = ["sign", "artifact", "--key=cosign.key", "--password-file=password"];
const VERIFY: [&str; 3] = ["verify", "artifact", "--key=cosign.pub"];
const PULL: [&str; 4] = ["pull", "artifact", "--verify", "--key=cosign.pub"];

#[test]
fn what_is_signed_is_verified() {
    let fixture = Fixture::new();
    let pinned = fixture.push(&[]);
    fixture.check_refused(&VERIFY, &["no signatures found for sha256:", "flumen sign artifact"]);
    fixture.check_refused(&PULL, &["no signatures found for sha256:"]);
    fixture.check(&[&SIGN[..], &["--format=both"]].concat(), &pinned);
    fixture.check(&VERIFY, &pinned);
    fixture.check(&PULL, &config_map("a"));

    fixture.generate("other");
    let other = ["--key=other.pub"];
    let words = ["does not count: it was made with another key"];
    fixture.check_refused(&[&VERIFY[..2], &other].concat(), &words);
    fixture.check_refused(&[&PULL[..2], &other].concat(), &words);
    fixture.check(&[&VERIFY[..], &other].concat(), &pinned);
}

#[test]
fn signatures_of_another_repository_are_refused() {
    let fixture = Fixture::new();
    let pinned = fixture.push(&[]);
    let elsewhere = ["--signed-as=registry.example.com/org/other"];
    fixture.check(&[&SIGN[..], &elsewhere].concat(), &pinned);
    let words = ["was made for the repository `registry.example.com/org/other`", "--signed-as"];
    fixture.check_refused(&VERIFY, &words);
    fixture.check(&[&VERIFY[..], &elsewhere].concat(), &pinned);
}

#[test]
fn pushing_can_sign() {
    let fixture = Fixture::new();
    let sign = ["--sign", "--cosign-key=cosign.key", "--password-file=password"];
    let pinned = fixture.push(&sign);
    fixture.check(&VERIFY, &pinned);
}

#[test]
fn keys_are_private_and_never_replaced() {
    let fixture = Fixture::new();
    let path = fixture.scratch.path().join("cosign.key");
    let mode = fs::metadata(&path).expect("a key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let key = fixture.scratch.read("cosign.key");
    let again = ["sign", "generate-key-pair"];
    fixture.scratch.check_refused(&again, 1, &["cosign.key` exists already"]);
    fs::remove_file(&path).expect("removed");
    fixture.scratch.check_refused(&again, 1, &["cosign.pub` exists already"]);
    assert!(!path.exists(), "half a pair was left");
    fixture.scratch.write("cosign.key", &key);
    fixture.push(&[]);
    fixture.check_refused(&SIGN[..3], &["no password is given", "COSIGN_PASSWORD"]);
    fixture.scratch.write("password", "wrong");
    fixture.check_refused(&SIGN, &["cosign.key`: the password does not open the key"]);
}

#[test]
fn somebody_must_be_trusted() {
    let fixture = Fixture::new();
    fixture.check_refused(&VERIFY[..2], &["nothing says whose signatures count", "--key"]);
    fixture.check_refused(&PULL[..3], &["nothing says whose signatures count"]);
    let private = [&VERIFY[..2], &["--key=cosign.key"]].concat();
    fixture.check_refused(&private, &["cosign.key`: holds a `ENCRYPTED SIGSTORE PRIVATE KEY`"]);
}
