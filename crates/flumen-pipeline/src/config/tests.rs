use std::fs;

use flumen_oci::{Digest, Target};
use tempfile::TempDir;

use super::*;

const PUBLIC: &str = "[public_repo]\nrepo = \"https://git.example.com/a.git\"\n";

/// A component with the common keys and `rest`.
fn component(rest: &str) -> String {
    format!("name = \"c\"\ntype = \"kubernetes_manifest\"\nnamespace = \"default\"\n{rest}")
}

/// The components of a directory with these files.
fn load(files: &[(&str, &str)]) -> (TempDir, Components) {
    let dir = tempfile::tempdir().expect("scratch directory");
    for (name, content) in files {
        fs::write(dir.path().join(name), content).expect("file");
    }
    let loaded = Components::load(dir.path()).expect("directory");
    (dir, loaded)
}

#[track_caller]
fn accepted(text: &str) -> Component {
    let (_dir, mut loaded) = load(&[("c.toml", text)]);
    assert!(loaded.errors.is_empty(), "{text}\n{:?}", loaded.errors);
    loaded.components.remove("c").expect("the component")
}

#[track_caller]
fn refused_in(file: &str, text: &str, place: (u32, u32), message: &str) -> ConfigError {
    let (_dir, mut loaded) = load(&[(file, text)]);
    let error = loaded.errors.pop().unwrap_or_else(|| panic!("accepted:\n{text}"));
    assert_eq!(error.to_string(), message, "{text}");
    assert_eq!(error.pos(), Pos::new(place.0, place.1), "{text}");
    error
}

/// The keys of `rest` begin on line 4.
#[track_caller]
fn refused(rest: &str, place: (u32, u32), message: &str) -> ConfigError {
    refused_in("c.toml", &component(rest), place, message)
}

#[test]
fn the_source_follows_from_what_is_set() {
    let inline = accepted(&component("manifest = \"kind: ConfigMap\"\n"));
    assert_eq!(inline.source.kind(), "inline");
    let kustomize = accepted(&component(&format!("kustomize.path = \"k\"\n{PUBLIC}")));
    assert_eq!(kustomize.source.kind(), "kustomize");
    let artifact = accepted(&component("oci_artifact.url = \"oci://registry.example.com/a\"\n"));
    assert_eq!(artifact.source.kind(), "oci_artifact");
    let Source::OciArtifact(artifact) = artifact.source else { panic!("an artifact") };
    assert_eq!(artifact.target.to_string(), "latest");
}

#[test]
fn exactly_one_source_is_wanted() {
    refused("", (1, 1), "one of 'manifest' or 'kustomize' must be specified");
    refused(
        &format!("manifest = \"a: b\"\nkustomize.path = \"k\"\n{PUBLIC}"),
        (5, 1),
        "only one of 'manifest' or 'kustomize' can be specified",
    );
    let message = "only one of 'manifest', 'kustomize' or 'oci_artifact' can be specified";
    refused("manifest = \"a: b\"\noci_artifact.url = \"oci://host/a\"\n", (5, 1), message);
}

#[test]
fn a_kustomization_needs_a_path_and_one_repository() {
    refused(&format!("[kustomize]\npath = \"\"\n{PUBLIC}"), (5, 1), "kustomize.path is required");
    refused(&format!("[kustomize]\n{PUBLIC}"), (4, 2), "kustomize.path is required");
    refused(
        "[kustomize]\npath = \"k\"\n",
        (4, 2),
        "kustomize requires either 'public_repo' or 'connected_repo' to be specified",
    );
    refused(
        &format!("kustomize.path = \"k\"\n{PUBLIC}[connected_repo]\nrepo = \"a\"\n"),
        (7, 2),
        "only one of 'public_repo' or 'connected_repo' can be specified",
    );
    refused(
        &format!("manifest = \"a: b\"\n{PUBLIC}"),
        (5, 2),
        "'public_repo' and 'connected_repo' are only valid with kustomize, not inline manifests",
    );
    refused(
        &format!("kustomize.path = \"k\"\n{PUBLIC}branch = \"a\"\ntag = \"b\"\n"),
        (8, 1),
        "only one of 'branch', 'tag' or 'commit' can be specified",
    );
}

#[test]
fn paths_stay_in_the_source() {
    for path in ["../k", "a/../../k", "/etc"] {
        let rest = format!("kustomize.path = \"{path}\"\n{PUBLIC}");
        refused(&rest, (4, 11), &format!("`{path}` leaves the source root"));
    }
    let rest = format!("kustomize = {{path = \"k\", patches = [\"a\", \"../b\"]}}\n{PUBLIC}");
    refused(&rest, (4, 42), "`../b` leaves the source root");
}

