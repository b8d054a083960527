//! The cases of Flux's builds that some checkouts have beside them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_api::SubstituteKind;
use flumen_build::flux::{
    ARTIFACT_ROOT, BuildError, Built, Lookup, Request, Stage, Variables, build, set_common_metadata,
};
use flumen_diff::normalize;
use flumen_fs::{DiskTree, Tree};
use flumen_object::set_label;
use flumen_yaml::to_json;
use serde_json::Value;

use super::{ROOT, artifact, spec};

#[test]
fn builds_are_those_of_flux() {
    check_cases("corpus/flux/build.jsonl", |case, _| {
        let files = case["input"]["files"].as_object().expect("files");
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str().expect("text")));
        (artifact(files), PathBuf::from(ROOT))
    });
}

#[test]
fn builds_of_repositories_are_those_of_flux() {
    check_cases("corpus/flux/build-repos.jsonl", |case, shared| {
        let repository = case["input"]["repo"].as_str().expect("a repository");
        let root = shared.join("corpus/flux/repos").join(repository);
        (Arc::new(DiskTree), fs::canonicalize(root).expect("a directory"))
    });
}

fn check_cases(file: &str, artifact_of: impl Fn(&Value, &Path) -> (Arc<dyn Tree>, PathBuf)) {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("builds of Flux", "no `../shared` beside the checkout");
        return;
    };
    let cases = fs::read_to_string(shared.join(file)).expect("the corpus has the file");
    assert!(cases.lines().count() > 0);
    let mut faults = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let (tree, root) = artifact_of(&case, &shared);
        if let Err(fault) = check(&case, &tree, &root) {
            faults.push(format!("{}: {fault}", case["id"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn check(case: &Value, tree: &Arc<dyn Tree>, root: &Path) -> Result<(), String> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let spec = spec(&input["kustomization"]["spec"]);
    let variables = variables(&input["cluster"]);
    let strict = input["strict"] != false;
    let request = Request { root, spec: &spec, variables: &variables, strict, remotes: None };
    let shown = |text: &str| text.replace(ARTIFACT_ROOT, "<root>");
    match (build(tree, &request), expect["error"].as_str()) {
        (Ok(built), None) => {
            let path = built.kustomization.path.display().to_string();
            let action = if built.kustomization.created { "created" } else { "unchanged" };
            same("action", action, &expect["action"])?;
            same("kfile", &shown(&path), &expect["kfile"])?;
            same("generated", &built.kustomization.text, &expect["generated"])?;
            same("yaml", &built.yaml, &expect["yaml"])?;
            same("digest", &built.digest, &expect["digest"])?;
            same_objects(built, &input["kustomization"], expect)
        }
        (Err(error), Some(expected)) => {
            same_error(&error, &shown(&error.to_string()), expect, expected)
        }
        (Ok(built), Some(expected)) => Err(format!("built {}, expected {expected}", built.yaml)),
        (Err(error), None) => Err(format!("failed: {error}")),
    }
}

fn same(what: &str, found: &str, expected: &Value) -> Result<(), String> {
    if *expected == *found {
        return Ok(());
    }
    let expected = expected.as_str().unwrap_or_default();
    Err(format!("{what}:\n{found}\nexpected:\n{expected}"))
}

/// The words of the engine for mistakes in a build are its own, those of all other stages Flux's.
fn same_error(
    error: &BuildError,
    shown: &str,
    expect: &Value,
    expected: &str,
) -> Result<(), String> {
    let stage = match error.stage {
        Stage::Path => "path",
        Stage::Generate => "generate",
        Stage::Build | Stage::Decrypt | Stage::Decode => "build",
        Stage::Substitute => "postBuild",
    };
    same("stage", stage, &expect["stage"])?;
    if error.stage == Stage::Build {
        return match shown.strip_prefix("kustomize build failed: ") {
            Some(_) => Ok(()),
            None => Err(format!("no prefix: {shown}")),
        };
    }
    if expected == "*" { Ok(()) } else { same("error", shown, &Value::from(expected)) }
}

/// The objects as they are sent, with the labels of the owner.
fn same_objects(built: Built, kustomization: &Value, expect: &Value) -> Result<(), String> {
    let metadata = spec(&kustomization["spec"]).common_metadata.unwrap_or_default();
    let mut found = Vec::new();
    for mut object in built.objects {
        for key in ["name", "namespace"] {
            let value = kustomization["metadata"][key].as_str().expect("metadata");
            set_label(&mut object.node, format!("kustomize.toolkit.fluxcd.io/{key}"), value);
        }
        normalize(&mut object.node);
        set_common_metadata(&mut object.node, &metadata);
        let json = to_json(&object.node).map_err(|error| error.to_string())?;
        found.push(serde_json::from_str::<Value>(&json).expect("JSON"));
    }
    if found == expect["objects"].as_array().map_or(&[][..], Vec::as_slice) {
        return Ok(());
    }
    let found = Value::Array(found);
    Err(format!("objects:\n{found:#}\nexpected:\n{:#}", expect["objects"]))
}

fn variables(cluster: &Value) -> Variables {
    let mut variables = Variables::default();
    for (kind, key) in
        [(SubstituteKind::ConfigMap, "ConfigMap"), (SubstituteKind::Secret, "Secret")]
    {
        for (name, data) in cluster[key].as_object().into_iter().flatten() {
            let data = serde_json::from_value(data.clone()).expect("texts");
            variables.insert(kind, name, Lookup::Found(data));
        }
    }
    variables
}
