use std::fs;

use tempfile::TempDir;

use super::*;
use crate::template::{render, render_namespace};

fn load(text: &str) -> (TempDir, Result<Install, ConfigError>) {
    let dir = tempfile::tempdir().expect("scratch directory");
    fs::write(dir.path().join("prod.toml"), text).expect("file");
    let install = Install::load(dir.path(), "prod");
    (dir, install)
}

#[track_caller]
fn accepted(text: &str) -> Install {
    load(text).1.unwrap_or_else(|error| panic!("{text}\n{error} at {:?}", error.pos()))
}

#[track_caller]
fn refused(text: &str, place: (u32, u32), message: &str) -> ConfigError {
    let error = load(text).1.expect_err("refused");
    assert_eq!(error.to_string(), message, "{text}");
    assert_eq!(error.pos(), Pos::new(place.0, place.1), "{text}");
    assert!(error.file().ends_with("prod.toml"));
    error
}

#[test]
fn an_empty_file_is_an_install() {
    let install = accepted("");
    assert_eq!(install.id, "prod");
    assert_eq!(install.cluster.kubeconfig, None);
    assert_eq!(install.cluster.namespace, "default");
    assert_eq!(install.registry, None);
    assert_eq!(install.signatures.policy, SignaturePolicy::Off);
    assert_eq!(install.approvals, Approvals::Ask);
}

#[test]
fn paths_are_relative_to_the_file() {
    let (dir, install) = load(
        "approvals = \"approve-all\"\n\
         [cluster]\nkubeconfig = \"../kube/config\"\ncontext = \"eu\"\nnamespace = \"flumen\"\n\
         [registry]\nurl = \"oci://registry.example.com/prod\"\n\
         [signatures]\npolicy = \"enforce\"\nkeys = [\"cosign.pub\"]\n",
    );
    let install = install.expect("an install");
    let parent = dir.path().parent().expect("a parent");
    assert_eq!(install.cluster.kubeconfig, Some(parent.join("kube/config")));
    assert_eq!(install.cluster.context.as_deref(), Some("eu"));
    assert_eq!(install.cluster.namespace, "flumen");
    assert_eq!(install.registry.expect("a registry").name(), "registry.example.com/prod");
    assert_eq!(install.signatures.keys, [dir.path().join("cosign.pub")]);
    assert_eq!(install.approvals, Approvals::ApproveAll);
}

#[test]
fn inputs_have_types_and_levels() {
    let install = accepted(
        "[inputs]\nname = \"shop\"\nreplicas = 3\nratio = 1.5\ndebug = true\n\
         [inputs.db]\nhost = \"db.example.com\"\n",
    );
    let values = install.values();
    let namespace = "{{ .install.id }}-{{ .install.inputs.name }}-{{ .install.inputs.db.host }}";
    assert_eq!(render_namespace(namespace, &values), Ok("prod-shop-db.example.com".to_owned()));
    let text =
        "[{{.install.inputs.replicas}}, {{.install.inputs.ratio}}, {{.install.inputs.debug}}]";
    let documents = render(text, &values).expect("rendered");
    let tags = documents[0].as_seq().expect("a list").iter();
    let tags: Vec<Tag> = tags.map(|node| node.as_scalar().expect("a scalar").tag).collect();
    assert_eq!(tags, [Tag::Int, Tag::Float, Tag::Bool]);
}

#[test]
fn other_inputs_are_refused_where_they_stand() {
    let message = "an input is a text, a number, true or false, or a table of these";
    refused("[inputs]\na = 1\nb = [1]\n", (3, 5), message);
    refused("[inputs]\nday = 2026-01-01\n", (2, 1), "an input is no date");
    let message = "names of inputs have only letters, digits, `_` and `-`";
    refused("[inputs]\n\"a.b\" = 1\n", (2, 1), message);
}

#[test]
fn registries_are_repositories() {
    refused("[registry]\n", (1, 2), "registry.url is required");
    refused(
        "[registry]\nurl = \"https://registry.example.com/a\"\n",
        (2, 1),
        "URL must be in format 'oci://<domain>/<org>/<repo>'",
    );
    refused(
        "[registry]\nurl = \"oci://registry.example.com/a:v1\"\n",
        (2, 1),
        "registry.url names a tag or digest",
    );
}

#[test]
fn a_policy_needs_somebody_who_counts() {
    for policy in ["warn", "enforce"] {
        let text = format!("[signatures]\npolicy = \"{policy}\"\n");
        refused(&text, (2, 1), "nothing says whose signatures count");
    }
    refused(
        "[signatures]\nidentity = \"a@example.com\"\ntrusted_root = \"root.json\"\n",
        (1, 2),
        "signatures.issuer is required",
    );
    let install = accepted(
        "[signatures]\npolicy = \"warn\"\ntrusted_root = \"root.json\"\n\
         identity = \"a@example.com\"\nissuer = \"https://issuer.example.com\"\n",
    );
    assert!(install.signatures.certificates.is_some());
    refused(
        "[signatures]\npolicy = \"strict\"\n",
        (2, 10),
        "unknown variant `strict`, expected one of `off`, `warn`, `enforce`",
    );
}

#[test]
fn unknown_keys_and_installs_have_a_hint() {
    let error = refused("[cluster]\ncontxt = \"a\"\n", (2, 1), "unknown key `cluster.contxt`");
    assert_eq!(error.hint_text(), Some("did you mean `context`?"));
    let (dir, _) = load("");
    let error = Install::load(dir.path(), "prd").expect_err("no such install");
    assert_eq!(error.to_string(), "there is no install `prd`");
    assert_eq!(error.hint_text(), Some("did you mean `prod`?"));
    let error = Install::load(dir.path(), "../prod").expect_err("no id");
    assert_eq!(error.to_string(), "`../prod` is not the id of an install");
}

#[test]
fn inputs_are_never_shown() {
    let install = accepted("[inputs]\npassword = \"s3cret\"\n[inputs.db]\nkey = \"s3cret\"\n");
    let shown = format!("{install:?}");
    assert!(shown.contains("password") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema().to_value();
    let properties = schema["properties"].as_object().expect("properties");
    assert_eq!(schema["additionalProperties"], false);
    for (key, property) in properties {
        assert!(property["description"].is_string(), "`{key}` has no description: {property}");
    }
}
