//! `flumen plan` and `flumen diff`: what would happen is shown, and nothing is written.

use serde_json::Value;

use super::{Site, deployment, elements, map};

#[test]
fn acceptance_21_a_first_deploy_adds_every_line_of_every_object() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "2")]);
    let plan = site.plan("app.yaml", &[]);
    assert_eq!(plan["op"], "apply");
    let expected = [("ConfigMap/a".to_owned(), 2), ("ConfigMap/b".to_owned(), 2)];
    assert_eq!(elements(&plan), expected);
    for change in plan["k8s_content_diff"].as_array().expect("a list") {
        assert_eq!(change["_version"], "2");
        assert_eq!(change["namespace"], site.namespace.as_str());
        assert_eq!(change["api"], "/v1");
        assert_eq!(change["resource"], "configmaps");
        let entries = change["entries"].as_array().expect("a list");
        assert!(entries[0]["payload"].is_null(), "a header");
        assert!(entries.iter().all(|entry| entry["type"] == 2), "{change}");
        let lines: Vec<&str> =
            entries.iter().filter_map(|entry| entry["payload"].as_str()).collect();
        assert!(lines.contains(&"kind: ConfigMap"), "{lines:?}");
        let name = format!("  name: {}", change["name"].as_str().expect("a name"));
        assert!(lines.contains(&name.as_str()), "{lines:?}");
    }
    let text: Value =
        serde_json::from_str(plan["plan"].as_str().expect("a text")).expect("the same as text");
    assert_eq!(text["k8s_content_diff"], plan["k8s_content_diff"]);
    let manifests = plan["dry_run_output"].as_str().expect("a text");
    assert_eq!(manifests.matches("kind: ConfigMap").count(), 2, "{manifests}");
    assert!(site.object("configmap/a").is_none());
}

#[test]
fn acceptance_22_an_unchanged_redeploy_is_a_noop_and_writes_nothing() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), deployment("web", "replicas: 1")]);
    site.apply("app.yaml", &[]);
    let versions = || {
        let names = ["configmap/a", "deployment/web", "configmap/inv-app"];
        names.map(|name| {
            site.object(name).expect("it is there")["metadata"]["resourceVersion"].clone()
        })
    };
    let before = versions();
    let plan = site.plan("app.yaml", &["--detailed-exitcode"]);
    assert!(elements(&plan).iter().all(|(_, kind)| *kind == 0), "{plan}");
    let args = ["plan", "-f", "app.yaml", "--inventory", "app", "--detailed-exitcode"];
    assert_eq!(site.printed(&args), "2 unchanged\n");
    site.printed(&["diff", "-f", "app.yaml", "--inventory", "app"]);
    site.apply("app.yaml", &["--prune"]);
    assert_eq!(versions(), before);
}

#[test]
fn acceptance_23_a_changed_key_is_one_element_with_two_lines() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &[map("a", "2"), map("b", "1")]);
    let plan = site.plan("app.yaml", &[]);
    let changed: Vec<_> = elements(&plan).into_iter().filter(|(_, kind)| *kind != 0).collect();
    assert_eq!(changed, [("ConfigMap/a".to_owned(), 3)]);
    let entries = plan["k8s_content_diff"][0]["entries"].as_array().expect("a list");
    let line =
        |entry: &Value| (entry["path"].clone(), entry["type"].clone(), entry["payload"].clone());
    let lines: Vec<_> = entries.iter().map(line).collect();
    assert_eq!(
        lines,
        [("data.key".into(), 1.into(), "1".into()), ("data.key".into(), 2.into(), "2".into())]
    );

    let args = ["plan", "-f", "app.yaml", "--inventory", "app", "--detailed-exitcode"];
    let outcome = site.run(&args);
    assert_eq!(outcome.status, Some(2), "{}", outcome.stderr);
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(text.starts_with(&format!("~ ConfigMap/{}/a to change\n@@", site.namespace)), "{text}");
    assert!(text.contains("\n-  key: \"1\"\n+  key: \"2\"\n"), "{text}");
    assert!(text.ends_with("1 to change, 1 unchanged\n"), "{text}");
}

#[test]
fn acceptance_24_status_and_versions_are_no_change() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[deployment("web", "replicas: 1")]);
    site.apply("app.yaml", &[]);
    let status = r#"{"status": {"replicas": 1, "observedGeneration": 1}}"#;
    site.kubectl_done(&[
        "patch",
        "deployment/web",
        "--subresource=status",
        "--type=merge",
        "-p",
        status,
    ]);
    assert_eq!(site.printed(&["plan", "-f", "app.yaml", "--inventory", "app"]), "1 unchanged\n");
}

#[test]
fn acceptance_25_an_object_that_may_not_be_written_is_an_error_beside_the_rest() {
    let Some(mut site) = Site::new() else { return };
    let user = format!("user-of-{}", site.namespace);
    site.kubectl_done(&["create", "role", "maps", "--verb=*", "--resource=configmaps"]);
    site.kubectl_done(&["create", "rolebinding", "maps", "--role=maps", &format!("--user={user}")]);
    site.kubeconfig = site.cluster.user_kubeconfig(&user).display().to_string();
    site.manifests("app.yaml", &[map("a", "1"), super::secret("s", "canary"), map("b", "1")]);
    let plan = site.plan("app.yaml", &[]);
    let mut found = elements(&plan);
    found.sort();
    let expected = [("ConfigMap/a", 2), ("ConfigMap/b", 2), ("Secret/s", 4)];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let failed = plan["k8s_content_diff"].as_array().expect("a list");
    let failed = failed.iter().find(|change| change["type"] == 4).expect("an error");
    assert!(failed["error"].as_str().expect("a text").contains("forbidden"), "{failed}");

    let outcome = site.run(&["plan", "-f", "app.yaml", "--inventory", "app"]);
    assert_eq!(outcome.status, Some(1));
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(text.contains(&format!("! Secret/{}/s would be refused\n", site.namespace)), "{text}");
    assert!(text.ends_with("2 to create, 1 refused\n"), "{text}");
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
}

#[test]
fn differences_are_shown_as_kustomizer_shows_them() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &[]);
    site.kubectl_done(&["patch", "configmap/b", "-p", r#"{"data": {"key": "edited"}}"#]);
    site.manifests("app.yaml", &[map("b", "1"), map("c", "1")]);
    let namespace = &site.namespace;
    for form in [
        &["diff", "-f", "app.yaml", "--inventory", "app"][..],
        &["diff", "inventory", "app", "-f", "app.yaml", "--prune"],
    ] {
        let outcome = site.run(form);
        assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
        let text = String::from_utf8_lossy(&outcome.stdout);
        assert!(text.starts_with(&format!("► ConfigMap/{namespace}/b drifted\n@@")), "{text}");
        assert!(text.contains("\n-  key: edited\n+  key: \"1\"\n"), "{text}");
        let rest =
            format!("► ConfigMap/{namespace}/c created\n► ConfigMap/{namespace}/a deleted\n");
        assert!(text.ends_with(&rest), "{text}");
    }
}
