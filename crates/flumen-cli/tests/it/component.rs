//! Components as their users meet them: files in, artifacts out.

use std::collections::BTreeMap;

use flumen_oci::{
    Repository,
    artifact::{Format, Metadata, pack_yaml},
    client::{ClientOptions, Registry},
};
use flumen_registry::{Options, Server};
use flumen_testkit::repository_root;

use crate::{Scratch, config_map, copy_tree};

/// A component file with one config map.
fn inline(name: &str) -> String {
    format!(
        "name = \"{name}\"\ntype = \"kubernetes_manifest\"\nnamespace = \"default\"\n\
         manifest = '''\n{}'''\n",
        config_map(name)
    )
}

fn scratch(names: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    for name in names {
        scratch.write(&format!("components/{name}.toml"), &inline(name));
    }
    scratch
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).expect("JSON")
}

#[test]
fn components_are_listed() {
    let scratch = scratch(&["a", "b"]);
    scratch.check(
        &["component", "list"],
        "NAME  SOURCE  NAMESPACE  DEPENDENCIES\na     inline  default\nb     inline  default\n",
    );
    scratch.check(&["component", "list", "b", "-o", "name"], "b\n");
    let listed = json(&scratch.flumen(&["component", "list", "-o", "json"]).stdout);
    assert_eq!(listed[1]["file"], "components/b.toml");
    scratch.check_refused(&["component", "list", "c"], 1, &["no component `c`"]);
    scratch.check_refused(&["component", "list", "-d", "nowhere"], 1, &["nowhere", "-d DIR"]);
}

#[test]
fn a_component_is_shown_as_understood() {
    let scratch = scratch(&["a"]);
    let shown = scratch.flumen(&["component", "show", "a", "-o", "json"]);
    let shown = json(&shown.stdout);
    assert_eq!(shown["source_type"], "inline");
    assert!(shown["checksum"].as_str().is_some_and(|text| text.starts_with("sha256:")));
    let yaml = scratch.flumen(&["component", "show", "a"]);
    assert!(String::from_utf8_lossy(&yaml.stdout).contains("source_type: inline\n"));
}

#[test]
fn mistakes_have_a_place_and_a_hint() {
    let scratch = scratch(&["a"]);
    scratch.write("components/b.toml", "name = \"b\"\nnamspace = \"x\"\n");
    scratch.write("components/c.json", "{\"name\": \"c\",\n \"type\": \"kubernetes_manifest\"}");
    scratch.check_refused(
        &["component", "validate"],
        1,
        &[
            "components/b.toml:2:1: unknown key `namspace`",
            "hint: did you mean `namespace`?",
            "components/c.json:1:1: namespace is required",
        ],
    );
    let outcome = scratch.flumen(&["component", "validate", "a"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), "a is valid\n"));
}

#[test]
fn one_failing_build_does_not_hide_the_others() {
    let scratch = scratch(&["a"]);
    scratch.write("components/bad.toml", &inline("bad").replace("  name: bad", "  other: x"));
    let outcome = scratch.flumen(&["component", "build", "-o", "json"]);
    assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
    let built = json(&outcome.stdout);
    assert_eq!((&built[0]["component"], &built[0]["status"]), (&"a".into(), &"finished".into()));
    assert_eq!((&built[1]["component"], &built[1]["status"]), (&"bad".into(), &"failed".into()));
    assert_eq!(built[0]["outputs"]["image"]["tag"], built[0]["build_id"]);
    for word in ["a: finished", "document 1", "while building `bad`", "components/bad.toml"] {
        assert!(outcome.stderr.contains(word), "{word} in {}", outcome.stderr);
    }
}

#[test]
fn a_second_build_says_that_nothing_changed() {
    let scratch = scratch(&["a"]);
    let first = json(&scratch.flumen(&["component", "build", "-o", "json"]).stdout);
    let outcome = scratch.flumen(&["component", "build", "-o", "json"]);
    assert!(outcome.stderr.contains("inputs have not changed"), "{}", outcome.stderr);
    assert_eq!(json(&outcome.stdout)[0]["digest"], first[0]["digest"]);
    let forced = scratch.flumen(&["component", "build", "--no-cache"]);
    assert!(!forced.stderr.contains("inputs have not changed"), "{}", forced.stderr);
}

