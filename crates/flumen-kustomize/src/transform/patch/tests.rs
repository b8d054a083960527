//! Answers were recorded from kustomize.

use flumen_yaml::Pos;

use super::*;
use crate::{
    build_annotations,
    kustomization::fields::Selector,
    transform::stage::{on_stage, printed, resources},
};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
const RENAMED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: p-web\n  \
    annotations:\n    internal.config.kubernetes.io/previousNames: web\n    \
    internal.config.kubernetes.io/previousNamespaces: default\n    \
    internal.config.kubernetes.io/previousKinds: Deployment\n";

fn entry(patch: &str) -> Patch {
    Patch {
        patch: patch.into(),
        pos: Pos::new(2, 3),
        patch_pos: Pos::new(3, 5),
        ..Patch::default()
    }
}

fn targeted(patch: &str) -> Patch {
    let target = Selector { kind: "Deployment".into(), name: "web".into(), ..Selector::default() };
    Patch { target: Some(target), ..entry(patch) }
}

fn run(
    manifests: &str,
    apply: impl FnOnce(&mut ResMap, &Scene<'_>) -> Result<()>,
) -> Result<ResMap> {
    let mut resources = resources(manifests);
    resources.resources_mut().iter_mut().for_each(build_annotations::absorb);
    let files: [(&str, &[u8]); 2] =
        [("empty.yaml", b"# nothing\n"), ("spec.yaml", b"- {op: add, path: /spec, value: 1}\n")];
    on_stage(&files, |scene| apply(&mut resources, scene))?;
    Ok(resources)
}

/// Checks what an entry of `patches` makes of a manifest, below the lines that always stay.
#[track_caller]
fn check(manifest: &str, entry: &Patch, expected: &str) {
    let resources = run(manifest, |resources, scene| transform(resources, entry, scene));
    let printed = printed(&resources.expect("the patch applies"));
    let rest = printed.strip_prefix("apiVersion: apps/v1\nkind: Deployment\n").unwrap_or(&printed);
    assert_eq!(rest, expected);
}

/// Checks the message and the hint of an entry of `patches` that fails.
#[track_caller]
fn check_error(entry: &Patch, expected: &str, hint: &str) {
    let error = run(WEB, |resources, scene| transform(resources, entry, scene));
    let error = error.expect_err("the patch is wrong");
    assert!(error.to_string().contains(expected), "{error}");
    assert!(error.hint_text().unwrap_or_default().contains(hint), "{:?}", error.hint_text());
}

#[test]
fn a_merge_finds_its_target_by_any_id_it_had() {
    let patch = format!("{WEB}spec: {{replicas: 2}}\n");
    check(WEB, &entry(&patch), "metadata:\n  name: web\nspec:\n  replicas: 2\n");
    check(RENAMED, &entry(&patch), "metadata:\n  name: p-web\nspec:\n  replicas: 2\n");
}

#[test]
fn a_merge_changes_names_and_kinds_only_if_it_may() {
    let patch = "kind: StatefulSet\nmetadata: {name: new, namespace: other}\nspec: {a: b}\n";
    check(WEB, &targeted(patch), "metadata:\n  name: web\nspec:\n  a: b\n");
    let free = Patch { allow_name_change: true, allow_kind_change: true, ..targeted(patch) };
    let changed = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: new\nspec:\n  a: b\n";
    check(WEB, &free, changed);
}

#[test]
fn a_selected_target_makes_strings_of_labels() {
    let manifest = format!("{WEB}  labels: {{a: x}}\n");
    let patch = format!("{WEB}  labels: {{a: null, b: 5}}\n");
    check(&manifest, &entry(&patch), "metadata:\n  labels:\n    b: 5\n  name: web\n");
    let strings = "metadata:\n  labels:\n    a: \"null\"\n    b: \"5\"\n  name: web\n";
    check(&manifest, &targeted(&patch), strings);
}

#[test]
fn a_deleted_resource_is_gone() {
    let other = format!("{WEB}---\n{}", WEB.replace("web", "db"));
    check(&other, &entry(&format!("{WEB}$patch: delete\n")), "metadata:\n  name: db\n");
}

#[test]
fn removing_all_annotations_removes_the_history() {
    let history = |patch: &str| {
        let entry = entry(patch);
        let resources = run(RENAMED, |resources, scene| transform(resources, &entry, scene));
        let resources = resources.expect("the patch applies");
        resources.iter().map(|resource| resource.previous().len()).sum::<usize>()
    };
    assert_eq!(history(&format!("{WEB}  annotations: null\n")), 0);
    assert_eq!(history(&format!("{WEB}  annotations: {{$patch: replace, a: b}}\n")), 0);
    assert_eq!(history(&format!("{WEB}  annotations: {{a: b}}\n")), 1);
}

#[test]
fn a_json_patch_always_finds_annotations() {
    let add = "- {op: add, path: /metadata/annotations/q, value: 7}\n";
    check(WEB, &targeted(add), "metadata:\n  annotations:\n    q: \"7\"\n  name: web\n");
    let remove = "- {op: remove, path: /metadata/annotations}\n";
    check(RENAMED, &targeted(remove), "metadata:\n  name: p-web\n");
}

#[test]
fn a_json_patch_can_copy_the_memory_of_the_build() {
    let copy = "- {op: copy, from: /metadata/annotations, path: /spec}\n";
    let expected = "metadata:\n  name: web\nspec:\n  \
        internal.config.kubernetes.io/previousKinds: Deployment\n  \
        internal.config.kubernetes.io/previousNames: web\n  \
        internal.config.kubernetes.io/previousNamespaces: default\n";
    check(WEB, &targeted(copy), expected);
}

#[test]
fn values_of_json_patches_are_yaml_1_1() {
    let patch = "- {op: add, path: /spec, value: {a: yes, b: 2020-01-01, c: 'no'}}\n";
    let expected = "metadata:\n  name: web\nspec:\n  a: true\n  b: \"2020-01-01\"\n  c: \"no\"\n";
    check(WEB, &targeted(patch), expected);
}

#[test]
fn patches_without_content_change_nothing() {
    for patch in ["# nothing", "null", "[]"] {
        check(WEB, &entry(patch), "metadata:\n  name: web\n");
    }
    let file = Patch { path: "empty.yaml".into(), ..Patch::default() };
    check(WEB, &file, "metadata:\n  name: web\n");
}

#[test]
fn mistakes_are_named() {
    check_error(&entry(""), "must specify one of patch and path in", "");
    let both = Patch { path: "empty.yaml".into(), ..entry(WEB) };
    check_error(&both, "patch and path can't be set at the same time", "");
    check_error(
        &entry("a: b"),
        "unable to parse SM or JSON patch from [patch: \"a: b\"]",
        "missing",
    );
    check_error(
        &targeted("[{op: add, path: /spec, value: 1}]"),
        "unable to parse SM or JSON patch from",
        "not valid JSON",
    );
    check_error(
        &entry("- {op: add, path: /spec, value: 1}"),
        "must specify a target for JSON patch [patch: ",
        "add `target`",
    );
    check_error(
        &targeted(&format!("{WEB}---\n{WEB}")),
        "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set \
         `patches.target` field",
        "an entry of its own",
    );
    check_error(
        &entry("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
        "no resource matches strategic merge patch \"Service.v1.[noGrp]/web.[noNs]\": no matches for \
         Id Service.v1.[noGrp]/web.[noNs]; failed to find unique target for patch \
         Service.v1.[noGrp]/web.[noNs]",
        "objects of that name: Deployment.v1.apps/web.[noNs]",
    );
    check_error(
        &targeted("- {op: remove, path: /spec/no}"),
        "remove operation does not apply",
        "while patching Deployment.v1.apps/web.[noNs]",
    );
}

#[test]
fn an_entry_of_patches_strategic_merge_may_be_the_patch() {
    let inline = Located { text: format!("{WEB}spec: {{a: b}}\n").into(), pos: Pos::new(1, 1) };
    let result = run(WEB, |resources, scene| strategic_merge_files(resources, &[inline], scene));
    assert!(printed(&result.expect("it applies")).ends_with("spec:\n  a: b\n"));
    let file = Located { text: "no.yaml".into(), pos: Pos::new(1, 1) };
    let result = run(WEB, |resources, scene| strategic_merge_files(resources, &[file], scene));
    assert!(result.expect_err("there is no such file").to_string().contains("no.yaml"));
}

#[test]
fn an_entry_of_patches_json6902_sees_annotations_only_if_there_are_some() {
    let add = "- {op: add, path: /metadata/annotations/q, value: 7}\n";
    let run = |manifest, entry: &Patch| {
        run(manifest, |resources, scene| json6902(resources, entry, scene)).map(|map| printed(&map))
    };
    let error = run(WEB, &targeted(add)).expect_err("there are no annotations");
    assert!(error.to_string().contains("add operation does not apply"), "{error}");
    let patched = run(RENAMED, &targeted(add)).expect("there are some");
    assert!(patched.contains("q: \"7\""), "{patched}");
    let file = Patch { path: "spec.yaml".into(), patch: Text::default(), ..targeted("") };
    assert!(run(WEB, &file).expect("the file is good").ends_with("spec: 1\n"));
    let nameless = run(WEB, &entry(add)).expect_err("there is no target");
    assert_eq!(nameless.to_string(), "must specify the target name");
}
