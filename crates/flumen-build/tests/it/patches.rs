//! Patch files in their three forms.

use std::path::Path;

use flumen_build::{Error, Inputs, Options, build};

use crate::{paths, text, tree};

const SETTINGS: &str =
    "# first\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  log: start\n";

/// The build of one `ConfigMap` under patch files.
fn patched(patches: &[(&str, &str)], extra: &[(&str, &str)]) -> Result<String, Error> {
    let mut files = vec![("/src/settings.yaml", SETTINGS)];
    files.extend_from_slice(patches);
    files.extend_from_slice(extra);
    let inputs = Inputs {
        files: paths(&["/src/settings.yaml"]),
        patches: patches.iter().map(|(path, _)| path.into()).collect(),
        ..Inputs::default()
    };
    text(&files, &inputs)
}

#[track_caller]
fn check(patch: &str, expected: &str) {
    let built = patched(&[("/src/p/patch.yaml", patch)], &[]).expect("patched");
    assert!(built.contains(expected), "{built}");
}

#[track_caller]
fn check_refused(patch: &str, line: u32, expected: &str) {
    let error = patched(&[("/src/p/patch.yaml", patch)], &[]).expect_err("refused");
    let message = error.to_string();
    assert!(message.starts_with("kustomize build failed: "), "{message}");
    assert!(message.contains(expected), "{message}");
    let (file, pos) = error.location().expect("a place");
    assert_eq!((file, pos.line), (Path::new("/src/p/patch.yaml"), line), "{message}");
}

const MERGE: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {log: merged}\n";
const JSON: &str = "target: {kind: ConfigMap}\npatch:\n- {op: test, path: /data/log, value: merged}\n\
                    - {op: replace, path: /data/log, value: json}\n";
const KUSTOMIZATION: &str = "patches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - op: test\n      path: /data/log\n\
                             \x20     value: json\n    - op: add\n      path: /data/last\n      value: kustomization\n";

#[test]
fn acceptance_06_patches_of_all_forms_show_in_order() {
    // Each of the later ones tests that the one before has been there.
    let built = patched(
        &[("/src/p/1.yaml", MERGE), ("/src/p/2.yaml", JSON), ("/src/p/3.yaml", KUSTOMIZATION)],
        &[],
    )
    .expect("patched");
    assert!(built.contains("log: json\n"), "{built}");
    assert!(built.contains("last: kustomization\n"), "{built}");
    patched(&[("/src/p/2.yaml", JSON), ("/src/p/1.yaml", MERGE)], &[]).expect_err("wrong order");
}

#[test]
fn json_patches_have_several_spellings() {
    let operation = "op: replace, path: /data/log, value: json";
    check(&format!("- {{target: {{kind: ConfigMap}}, {operation}}}\n"), "log: json\n");
    check(&format!("- target: {{kind: ConfigMap}}\n- {{{operation}}}\n"), "log: json\n");
    check(&format!("- target: {{kind: ConfigMap}}\n  patch: '- {{{operation}}}'\n"), "log: json\n");
    check_refused(&format!("- {{{operation}}}\n"), 1, "no `target`");
    check_refused("target: {kind: ConfigMap}\n", 1, "no operations");
}

#[test]
fn honoured_fields_of_a_kustomization_have_effect() {
    check("namePrefix: p-\nnameSuffix: -s\n", "name: p-settings-s\n");
    check("namespace: web\n", "namespace: web\n");
    check("commonLabels: {a: b}\n", "a: b\n");
    check("commonAnnotations: {a: b}\n", "a: b\n");
    check("{\"namePrefix\": \"p-\"}\n", "name: p-settings\n");
}

#[test]
fn other_fields_have_no_effect_and_say_so() {
    let files = [
        ("/settings.yaml", SETTINGS),
        (
            "/patch.yaml",
            "resources:\n- missing.yaml\nnamePrefix: p-\nreplicas:\n- {name: a, count: 3}\n",
        ),
    ];
    let inputs = Inputs {
        files: paths(&["/settings.yaml"]),
        patches: paths(&["/patch.yaml"]),
        ..Inputs::default()
    };
    let built = build(tree(&files), &inputs, &Options::default()).expect("patched");
    assert_eq!(
        built.warnings,
        [
            "/patch.yaml: `resources` has no effect in a patch file",
            "/patch.yaml: `replicas` has no effect in a patch file"
        ]
    );
    let object = built.objects.iter().next().expect("one");
    assert_eq!(object.id().name, *"p-settings");
    assert_eq!(object.origin.to_string(), "/settings.yaml:2:1", "the origin survives patches");
}

#[test]
fn mistakes_are_found_in_the_file_of_the_user() {
    check_refused("kind: Kustomization\n\npatches: []\n", 3, "no patches found");
    check_refused("", 1, "no patches found");
    check_refused("kind: Kustomization\n", 1, "no patches found");
    check_refused("text\n", 1, "this is no patch");
    check_refused("namePrefix: p-\npatches:\n- path: missing.yaml\n", 3, "missing.yaml");
    let misses = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n";
    let error = patched(&[("/src/p/patch.yaml", misses)], &[]).expect_err("no such object");
    assert!(error.to_string().contains("no matches for Id"), "{error}");
}

#[test]
fn files_of_a_patch_come_from_the_source_tree_within_bounds() {
    let patch = "patches:\n- path: merge.yaml\n";
    let built = patched(&[("/src/p/patch.yaml", patch)], &[("/src/p/merge.yaml", MERGE)]);
    assert!(built.expect("patched").contains("log: merged\n"));

    let patch = "patches:\n- path: ../merge.yaml\n";
    let error = patched(&[("/src/p/patch.yaml", patch)], &[("/src/merge.yaml", MERGE)])
        .expect_err("outside");
    assert!(error.to_string().contains("is not in or below"), "{error}");
}

#[test]
fn a_kustomization_beside_the_patch_is_not_meant() {
    let built = patched(
        &[("/src/p/patch.yaml", MERGE)],
        &[("/src/p/kustomization.yaml", "namePrefix: x-\n"), ("/src/p/Kustomization", "x")],
    );
    assert!(built.expect("patched").contains("name: settings\n"));
}
