//! Variables: where they come from, and what is said when they are wrong.

use std::path::Path;

use flumen_api::SubstituteKind;
use flumen_build::flux::{Lookup, Request, Stage, Variables};
use serde_json::{Value, json};

use super::{ROOT, artifact, build_with, spec};

fn manifest(fields: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n{fields}")
}

fn found(values: &[(&str, &str)]) -> Lookup {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Lookup::Found(values.iter().map(pair).collect())
}

/// What is built of a manifest without its first lines, or why it is not.
fn built(manifest: &str, post_build: &Value, variables: &Variables) -> String {
    let tree = artifact([("a.yaml", manifest)]);
    match build_with(&tree, &spec(&json!({"postBuild": post_build})), variables) {
        Ok(built) => built.yaml,
        Err(error) => {
            assert_eq!(error.stage, Stage::Substitute);
            format!("! {error}")
        }
    }
}

#[track_caller]
fn check(fields: &str, post_build: &Value, variables: &Variables, expected: &str) {
    let yaml = built(&manifest(fields), post_build, variables);
    let yaml = yaml.strip_prefix("apiVersion: v1\n").unwrap_or(&yaml);
    let rest = yaml.strip_suffix("kind: ConfigMap\nmetadata:\n  name: a\n").unwrap_or(yaml);
    assert_eq!(rest, expected);
}

