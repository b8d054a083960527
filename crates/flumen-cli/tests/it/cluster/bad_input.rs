//! What a server refuses: each message names the object and says what to do.

use super::{Site, deployment, map, widget};

/// Applies `documents`; the refusal must have all these words.
#[track_caller]
fn check(site: &Site, documents: &[String], options: &[&str], words: &[&str]) -> String {
    site.manifests("app.yaml", documents);
    let args = [&["apply", "-f", "app.yaml", "--inventory", "app"], options].concat();
    let error = site.refusal(&args);
    for word in words {
        assert!(error.contains(word), "{word:?} in {error}");
    }
    error
}

#[test]
fn unknown_kinds_fail_when_that_is_wanted() {
    let Some(site) = Site::new() else { return };
    let words = [
        "Widget/w dry-run failed: no matches for kind \"Widget\" in version \"unknown.example.com/v1\"",
        "app.yaml:",
        "hint: install the definition of the kind, or leave out `--strict-kinds`",
    ];
    let documents = [map("a", "1"), widget("unknown.example.com", "w")];
    check(&site, &documents, &["--strict-kinds"], &words);
    assert!(site.object("configmap/a").is_none());
}

#[test]
fn all_objects_that_are_refused_are_listed_at_once() {
    let Some(site) = Site::new() else { return };
    let bad = |name: &str| map(name, "1").replace("{key:", "{'not a key!':");
    let documents: Vec<String> = (0..30).map(|index| bad(&format!("bad-{index:02}"))).collect();
    let error = check(&site, &documents, &[], &["30 objects would be refused"]);
    for index in 0..30 {
        let subject =
            format!("ConfigMap/{}/bad-{index:02} dry-run failed (Invalid)", site.namespace);
        assert!(error.contains(&subject), "{subject} in {error}");
    }
    assert!(site.object("configmap/inv-app").is_none(), "nothing was begun");
}

#[test]
fn what_is_forbidden_is_named() {
    let Some(mut site) = Site::new() else { return };
    let user = format!("user-of-{}", site.namespace);
    site.kubectl_done(&["create", "role", "maps", "--verb=*", "--resource=configmaps"]);
    site.kubectl_done(&["create", "rolebinding", "maps", "--role=maps", &format!("--user={user}")]);
    site.kubeconfig = site.cluster.user_kubeconfig(&user).display().to_string();
    let subject = format!("Deployment/{}/web", site.namespace);
    let words = [subject.as_str(), "forbidden", "hint: ", "`--as`"];
    check(&site, &[map("a", "1"), deployment("web", "replicas: 1")], &[], &words);
}

#[test]
fn an_immutable_field_is_changed_by_force_alone() {
    let Some(site) = Site::new() else { return };
    let fixed = |value: &str| map("fixed", value) + "immutable: true\n";
    site.manifests("app.yaml", &[fixed("1")]);
    site.apply("app.yaml", &[]);
    let subject = format!("ConfigMap/{}/fixed dry-run failed (Invalid)", site.namespace);
    check(&site, &[fixed("2")], &[], &[&subject, "hint: ", "`--force`"]);
    let printed = site.printed(&["plan", "-f", "app.yaml", "--inventory", "app", "--force"]);
    assert!(printed.contains("to delete and recreate\n"), "{printed}");
    site.apply("app.yaml", &["--force"]);
    assert_eq!(site.object("configmap/fixed").expect("it is there")["data"]["key"], "2");
    // Force is for immutable fields; what is merely wrong deletes nothing.
    let uid = site.object("configmap/fixed").expect("it is there")["metadata"]["uid"].clone();
    let wrong = map("fixed", "2").replace("{key:", "{'not a key!':");
    check(&site, &[wrong], &["--force"], &["Invalid"]);
    assert_eq!(site.object("configmap/fixed").expect("it is there")["metadata"]["uid"], uid);
}

#[test]
fn a_webhook_that_is_down_is_named() {
    let Some(site) = Site::new() else { return };
    let namespace = &site.namespace;
    let webhook = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: \
         {namespace}}}\nwebhooks:\n- name: down.example.com\n  clientConfig: {{url: 'https://127.0.0.1:1/'}}\n  \
         sideEffects: None\n  admissionReviewVersions: [v1]\n  timeoutSeconds: 1\n  namespaceSelector: \
         {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}\n  rules:\n  - {{apiGroups: [apps], \
         apiVersions: ['*'], resources: ['*'], operations: ['*']}}\n"
    );
    site.scratch.write("webhook.yaml", &webhook);
    let file = site.scratch.path().join("webhook.yaml").display().to_string();
    site.kubectl_done(&["apply", "-f", &file]);
    let subject = format!("Deployment/{namespace}/web");
    let words = [
        subject.as_str(),
        "down.example.com",
        "hint: check that what serves the webhook is running",
    ];
    check(&site, &[deployment("web", "replicas: 1")], &["--timeout", "1m"], &words);
    site.kubectl_done(&["delete", "-f", &file]);
}

#[test]
fn a_namespace_that_is_going_is_named() {
    let Some(site) = Site::new() else { return };
    let going = site.cluster.fresh_namespace();
    // Nobody finishes it, as there are no controllers.
    site.kubectl_done(&["delete", "namespace", &going, "--wait=false"]);
    let inside = map("a", "1").replace("name: a", &format!("name: a, namespace: {going}"));
    let subject = format!("ConfigMap/{going}/a");
    let words = [subject.as_str(), "hint: ", "being deleted"];
    check(&site, &[inside], &[], &words);
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let Some(site) = Site::new() else { return };
    let inside = map("a", "1").replace("name: a", "name: a, namespace: nowhere");
    check(&site, &[inside], &[], &["ConfigMap/nowhere/a not found: ", "hint: ", "`nowhere`"]);
}

#[test]
fn objects_that_are_too_large_are_named() {
    let Some(site) = Site::new() else { return };
    let subject = format!("ConfigMap/{}/big", site.namespace);
    let words = [subject.as_str(), "hint: split the object"];
    check(&site, &[map("big", &"x".repeat(1_600_000))], &[], &words);
    check(&site, &[map("big", &"x".repeat(4_000_000))], &[], &words);
}

#[test]
fn names_that_are_too_long_are_told_with_the_limit() {
    let Some(site) = Site::new() else { return };
    let name = "x".repeat(254);
    check(&site, &[map(&name, "1")], &[], &["dry-run failed (Invalid)", "no more than 253"]);
    let args = ["apply", "-k", "a", "--inventory", &name];
    site.scratch.check_refused(&args, 2, &["at most 63"]);
}

#[test]
fn what_is_missing_on_the_command_line_is_said_before_anything_is_asked() {
    let scratch = crate::Scratch::new();
    let nothing = ["apply", "--inventory", "app"];
    scratch.check_refused(&nothing, 1, &["nothing says what to deliver", "-k DIR"]);
    let unnamed = "nothing says which inventory";
    for command in ["apply", "plan", "diff"] {
        scratch.check_refused(&[command, "-k", "a"], 1, &[unnamed, "--inventory NAME"]);
    }
    let large = ["apply", "-k", "a", "--inventory", "app", "--allow-large-prune"];
    scratch.check_refused(&large, 2, &["--prune"]);
    let nowhere = ["apply", "-k", "a", "--inventory", "app"];
    scratch.check_refused(&nowhere, 1, &["no kubeconfig", "--kubeconfig"]);
    let down = ["plan", "-k", "a", "--inventory", "app", "--server", "https://127.0.0.1:1"];
    scratch.check_refused(&down, 1, &["https://127.0.0.1:1", "hint: "]);
}
