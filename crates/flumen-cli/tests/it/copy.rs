//! `flumen copy artifact`, with layouts on disk and the embedded registry.

use std::collections::BTreeMap;

use flumen_oci::{
    Digest, Repository,
    artifact::{Format, Metadata, pack_yaml},
    client::{ClientOptions, Registry},
    layout::Layout,
};
use flumen_testkit::EmbeddedRegistry;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{Scratch, config_map};

/// Packs a manifest and pushes it.
fn push(to: &Repository, tag: &str, yaml: &str) -> Digest {
    let metadata = Metadata {
        source: String::new(),
        revision: String::new(),
        created: jiff::Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_yaml(yaml.as_bytes(), Format::Oci, &metadata).expect("an artifact");
    let pushed = packed.push(to, Some(tag));
    Runtime::new().expect("a runtime").block_on(pushed).expect("pushed")
}

fn layout(scratch: &Scratch, name: &str) -> Repository {
    Repository::Layout(Layout::create(scratch.path().join(name)).expect("a layout"))
}

fn remote(registry: &EmbeddedRegistry, path: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let client = Registry::new(registry.host(), &options).expect("a client");
    Repository::Remote(client.repository(path))
}

#[test]
fn an_artifact_goes_from_layout_to_registry_to_archive() {
    let (scratch, registry) = (Scratch::new(), EmbeddedRegistry::start());
    let digest = push(&layout(&scratch, "source"), "v1", &config_map("app"));
    let url = format!("oci://{}/org/app", registry.host());
    let copy = ["copy", "artifact", "--insecure-registry"];
    scratch.check(&[&copy[..], &["./source", &url]].concat(), &format!("{url}:v1@{digest}\n"));
    let source = format!("{url}:v1");
    let json = scratch.flumen(&[&copy[..], &[&source, "bundle.tar:v2", "-o", "json"]].concat());
    let report: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(report["digest"], digest.to_string());
    assert_eq!((&report["blobsCopied"], &report["source"]), (&2.into(), &source.into()));
    let expected = format!("./back:v2@{digest}\n");
    scratch.check(&[&copy[..], &["bundle.tar", "./back"]].concat(), &expected);
}

#[test]
fn lists_and_whole_repositories_are_copied() {
    let (scratch, registry) = (Scratch::new(), EmbeddedRegistry::start());
    let source = layout(&scratch, "source");
    let [a, b] = ["a", "b"].map(|name| push(&source, name, &config_map(name)));
    let url = format!("oci://{}/org/app", registry.host());
    let all = ["copy", "artifact", "--insecure-registry", "--all-tags", "./source", &url];
    scratch.check(&all, &format!("{url}:a@{a}\n{url}:b@{b}\n"));

    let list = format!("# comment\n\n./source:a ./one\n./source:missing ./two\n{url}:b ./one\n");
    scratch.write("list", &list);
    let outcome =
        scratch.flumen(&["copy", "artifact", "--insecure-registry", "--from-file", "list"]);
    assert_eq!(outcome.status, Some(1));
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    assert_eq!(stdout, format!("./one:a@{a}\n./one:b@{b}\n"));
    for words in ["`./source` has no tag `missing`", "1 of 3 copies failed"] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    scratch.write("list", "./source:a\n");
    let list = ["copy", "artifact", "--from-file", "list"];
    scratch.check_refused(&list, 1, &["a source and a destination", "list:1:1"]);
}

#[test]
fn images_go_along_across_an_air_gap() {
    let (scratch, outside) = (Scratch::new(), EmbeddedRegistry::start());
    let image = push(&remote(&outside, "org/image"), "v1", &config_map("image"));
    let name = format!("{}/org/image:v1", outside.host());
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{{image: '{name}'}}]}}\n"
    );
    let app = push(&remote(&outside, "org/app"), "v1", &pod);
    let url = format!("oci://{}/org/app:v1", outside.host());
    let copy = ["copy", "artifact", "--insecure-registry", "--recursive"];
    let out = [&copy[..], &[&url, "bundle.tar"]].concat();
    scratch.check(&out, &format!("bundle.tar:v1@{app}\n"));
    let lock = scratch.read("images.lock.yaml");
    assert_eq!(
        lock,
        format!("images:\n- copied-to: bundle.tar\n  digest: {image}\n  image: {name}\n")
    );
    drop(outside);

    let inside = EmbeddedRegistry::start();
    let url = format!("oci://{}/apps/app", inside.host());
    let into = [&copy[..], &["bundle.tar", &url, "--lock", "inside.yaml"]].concat();
    scratch.check(&into, &format!("{url}:v1@{app}\n"));
    let copied = format!("oci://{}/org/image:v1", inside.host());
    assert!(scratch.read("inside.yaml").contains(&copied));
    let back = ["copy", "artifact", "--insecure-registry", &copied, "./image"];
    scratch.check(&back, &format!("./image:v1@{image}\n"));
}

#[test]
fn places_that_cannot_be_meant_are_refused() {
    let scratch = Scratch::new();
    push(&layout(&scratch, "source"), "v1", &config_map("app"));
    let copy = |from: &str, to: &str, words: &[&str]| {
        scratch.check_refused(&["copy", "artifact", from, to], 1, words);
    };
    copy("./source", "./a", &["neither empty nor an OCI layout"]);
    copy("./source:v2", "./new", &["`./source` has no tag `v2`"]);
    copy("./missing", "./new", &["not an OCI layout"]);
    let digest = format!("./new@{}", Digest::of(b""));
    copy("./source", &digest, &["a destination has no digest"]);
    let bare = ["copy", "artifact", "./source", "host/app"];
    scratch.check_refused(&bare, 1, &["neither on a registry nor on disk"]);
    let both =
        ["copy", "artifact", "--creds", "a:secret", "oci://a.example/x", "oci://b.example/x"];
    let stderr = scratch.check_refused(&both, 1, &["`--creds` would go to both", "--source-creds"]);
    assert!(!stderr.contains("secret"));
}
