//! `push`, `pull`, `inspect` and `diff` of artifacts, with the embedded registry.

use std::{fs::File, process::Command};

use flumen_registry::{Options, Server};
use flumen_testkit::Outcome;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{Scratch, binary, config_map};

/// A registry, and a place to call the command from.
struct Fixture {
    scratch: Scratch,
    _runtime: Runtime,
    server: Server,
}

impl Fixture {
    fn new() -> Self {
        let scratch = Scratch::new();
        let runtime = Runtime::new().expect("a runtime");
        let options = Options::new(scratch.path().join("registry"));
        let server = runtime.block_on(Server::start(options)).expect("a registry");
        Self { scratch, _runtime: runtime, server }
    }

    fn url(&self, tag: &str) -> String {
        format!("oci://{}/org/app:{tag}", self.server.address())
    }

    /// Runs `flumen VERB artifact … --insecure-registry`.
    fn run(&self, verb: &str, args: &[&str]) -> Outcome {
        self.scratch.flumen(&[&[verb, "artifact"], args, &["--insecure-registry"]].concat())
    }

    /// What it prints; it must succeed.
    #[track_caller]
    fn printed(&self, verb: &str, args: &[&str]) -> String {
        let outcome = self.run(verb, args);
        assert_eq!(outcome.status, Some(0), "{verb} {args:?}: {}", outcome.stderr);
        String::from_utf8(outcome.stdout).expect("UTF-8")
    }

    /// What it says; it must refuse.
    #[track_caller]
    fn refusal(&self, verb: &str, args: &[&str]) -> String {
        let outcome = self.run(verb, args);
        assert_eq!(outcome.status, Some(1), "{verb} {args:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{verb} {args:?} printed something");
        outcome.stderr
    }
}

#[test]
fn what_goes_well_is_said_unless_nobody_wants_to_hear_it() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    let said = |verb, args: &[&str]| {
        let outcome = fixture.run(verb, args);
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        let marks = outcome.stderr.lines().filter_map(|line| line.chars().next());
        (marks.collect::<String>(), outcome.stdout)
    };
    // Nothing but whole lines: this is no terminal.
    let (marks, printed) = said("push", &[&url, "-k", "a"]);
    assert_eq!(marks, "►✔");
    let (silence, reference) = said("push", &[&url, "-k", "a", "--quiet"]);
    assert_eq!((silence.as_str(), reference.len()), ("", printed.len()));
    fixture.scratch.write("out/old", "");
    assert_eq!(said("pull", &[&url, "-o", "out"]).0, "►✔✔");
    assert_eq!(said("pull", &[&url, "-o", "out", "-q"]).0, "");
    assert_eq!(said("copy", &[&url, "./copy", "--quiet"]).0, "");
    let missing = fixture.run("pull", &[&fixture.url("none"), "--quiet"]);
    assert!(missing.stderr.contains("was not found"), "{}", missing.stderr);
}

#[test]
fn what_is_built_comes_back() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    let pushed = fixture.printed("push", &[&url, "-k", "both", "--source", "s", "--revision", "r"]);
    let name = format!("{}/org/app@sha256:", fixture.server.address());
    assert!(pushed.starts_with(&name), "{pushed}");
    let text = format!("{}---\n{}", config_map("a"), config_map("b"));
    assert_eq!(fixture.printed("pull", &[&url]), text);

    fixture.scratch.write("out/old", "");
    fixture.printed("pull", &[&url, "-o", "out"]);
    assert_eq!(fixture.scratch.names("out"), ["all.yaml", "old"]);
    assert_eq!(fixture.scratch.read("out/all.yaml"), text);
    let error = fixture.refusal("pull", &[&url, "-o", "missing"]);
    assert!(error.contains("missing"), "{error}");

    // Built again from what was pushed, and patched.
    let patch = "patches:\n- target: {name: a}\n  patch: |-\n    - op: add\n      path: /data\n      value: {k: v}\n";
    fixture.scratch.write("patch.yaml", patch);
    let patched = fixture.url("v2");
    fixture.printed("push", &[&patched, "-a", &url, "-p", "patch.yaml", "--format", "oci"]);
    assert!(fixture.printed("pull", &[&patched]).contains("  k: v\n"));
}

#[test]
fn programs_are_told_where_it_went() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    let outcome = fixture.run("push", &[&url, "-f", "a/map.yaml", "-o", "json"]);
    assert_eq!(outcome.stderr, "", "no conversation");
    let pushed: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    let name = format!("{}/org/app", fixture.server.address());
    let digest = pushed["digest"].as_str().expect("a digest");
    assert_eq!(pushed["tag"], "v1");
    assert_eq!(pushed["repository"], name);
    assert_eq!(pushed["url"], format!("oci://{name}@{digest}"));
    let yaml = fixture.printed("push", &[&url, "-f", "a/map.yaml", "-o", "yaml", "--reproducible"]);
    assert!(yaml.contains("tag: v1\n"), "{yaml}");
}

#[test]
fn a_directory_goes_as_it_is() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    let said = fixture.scratch.flumen(&["push", "artifact", &url, "--path", "both"]);
    assert_eq!((said.status, said.stderr.as_str()), (Some(1), "✗ --source is required\n"));
    let from = ["--source", "https://git.example.com/a.git", "--revision", "main@sha1:abc"];
    fixture.printed("push", &[&[url.as_str(), "--path", "a"][..], &from].concat());
    fixture.scratch.write("out/old", "");
    let outcome = fixture.run("pull", &[&url, "-o", "out"]);
    assert!(outcome.stderr.contains("✔ revision main@sha1:abc"), "{}", outcome.stderr);
    assert_eq!(fixture.scratch.names("out"), ["kustomization.yaml", "map.yaml", "old"]);

    fixture.printed("diff", &[&url, "--path", "a"]);
    let error = fixture.refusal("diff", &[&url, "--path", "b"]);
    assert!(error.contains("the remote artifact contents differs from the local one"), "{error}");
    assert!(error.contains("map.yaml: differs"), "{error}");
}