#[test]
fn old_builds_are_pruned() {
    let scratch = scratch(&["a"]);
    let first = json(&scratch.flumen(&["component", "build", "-o", "json"]).stdout);
    let id = format!("{}\n", first[0]["build_id"].as_str().expect("an id"));
    scratch.check(&["cache", "prune"], "");
    scratch.check(&["cache", "prune", "--all", "--dry-run"], &id);
    scratch.check(&["cache", "prune", "--all"], &id);
    scratch.check(&["cache", "prune", "--all"], "");
}

#[test]
fn there_is_nothing_to_sync_before_a_build() {
    let scratch = scratch(&["a"]);
    scratch.check_refused(
        &["component", "sync", "a", "--to", "oci://registry.example.com/a"],
        1,
        &["OCI artifact not found on install deploy - sync job may not have completed"],
    );
}

/// The commands of `examples/delivery` that need a registry.
#[test]
fn the_delivery_example_goes_through_a_registry() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let data = tempfile::tempdir().expect("scratch directory");
    let server = runtime.block_on(Server::start(Options::new(data.path()))).expect("a registry");
    let host = server.address().to_string();

    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let policies =
        Registry::new(&host, &options).expect("a registry").repository("platform/policies");
    let metadata = Metadata {
        source: String::new(),
        revision: String::new(),
        created: jiff::Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_yaml(config_map("policies").as_bytes(), Format::Kustomizer, &metadata);
    let (packed, policies) = (packed.expect("packed"), Repository::Remote(policies));
    let digest = runtime.block_on(packed.push(&policies, Some("v1"))).expect("pushed");

    let scratch = Scratch::new();
    copy_tree(&repository_root().join("examples/delivery"), &scratch.path());
    let file = "components/policies.toml";
    scratch.write(file, &scratch.read(file).replace("registry.example.com", &host));

    let to = format!("oci://{host}/shop/artifacts");
    let build = ["component", "build", "--to", &to, "--insecure-registry", "-o", "json"];
    let outcome = scratch.flumen(&build);
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    let built = json(&outcome.stdout);
    let sources: Vec<_> = (0..3).map(|index| &built[index]["source_type"]).collect();
    assert_eq!(sources, ["oci_artifact", "inline", "kustomize"]);
    assert_eq!(built[0]["digest"], digest.to_string());
    assert_eq!(built[2]["repository"], to);

    let install = format!("oci://{host}/install/web");
    let sync = ["component", "sync", "web", "--to", &install, "--insecure-registry", "-o", "json"];
    let outcome = scratch.flumen(&sync);
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert_eq!(json(&outcome.stdout)[0]["digest"], built[2]["digest"]);
    runtime.block_on(server.shutdown());
}

/// Ctrl-C while a registry keeps a build waiting.
#[cfg(unix)]
#[test]
fn an_interrupted_build_cleans_up_and_says_so() {
    use std::{
        net::TcpListener,
        process::{Command, Stdio},
    };

    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    let scratch = Scratch::new();
    scratch.write(
        "components/c.toml",
        &format!(
            "name = \"c\"\ntype = \"kubernetes_manifest\"\nnamespace = \"default\"\n\
             oci_artifact.url = \"oci://{address}/app\"\n"
        ),
    );
    let child = Command::new(crate::binary())
        .args(["component", "build", "--insecure-registry", "-o", "json"])
        .current_dir(scratch.path())
        .env_clear()
        .env("HOME", scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The build is waiting for an answer now.
    let connection = silent.accept().expect("a connection");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    drop(connection);

    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(&output.stdout)[0]["status"], "cancelled");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the job was cancelled"), "{said}");
    assert!(scratch.names(".local/state/flumen/workspaces").is_empty());
}
