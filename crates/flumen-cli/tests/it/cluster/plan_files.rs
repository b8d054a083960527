//! Plans that are kept in a file, looked at, and applied.

use std::{fs, path::Path};

use super::{Site, map, secret};

const PLAN: [&str; 4] = ["plan", "-f", "app.yaml", "--inventory=app"];
const APPLY: [&str; 5] = ["apply", "-f", "app.yaml", "--inventory=app", "--plan=app.plan"];

fn plan(site: &Site) -> String {
    site.printed(&[&PLAN[..], &["--out", "app.plan"]].concat());
    site.scratch.read("app.plan")
}

#[test]
fn a_plan_is_applied_once() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), secret("s", "canary-in-a-plan")]);
    let file = plan(&site);
    assert!(!file.contains("canary"), "{file}");
    assert!(!file.contains("Y2FuYXJ5"), "{file}");
    #[cfg(unix)]
    assert_eq!(mode(&site.scratch.path().join("app.plan")), 0o600);

    let printed = site.printed(&APPLY);
    assert_eq!(printed.matches(" created\n").count(), 2, "{printed}");
    // Somebody puts everything back, and the plan would fit again.
    site.kubectl_done(&["delete", "configmap/a", "secret/s"]);
    let error = site.refusal(&APPLY);
    assert!(error.contains("before anything was deployed, and deployment 1 came since"), "{error}");
    assert!(site.object("configmap/a").is_none());
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn acceptance_45_another_artifact_needs_another_plan() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1")]);
    plan(&site);
    site.manifests("app.yaml", &[map("a", "2")]);
    let error = site.refusal(&APPLY);
    assert!(error.contains("the plan was made for the artifact sha256:"), "{error}");
    assert!(error.contains("hint: nothing was applied: make a new plan"), "{error}");
    assert!(site.object("configmap/a").is_none());
    assert!(site.object("configmap/inv-app").is_none());
}

#[test]
fn changes_that_came_since_are_named() {
    let Some(site) = Site::new() else { return };
    let maps = |value: &str| ["a", "b", "c"].map(|name| map(name, value));
    site.manifests("app.yaml", &maps("1"));
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &[map("a", "2"), map("b", "1"), map("c", "1")]);
    plan(&site);
    site.kubectl_done(&["delete", "configmap/b"]);
    site.kubectl_done(&["patch", "configmap/c", "-p", r#"{"data": {"key": "edited"}}"#]);
    site.kubectl_done(&["patch", "configmap/a", "-p", r#"{"data": {"key": "edited"}}"#]);
    let error = site.refusal(&APPLY);
    let namespace = &site.namespace;
    for line in ["a configured otherwise than planned", "b created", "c configured"] {
        assert!(error.contains(&format!("\n  ConfigMap/{namespace}/{line}\n")), "{line}: {error}");
    }
    let live = site.object("configmap/c").expect("it is there");
    assert_eq!(live["data"]["key"], "edited", "nothing is applied");

    plan(&site);
    site.printed(&APPLY);
    assert!(site.object("configmap/b").is_some());
}

#[test]
fn fewer_changes_than_planned_are_fine() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &[map("a", "2"), map("b", "2")]);
    plan(&site);
    site.kubectl_done(&["annotate", "configmap/a", "unrelated=1"]);
    site.kubectl_done(&["annotate", "configmap/a", "unrelated-"]);
    site.kubectl_done(&[
        "patch",
        "configmap/b",
        "--field-manager=other",
        "-p",
        r#"{"data": {"key": "2"}}"#,
    ]);
    site.printed(&APPLY);
    assert_eq!(site.object("configmap/a").expect("it is there")["data"]["key"], "2");
}

#[test]
fn plans_for_others_and_other_files_are_refused() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1")]);
    plan(&site);
    let other = ["apply", "-f", "app.yaml", "--inventory=other", "--plan=app.plan"];
    let error = site.refusal(&other);
    assert!(error.contains("the plan is for the inventory"), "{error}");
    fs::write(site.scratch.path().join("app.plan"), "{}").expect("written");
    let error = site.refusal(&APPLY);
    assert!(error.contains("`app.plan` is no plan"), "{error}");
    let missing = ["apply", "-f", "app.yaml", "--inventory=app", "--plan=missing.plan"];
    let error = site.refusal(&missing);
    assert!(error.contains("cannot read `missing.plan`"), "{error}");
}