#[test]
fn values_become_what_they_look_like() {
    let values = |value: &str| json!({"substitute": {"v": value}});
    for (value, expected) in [
        ("on", "true"),
        ("No", "false"),
        ("1e3", "1000"),
        ("0x10", "16"),
        ("1_000", "1000"),
        ("", "null"),
        ("~", "null"),
        ("2024-01-01", "\"2024-01-01\""),
        ("1000000", "1000000"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("{b: 1}", "\n    b: 1"),
        ("text # comment", "text"),
        ("a\nb\n", "ab"),
    ] {
        let separator = if expected.starts_with('\n') { "" } else { " " };
        let expected = format!("data:\n  a:{separator}{expected}\n");
        check("data: {a: '${v}'}\n", &values(value), &Variables::default(), &expected);
    }
}

#[test]
fn large_numbers_lose_digits_even_where_nothing_is_substituted() {
    let post_build = json!({"substitute": {"v": "x"}});
    check(
        "data: {a: 9007199254740993, b: '9007199254740993', c: 1000000}\n",
        &post_build,
        &Variables::default(),
        "data:\n  a: 9007199254740992\n  b: \"9007199254740993\"\n  c: 1000000\n",
    );
}

#[test]
fn equal_keys_end_in_the_last_one() {
    let post_build = json!({"substitute": {"k": "b"}});
    check("data: {b: 1, '${k}': 2}\n", &post_build, &Variables::default(), "data:\n  b: 1\n");
    check(
        "data: {z: 1, '${k}': 2, b: 3}\n",
        &post_build,
        &Variables::default(),
        "data:\n  b: 3\n  z: 1\n",
    );
}

#[test]
fn the_later_source_wins() {
    let mut variables = Variables::default();
    variables.insert(SubstituteKind::ConfigMap, "c", found(&[("a", "config"), ("b", "config")]));
    variables.insert(SubstituteKind::Secret, "s", found(&[("b", "secret"), ("c", "secret")]));
    let post_build = json!({
        "substitute": {"c": "inline"},
        "substituteFrom": [
            {"kind": "ConfigMap", "name": "c"},
            {"kind": "Secret", "name": "s"},
            {"kind": "Secret", "name": "none", "optional": true},
        ],
    });
    check(
        "data: {v: '${a} ${b} ${c}'}\n",
        &post_build,
        &variables,
        "data:\n  v: config secret inline\n",
    );
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let from = |kind: &str| json!({"substituteFrom": [{"kind": kind, "name": "v"}]});
    let head = "! post build failed for 'ConfigMap.v1.[noGrp]/a': substitute from";
    for (kind, resource) in [("ConfigMap", "configmaps"), ("Secret", "secrets")] {
        let expected = format!("{head} '{kind}/v' error: {resource} \"v\" not found");
        check("", &from(kind), &Variables::default(), &expected);
    }
    let mut variables = Variables::default();
    variables.insert(SubstituteKind::Secret, "v", Lookup::Failed("no connection".to_owned()));
    check("", &from("Secret"), &variables, &format!("{head} 'Secret/v' error: no connection"));
}

#[test]
fn nobody_misses_variables_where_nothing_is_built() {
    let post_build = json!({"substituteFrom": [{"kind": "ConfigMap", "name": "v"}]});
    assert_eq!(built("", &post_build, &Variables::default()), "");
    let disabled = manifest("  labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n");
    assert!(built(&disabled, &post_build, &Variables::default()).contains("substitute: disabled"));
}

#[test]
fn values_of_secrets_are_in_no_message() {
    let mut variables = Variables::default();
    let secret = found(&[
        ("v", "*hunter2"),
        ("w", "%hunter2"),
        ("x", "a: hunter2: b"),
        ("y", "!<hunter2"),
        ("z", "!!int hunter2"),
    ]);
    variables.insert(SubstituteKind::Secret, "s", secret);
    let post_build = json!({"substituteFrom": [{"kind": "Secret", "name": "s"}]});
    for name in ["v", "w", "x", "y", "z"] {
        let text =
            built(&manifest(&format!("data: {{a: '${{{name}}}'}}\n")), &post_build, &variables);
        assert!(text.starts_with("! ") && !text.contains("hunter2"), "{text}");
    }
    assert!(!format!("{variables:?}").contains("hunter2"));
}

#[test]
fn results_are_bounded() {
    let post_build = json!({"substitute": {"v": "x".repeat(1 << 20)}});
    let one = |number: usize| {
        manifest("data: {a: '${v}'}\n").replace("name: a", &format!("name: a{number}"))
    };
    let many = (0..65).map(one).collect::<Vec<_>>().join("---\n");
    let tree = artifact([("a.yaml", many.as_str())]);
    let error = build_with(&tree, &spec(&json!({"postBuild": post_build})), &Variables::default());
    let error = error.expect_err("too much").to_string();
    assert_eq!(error, "what was built is larger than 67108864 bytes");
}

#[test]
fn two_objects_may_not_become_one() {
    let manifests =
        format!("{}---\n{}", manifest("").replace("name: a", "name: ${n}"), manifest(""));
    let text = built(&manifests, &json!({"substitute": {"n": "a"}}), &Variables::default());
    assert_eq!(text, "! in Replace: id matched 2 resources");
}

#[test]
fn objects_that_lose_their_name_are_not_applied() {
    let tree = artifact([("a.yaml", manifest("").replace("name: a", "name: ${n}").as_str())]);
    let spec = spec(&json!({"postBuild": {"substitute": {"n": ""}}}));
    let built = build_with(&tree, &spec, &Variables::default()).expect("a build");
    assert!(built.objects.is_empty());
    assert!(built.yaml.contains("name: null"));
}

#[test]
fn fingerprints_tell_requests_apart() {
    let fingerprint = |fields: &Value, variables: &Variables, strict| {
        let spec = spec(fields);
        let root = Path::new(ROOT);
        Request { root, spec: &spec, variables, strict, remotes: None }.fingerprint()
    };
    let fields = json!({"postBuild": {"substituteFrom": [{"kind": "Secret", "name": "s"}]}});
    let mut variables = Variables::default();
    let first = fingerprint(&fields, &variables, true);
    assert_ne!(fingerprint(&fields, &variables, false), first);
    assert_ne!(fingerprint(&json!({}), &variables, true), first);
    variables.insert(SubstituteKind::ConfigMap, "s", found(&[("a", "1")]));
    assert_eq!(fingerprint(&fields, &variables, true), first, "nobody refers to it");
    variables.insert(SubstituteKind::Secret, "s", found(&[("a", "1")]));
    let second = fingerprint(&fields, &variables, true);
    assert_ne!(second, first);
    variables.insert(SubstituteKind::Secret, "s", found(&[("a", "2")]));
    assert_ne!(fingerprint(&fields, &variables, true), second);

    let hourly = fingerprint(&json!({"interval": "1h"}), &variables, true);
    assert_eq!(fingerprint(&json!({"interval": "2h"}), &variables, true), hourly);
}
