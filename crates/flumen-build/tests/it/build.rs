//! Inputs of each kind, and several together.

use std::{path::Path, sync::Arc};

use flumen_build::{Error, Inputs, Options, build};
use flumen_kustomize::Session;

use crate::{paths, text, tree};

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: web:1
";
const SETTINGS: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {a: \"1\"}\n";
const KUSTOMIZATION: &str = "namePrefix: p-\nresources: [web.yaml, settings.yaml]\nconfigMapGenerator:\n- name: gen\n  literals: [x=y]\n";

#[test]
fn acceptance_05_a_kustomize_path_holds_what_kustomize_builds() {
    let files = [
        ("/app/kustomization.yaml", KUSTOMIZATION),
        ("/app/web.yaml", WEB),
        ("/app/settings.yaml", SETTINGS),
    ];
    let reference = Session::new(tree(&files))
        .build(Path::new("/app"), &flumen_kustomize::Options::default())
        .expect("kustomize");
    let mut expected: Vec<String> = reference
        .objects
        .iter()
        .map(|object| {
            let mut text = Vec::new();
            flumen_yaml::emit(&object.node, &mut text).expect("printable");
            String::from_utf8(text).expect("UTF-8")
        })
        .collect();
    let inputs = Inputs { kustomizations: paths(&["/app"]), ..Inputs::default() };
    let built = text(&files, &inputs).expect("built");
    let mut documents: Vec<String> = built.split("---\n").map(str::to_owned).collect();
    expected.sort();
    documents.sort();
    assert_eq!(documents, expected);
    assert!(!built.starts_with("---") && !built.ends_with("---\n"));
}

#[test]
fn inputs_come_together_in_apply_order() {
    let files = [
        ("/k/kustomization.yaml", "resources: [web.yaml]\n"),
        ("/k/web.yaml", WEB),
        ("/f/settings.yaml", SETTINGS),
    ];
    let inputs = Inputs {
        kustomizations: paths(&["/k"]),
        files: paths(&["/f"]),
        documents: vec![(
            "inline".to_owned(),
            b"apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n".to_vec(),
        )],
        patches: Vec::new(),
    };
    let built = build(tree(&files), &inputs, &Options::default()).expect("built");
    let shown: Vec<String> =
        built.objects.iter().map(|object| format!("{} {}", object.id(), object.origin)).collect();
    assert_eq!(
        shown,
        [
            "Namespace/n inline:1:1",
            "ConfigMap/settings /f/settings.yaml:1:1",
            "Deployment/web /k/web.yaml:1:1"
        ]
    );
}

#[test]
fn an_object_that_comes_twice_is_refused_with_both_places() {
    let files = [("/a.yaml", SETTINGS), ("/b.yaml", SETTINGS)];
    let inputs = Inputs { files: paths(&["/a.yaml", "/b.yaml"]), ..Inputs::default() };
    let error = text(&files, &inputs).expect_err("twice");
    assert_eq!(error.to_string(), "ConfigMap/settings comes from /a.yaml:1:1 and from /b.yaml:1:1");
}

#[test]
fn a_failing_kustomization_is_told_with_its_place_and_hint() {
    let files = [("/k/kustomization.yaml", "resources:\n- missing.yaml\n")];
    let inputs = Inputs { kustomizations: paths(&["/k"]), ..Inputs::default() };
    let error = text(&files, &inputs).expect_err("no such file");
    assert!(error.to_string().starts_with("kustomize build failed: "), "{error}");
    let (file, pos) = error.location().expect("a place");
    assert_eq!((file, pos.line), (Path::new("/k/kustomization.yaml"), 2));
}

#[test]
fn acceptance_08_charts_are_refused_with_a_hint() {
    let files =
        [("/k/kustomization.yaml", "helmCharts:\n- name: c\n  repo: https://charts.example.com\n")];
    let inputs = Inputs { kustomizations: paths(&["/k"]), ..Inputs::default() };
    let error = text(&files, &inputs).expect_err("charts");
    assert!(error.to_string().contains("--enable-helm"), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn the_value_of_a_secret_is_in_no_message() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {key: .inf}\n";
    let inputs = Inputs {
        documents: vec![("inline".to_owned(), secret.as_bytes().to_vec())],
        ..Inputs::default()
    };
    let built = build(Arc::new(flumen_fs::MemoryTree::new()), &inputs, &Options::default());
    let error = built.expect("built").to_yaml().expect_err("no number");
    assert!(matches!(error, Error::Unprintable { .. }));
    assert_eq!(error.to_string(), "Secret/s: the value of `data.key` cannot be printed");
}