#[test]
fn what_identifies_a_component_is_required() {
    refused_in("c.toml", "type = \"kubernetes_manifest\"\n", (1, 1), "name is required");
    refused_in("c.toml", "name = \"c\"\n", (1, 1), "type is required");
    refused_in(
        "c.toml",
        "name = \"c\"\ntype = \"helm_chart\"\n",
        (2, 1),
        "type must be 'kubernetes_manifest'",
    );
    refused_in(
        "c.toml",
        "name = \"c\"\ntype = \"kubernetes_manifest\"\nmanifest = \"a: b\"\n",
        (1, 1),
        "namespace is required",
    );
    refused_in(
        "c.toml",
        "name = \"../c\"\n",
        (1, 1),
        "name may only have letters, digits, `_` and `-`, and 63 of them",
    );
}

#[test]
fn artifacts_are_named_by_url_and_tag_or_digest() {
    refused("[oci_artifact]\ntag = \"v1\"\n", (4, 2), "oci_artifact.url is required");
    refused(
        "oci_artifact.url = \"https://registry.example.com/a\"\n",
        (4, 14),
        "URL must be in format 'oci://<domain>/<org>/<repo>'",
    );
    refused(
        "oci_artifact.url = \"oci://registry.example.com/a:v1\"\n",
        (4, 14),
        "oci_artifact.url names a tag or digest",
    );
    let url = "oci_artifact.url = \"oci://registry.example.com/a\"\n";
    refused(&format!("{url}oci_artifact.tag = \"a/b\"\n"), (5, 14), "`a/b` is not a tag");
    let digest = Digest::of(b"");
    let both = format!("{url}oci_artifact.tag = \"v1\"\noci_artifact.digest = \"{digest}\"\n");
    let Source::OciArtifact(artifact) = accepted(&component(&both)).source else {
        panic!("an artifact")
    };
    assert_eq!(artifact.target, Target::Digest(digest));
}

#[test]
fn schedules_and_durations_are_checked() {
    let with = |rest: &str| format!("manifest = \"a: b\"\n{rest}");
    for schedule in ["0 2 * * *", "*/5 0-3 1,15 * MON"] {
        accepted(&component(&with(&format!("drift_schedule = \"{schedule}\"\n"))));
    }
    for schedule in ["every day", "@daily", "0 2 * *", "0 2 * * * *", "61 2 * * *", "0 0 * * * UTC"]
    {
        let rest = with(&format!("drift_schedule = \"{schedule}\"\n"));
        refused(&rest, (5, 1), "invalid drift schedule");
    }
    let component = accepted(&component(&with("build_timeout = \"1h\"\n")));
    assert_eq!(component.build_timeout, std::time::Duration::from_hours(1));
    assert_eq!(component.deploy_timeout, std::time::Duration::from_mins(15));
    refused(&with("build_timeout = \"2h\"\n"), (5, 1), "build_timeout is at most 1h");
    refused(&with("deploy_timeout = \"61m\"\n"), (5, 1), "deploy_timeout is at most 1h");
    for text in ["soon", "5", "-5m", "0s"] {
        let rest = with(&format!("build_timeout = \"{text}\"\n"));
        refused(&rest, (5, 1), "build_timeout is not a duration");
    }
}

#[test]
fn unknown_keys_are_refused_with_what_was_meant() {
    let error =
        refused("manifest = \"a: b\"\nnamspace = \"x\"\n", (5, 1), "unknown key `namspace`");
    assert_eq!(error.hint_text(), Some("did you mean `namespace`?"));
    let error = refused("[kustomize]\npatch = []\n", (5, 1), "unknown key `kustomize.patch`");
    assert_eq!(error.hint_text(), Some("did you mean `path`?"));
    let error = refused("[health]\nzzzzzz = 1\n", (5, 1), "unknown key `health.zzzzzz`");
    assert_eq!(error.hint_text(), Some("the keys here are block_deploy, stabilization_window"));
    accepted(&component("manifest = \"a: b\"\n[labels]\n\"any.key/at-all\" = \"fine\"\n"));
}

