//! The kustomization file that is used: found or generated, with the fields of the specification.

use flumen_build::flux::{Stage, Variables};
use serde_json::{Value, json};

use super::{artifact, build_with, spec};

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// The file without its first lines, or why there is none.
fn used(files: &[(&str, &str)], fields: &Value) -> String {
    let tree = artifact(files.iter().copied());
    match build_with(&tree, &spec(fields), &Variables::default()) {
        Ok(built) => {
            let lines = built.kustomization.text.split_inclusive('\n');
            let rest = lines.filter(|line| {
                *line != "apiVersion: kustomize.config.k8s.io/v1beta1\n"
                    && *line != "kind: Kustomization\n"
            });
            rest.collect()
        }
        Err(error) => format!("! {:?} {error}", error.stage),
    }
}

#[test]
fn directories_are_walked_by_name() {
    let files = [
        ("a/b/m.yml", MANIFEST),
        ("a.yaml", "# nothing\n"),
        (".hidden/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\n"),
        (".yaml", ""),
        ("a-b/kustomization.yml", "resources: []\n"),
        ("a-b/values.yaml", "no: manifest\n"),
        ("a/values.json", "{}"),
    ];
    assert_eq!(
        used(&files, &json!({})),
        "resources:\n- ./.hidden/m.yaml\n- ./.yaml\n- ./a/b/m.yml\n- ./a-b\n- ./a.yaml\n"
    );
    assert_eq!(used(&[("readme.md", "")], &json!({})), "namespace: _placeholder\n");
}

#[test]
fn the_first_file_that_is_no_manifest_is_named() {
    let files = [("a.yaml", MANIFEST), ("b/c.yaml", "image: x\n"), ("b/d.yaml", "a: [\n")];
    let expected = "! Generate failed to decode Kubernetes YAML from /tmp/kustomization-0/b/c.yaml: missing Resource \
                    metadata";
    assert_eq!(used(&files, &json!({})), expected);
    // It comes before other mistakes.
    assert_eq!(used(&files, &json!({"components": ["/a"]})), expected);
    let tree = artifact(files);
    let error = build_with(&tree, &spec(&json!({})), &Variables::default()).expect_err("a mistake");
    assert_eq!(error.stage, Stage::Generate);
    assert!(error.hint().is_some());
}

#[test]
fn a_key_that_stands_twice_is_a_mistake_of_the_build() {
    let files = [("a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\nkind: A\n")];
    assert!(used(&files, &json!({})).starts_with("! Build kustomize build failed: "));
}

#[test]
fn fields_replace_or_follow_those_of_the_file() {
    let kustomization = "namespace: file\nnamePrefix: file-\nresources: [a.yaml]\npatches:\n- target: {kind: A}\n  \
                         patch: '[]'\nbuildMetadata: [managedByLabel]\nunknown: 1\n";
    let files = [("kustomization.yaml", kustomization), ("a.yaml", MANIFEST)];
    let fields = json!({
        "targetNamespace": "spec",
        "nameSuffix": "-spec",
        "patches": [{"patch": "[]", "target": {"kind": "B", "labelSelector": "a=b"}}, {"patch": ""}],
        "buildMetadata": ["transformerAnnotations", "originAnnotations"],
    });
    let text = used(&files, &fields);
    assert!(text.starts_with("! Build "), "an empty patch is none: {text}");
    let fields = json!({
        "targetNamespace": "spec",
        "nameSuffix": "-spec",
        "patches": [{"patch": "[]", "target": {"kind": "B", "labelSelector": "a=b"}}],
        "buildMetadata": ["transformerAnnotations", "originAnnotations"],
    });
    assert_eq!(
        used(&files, &fields),
        "buildMetadata:\n- transformerAnnotations\n- originAnnotations\nnamePrefix: file-\nnameSuffix: \
         -spec\nnamespace: spec\npatches:\n- patch: '[]'\n  target:\n    kind: A\n- patch: '[]'\n  target:\n    \
         kind: B\n    labelSelector: a=b\nresources:\n- a.yaml\n"
    );
}

#[test]
fn images_are_merged_by_name() {
    let kustomization =
        "resources: []\nimages:\n- {name: a, newTag: '1', tagSuffix: -x}\n- {name: b, digest: d}\n";
    let images = json!([
        {"name": "a", "newName": "c"},
        {"name": "b", "newTag": "2"},
        {"name": "d", "newTag": "3", "digest": "e"},
        {"name": "d", "newName": "f"},
    ]);
    assert_eq!(
        used(&[("Kustomization", kustomization)], &json!({"images": images})),
        "buildMetadata:\n- originAnnotations\nimages:\n- name: a\n  newName: c\n  newTag: \"1\"\n  tagSuffix: -x\n- \
         name: b\n  newTag: \"2\"\n- digest: e\n  name: d\n  newName: f\n  newTag: \"3\"\n"
    );
}

#[test]
fn components_must_be_local_and_relative() {
    let files = [("a/m.yaml", MANIFEST)];
    for component in [
        "/c",
        "file:///c",
        "FILE:///c",
        "git::x",
        "gh:x",
        "SSH://x",
        "https://x",
        "http://x",
        "git@x",
        "github.com:x",
        "GitHub.com/x",
    ] {
        assert_eq!(
            used(&files, &json!({"components": [component]})),
            format!("! Generate component path '{component}' must be local and relative")
        );
    }
    let fields =
        json!({"path": "a", "components": ["../c", "gh:"], "ignoreMissingComponents": true});
    assert_eq!(used(&files, &fields), "resources:\n- ./m.yaml\n");
}

#[test]
fn two_kustomization_files_are_one_too_many() {
    let files = [("kustomization.yaml", "resources: []\n"), ("kustomization.yml", "")];
    assert_eq!(
        used(&files, &json!({})),
        "! Build kustomize build failed: Found multiple kustomization files under: /tmp/kustomization-0\n"
    );
}