#[test]
fn acceptance_46_an_artifact_is_shown() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    fixture.scratch.write(
        "web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: n}\nspec: {template: {spec: {containers: \
         [{name: c, image: 'registry.example.com/web:1'}]}}}\n",
    );
    fixture.printed("push", &[&url, "-f", "web.yaml", "-f", "a/map.yaml"]);
    let shown = fixture.printed("inspect", &[&url]);
    for line in ["Artifact:   oci://", "Built by:   ", "Created:    ", "Checksum:   "] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let objects = "Objects:\n- ConfigMap/a\n- Deployment/n/web\n  - registry.example.com/web:1\n";
    assert!(shown.ends_with(objects), "{shown}");
    assert_eq!(
        fixture.printed("inspect", &[&url, "--container-images"]),
        "registry.example.com/web:1\n"
    );
    let json: Value =
        serde_json::from_str(&fixture.printed("inspect", &[&url, "-o", "json"])).expect("JSON");
    assert_eq!(json["objects"][1]["images"][0], "registry.example.com/web:1");
    assert_eq!(json["layout"], "kustomizer");
}

#[test]
fn acceptance_48_two_tags_are_compared() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.url("v1"), fixture.url("v2"));
    fixture.printed("push", &[&first, "-k", "a"]);
    fixture.printed("push", &[&second, "-k", "b"]);
    assert_eq!(fixture.printed("diff", &[&first, &first]), "");
    let outcome = fixture.run("diff", &[&first, &second]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), ""));
    let expected = format!(
        "--- {first}\n+++ {second}\n@@ -1,4 +1,4 @@\n apiVersion: v1\n kind: ConfigMap\n metadata:\n-  name: a\n+  name: b\n"
    );
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected);
}

#[test]
fn the_standard_input_is_pushed_up_to_a_limit() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    fixture.scratch.write("input.yaml", &config_map("a"));
    let push = |limit: usize| {
        let limit = limit.to_string();
        let tree = ["--path", "-", "--source", "s", "--revision", "r", "--max-size", &limit];
        let output = Command::new(binary())
            .args(["push", "artifact", &url, "--insecure-registry"])
            .args(tree)
            .stdin(File::open(fixture.scratch.path().join("input.yaml")).expect("a file"))
            .output()
            .expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let size = config_map("a").len();
    let (is_pushed, said) = push(size - 1);
    assert!(!is_pushed && said.contains("the standard input is larger than"), "{said}");
    assert!(said.contains("--max-size"), "{said}");
    let (is_pushed, said) = push(size);
    assert!(is_pushed, "{said}");
    assert_eq!(fixture.printed("pull", &[&url]).trim_end(), config_map("a").trim_end());
}

#[test]
fn mistakes_are_told_before_anything_is_pushed() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    fixture.scratch.write("empty/readme.md", "");
    let error = fixture.refusal("push", &[&url, "-f", "empty"]);
    assert!(error.contains("no Kubernetes objects"), "{error}");
    let error = fixture.refusal("push", &[&url, "-k", "missing"]);
    assert!(error.contains("kustomize build failed: "), "{error}");
    fixture.scratch.write("twice.yaml", &config_map("a"));
    let error = fixture.refusal("push", &[&url, "-f", "a/map.yaml", "-f", "twice.yaml"]);
    assert!(error.contains("comes from a/map.yaml:1:1 and from twice.yaml:1:1"), "{error}");
    let pinned = format!("oci://{}/org/app@sha256:{}", fixture.server.address(), "0".repeat(64));
    let error = fixture.refusal("push", &[&pinned, "-k", "a"]);
    assert!(error.contains("hint: name a tag"), "{error}");
    fixture.refusal("pull", &[&url]);
}

#[test]
fn keys_open_what_is_encrypted_and_vouch_for_what_is_signed() {
    let fixture = Fixture::new();
    let url = fixture.url("v1");
    fixture.scratch.write("team.txt", "age1nothing\n");
    let error = fixture.refusal("push", &[&url, "-k", "a", "--age-recipients", "team.txt"]);
    assert!(error.contains("team.txt: no age recipient on line 1"), "{error}");
    // A key pair as `age-keygen` writes it.
    let public = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p\n";
    fixture.scratch.write("team.txt", public);
    fixture.printed("push", &[&url, "-k", "a", "--age-recipients", "team.txt"]);
    let error = fixture.refusal("pull", &[&url]);
    assert!(error.contains("you need to supply a private key for decryption"), "{error}");
    assert!(error.contains("--age-identities"), "{error}");

    let made = fixture.scratch.flumen(&["sign", "generate-key-pair"]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let signed = fixture.url("signed");
    fixture.printed("push", &[&signed, "-k", "a", "--sign", "--cosign-key", "cosign.key"]);
    assert_eq!(fixture.printed("pull", &[&signed, "--key", "cosign.pub"]), config_map("a"));
    let unsigned = fixture.url("unsigned");
    fixture.printed("push", &[&unsigned, "-k", "b"]);
    let error = fixture.refusal("pull", &[&unsigned, "--key", "cosign.pub"]);
    assert!(error.contains("no signatures found"), "{error}");
}