#[test]
fn wrong_types_and_broken_syntax_have_a_place() {
    refused("manifest = 1\n", (4, 12), "invalid type: integer `1`, expected a string");
    refused(
        "[kustomize]\nload_restrictor = \"rootonly\"\n",
        (5, 19),
        "unknown variant `rootonly`, expected `rootOnly` or `none`",
    );
    let (_dir, loaded) = load(&[("c.toml", "name = \n")]);
    assert_eq!(loaded.errors[0].pos().line, 1);
    let (_dir, loaded) = load(&[("c.json", "{\"name\": \"c\",\n  \"name\" }")]);
    assert_eq!(loaded.errors[0].pos().line, 2);
}

#[test]
fn json_says_the_same() {
    let text =
        "{\"name\": \"c\", \"type\": \"kubernetes_manifest\",\n \"namespace\": \"default\",\n";
    let inline = format!("{text} \"manifest\": \"a: b\", \"kustomize\": {{\"path\": \"\"}}}}");
    let (_dir, loaded) = load(&[("c.json", &inline)]);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    assert_eq!(loaded.components["c"].source.kind(), "inline");

    let short = format!("{text} \"manifst\": \"a: b\"}}");
    refused_in("c.json", &short, (3, 2), "unknown key `manifst`");
    let late = format!("{text} \"manifest\": \"a: b\",\n \"build_timeout\": \"2h\"}}");
    refused_in("c.json", &late, (4, 2), "build_timeout is at most 1h");
    let wrong = format!("{text} \"manifest\": 1}}");
    refused_in("c.json", &wrong, (3, 14), "invalid type: integer `1`, expected a string");
}

#[test]
fn names_are_unique_across_files() {
    let text = component("manifest = \"a: b\"\n");
    let (_dir, loaded) = load(&[("a.toml", &text), ("b.toml", &text), ("notes.md", "not one")]);
    assert_eq!(loaded.components.len(), 1);
    let [error] = loaded.errors.as_slice() else { panic!("{:?}", loaded.errors) };
    assert_eq!(error.to_string(), "component `c` is defined twice");
    assert!(error.file().ends_with("b.toml"));
    assert!(error.hint_text().is_some_and(|hint| hint.ends_with("a.toml:1:1")), "{error:?}");
}

#[test]
fn dependencies_are_completed() {
    let rest = "dependencies = [\"z\", \"db\"]\n\
                manifest = \"url: {{.nuon.components.db.outputs.url}} {{ .install.components.api.x }}\"\n\
                [labels]\nself = \"{{.nuon.components.c.x}}\"\n";
    assert_eq!(accepted(&component(rest)).config.dependencies, ["api", "db", "z"]);
}

#[test]
fn a_manifest_may_stand_in_a_file_of_its_own() {
    let dir = tempfile::tempdir().expect("scratch directory");
    let components = dir.path().join("app/components");
    fs::create_dir_all(&components).expect("directories");
    fs::write(dir.path().join("app/shared.yaml"), "a: {{.nuon.components.db.x}}\n").expect("file");
    fs::write(dir.path().join("outside.yaml"), "a: b\n").expect("file");
    let load = |path: &str| {
        let text = component(&format!("manifest = \"{path}\"\n"));
        fs::write(components.join("c.toml"), text).expect("file");
        Components::load(&components).expect("directory")
    };

    let loaded = load("./../shared.yaml");
    let found = &loaded.components["c"];
    assert_eq!(found.config.dependencies, ["db"]);
    let Source::Inline(inline) = &found.source else { panic!("inline") };
    assert_eq!(inline.text, "a: {{.nuon.components.db.x}}\n");

    for path in ["./../../outside.yaml", "./absent.yaml"] {
        let loaded = load(path);
        assert_eq!(loaded.errors[0].pos(), Pos::new(4, 1), "{path}: {:?}", loaded.errors);
    }
}

#[test]
fn the_checksum_follows_the_configuration() {
    let plain = accepted(&component("manifest = \"a: b\"\n"));
    let spelled =
        accepted(&component("manifest = 'a: b'\ndrift_schedule = \"\"\nskip_noops = false\n"));
    assert_eq!(plain.checksum, spelled.checksum);
    for change in ["manifest = \"a: c\"\n", "manifest = \"a: b\"\ndrift_schedule = \"0 2 * * *\"\n"]
    {
        assert_ne!(plain.checksum, accepted(&component(change)).checksum, "{change}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema().to_value();
    let properties = schema["properties"].as_object().expect("properties");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(properties["kustomize"]["type"], "object", "{schema:#}");
    assert_eq!(properties["kustomize"]["properties"]["load_restrictor"]["enum"][0], "rootOnly");
    assert_eq!(properties["kustomize"]["required"][0], "path");
    for (key, property) in properties {
        assert!(property["description"].is_string(), "`{key}` has no description: {property}");
    }
}
