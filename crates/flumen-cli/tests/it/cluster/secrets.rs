//! Values of secrets are nowhere but in the cluster and in the artifact.

use super::{Site, map, secret};

/// Long enough to be masked wherever it appears.
const CANARIES: [&str; 3] = ["canary-one-4711", "canary-two-0815", "canary-three-42"];

/// The values and their base64 forms, which begin alike.
fn check(what: &str, text: &str) {
    for canary in CANARIES {
        assert!(!text.contains(canary), "{canary} in {what}: {text}");
    }
    assert!(!text.contains("Y2FuYXJ5"), "base64 in {what}: {text}");
}

#[track_caller]
fn run(site: &Site, args: &[&str]) {
    let outcome = site.run(args);
    check(&format!("stdout of {args:?}"), &String::from_utf8_lossy(&outcome.stdout));
    check(&format!("stderr of {args:?}"), &outcome.stderr);
}

#[test]
fn canaries_are_not_seen() {
    let Some(site) = Site::new() else { return };
    let immutable = |value: &str| secret("fixed", value) + "immutable: true\n";
    site.manifests("app.yaml", &[secret("s", CANARIES[0]), immutable(CANARIES[0])]);
    let file = ["-f", "app.yaml", "--inventory", "app"];
    let with = |command: &[&'static str]| -> Vec<&'static str> { [command, &file].concat() };
    let look = |site: &Site| {
        run(site, &with(&["plan", "--out", "app.plan"]));
        check("the plan file", &site.scratch.read("app.plan"));
        run(site, &with(&["plan", "-o", "json"]));
        run(site, &with(&["plan", "-o", "yaml"]));
        run(site, &with(&["diff"]));
        run(site, &with(&["apply", "--dry-run=server"]));
    };
    look(&site);
    run(&site, &with(&["apply"]));
    let live = site.object("secret/s").expect("it is there");
    assert_eq!(live["data"]["key"], "Y2FuYXJ5LW9uZS00NzEx", "what is searched for is there");

    // Changed, which the server refuses for one of them, and dropped.
    site.manifests("app.yaml", &[secret("s", CANARIES[1]), immutable(CANARIES[1])]);
    look(&site);
    run(&site, &with(&["apply"]));
    run(&site, &with(&["apply", "--keep-going"]));
    run(&site, &with(&["apply", "--force"]));
    site.manifests("app.yaml", &[map("a", "1")]);
    look(&site);

    // Values that the server quotes in its refusal.
    let bad = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: bad}}\ndata: {{key: '{0}'}}\n---\napiVersion: v1\n\
         kind: Secret\nmetadata: {{name: worse}}\nstringData: {{key: [{0}]}}\n---\napiVersion: v1\nkind: Secret\n\
         metadata: {{name: type}}\ntype: kubernetes.io/dockerconfigjson\nstringData: {{.dockerconfigjson: '{0}'}}\n",
        CANARIES[2]
    );
    site.scratch.write("app.yaml", &bad);
    look(&site);
    run(&site, &with(&["apply"]));
    run(&site, &with(&["apply", "--keep-going"]));

    for command in [
        &["history", "app", "-o", "wide"][..],
        &["history", "app", "-o", "json"],
        &["inspect", "inventory", "app", "-o", "json"],
        &["get", "inventories", "-o", "yaml"],
        &["delete", "inventory", "app"],
    ] {
        run(&site, command);
    }
}
