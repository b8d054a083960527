//! `flumen apply`: objects come to the cluster.

use flumen_testkit::EmbeddedRegistry;

use super::{Site, definition, deployment, map, widget};

#[test]
fn acceptance_27_what_is_applied_is_live_and_bears_its_owner() {
    let Some(site) = Site::new() else { return };
    let namespace = site.namespace.as_str();
    site.manifests("app.yaml", &[map("a", "1"), deployment("web", "replicas: 2")]);
    let printed = site.apply("app.yaml", &[]);
    let expected = format!("ConfigMap/{namespace}/a created\nDeployment/{namespace}/web created\n");
    assert_eq!(printed, expected);
    let live = site.object("configmap/a").expect("it is there");
    assert_eq!(live["data"]["key"], "1");
    let labels = &live["metadata"]["labels"];
    assert_eq!(labels["inventory.kustomizer.dev/name"], "app");
    assert_eq!(labels["inventory.kustomizer.dev/namespace"], namespace);
    assert_eq!(live["metadata"]["managedFields"][0]["manager"], "kustomizer");
    assert_eq!(site.object("deployment/web").expect("it is there")["spec"]["replicas"], 2);

    let inventory = site.object("configmap/inv-app").expect("an inventory");
    let resources = inventory["data"]["resources"].as_str().expect("a list");
    assert!(resources.contains(&format!("{namespace}_web_apps_Deployment")), "{resources}");
    let changed = site.apply("app.yaml", &[]);
    let expected =
        format!("ConfigMap/{namespace}/a unchanged\nDeployment/{namespace}/web unchanged\n");
    assert_eq!(changed, expected);
}

#[test]
fn acceptance_28_objects_land_in_the_namespace_they_name_or_in_the_given_one() {
    let Some(site) = Site::new() else { return };
    let other = site.cluster.fresh_namespace();
    let named =
        map("named", "1").replace("name: named", &format!("name: named, namespace: {other}"));
    site.manifests("app.yaml", &[map("bare", "1"), named]);
    site.apply("app.yaml", &[]);
    assert!(site.object("configmap/bare").is_some());
    assert!(site.object("configmap/named").is_none());
    let found = site.cluster.kubectl(&["get", "configmap/named", "-n", &other]);
    assert!(found.succeeded(), "{}", found.stderr);
}

#[test]
fn acceptance_31_a_definition_and_its_objects_are_one_deploy() {
    let Some(site) = Site::new() else { return };
    let group = format!("one.{}.example.com", site.namespace);
    site.manifests("app.yaml", &[widget(&group, "w"), definition(&group)]);
    let registry = EmbeddedRegistry::start();
    let url = format!("oci://{}/org/app:v1", registry.host());
    let pushed =
        site.scratch.flumen(&["push", "artifact", &url, "-f", "app.yaml", "--insecure-registry"]);
    assert!(pushed.succeeded(), "{}", pushed.stderr);

    let planned = site.run(&["plan", &url, "--inventory", "app", "--insecure-registry"]);
    let text = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(text.ends_with("2 to create\n"), "{text}{}", planned.stderr);
    site.printed(&["apply", &url, "--inventory", "app", "--insecure-registry"]);
    assert!(site.object(&format!("widgets.{group}/w")).is_some());
    let history = site.printed(&["history", "app", "-o", "name"]);
    assert!(
        history.starts_with(&format!("oci://{}/org/app@sha256:", registry.host())),
        "{history}"
    );
}

#[test]
fn acceptance_32_an_object_that_fails_is_named_and_a_retry_completes_the_rest() {
    let Some(site) = Site::new() else { return };
    let bad = map("c", "1").replace("data: {key: '1'}", "data: {'not a key!': '1'}");
    let with = |third: String| [map("a", "1"), map("b", "1"), third, map("d", "1"), map("e", "1")];
    site.manifests("app.yaml", &with(bad));
    let args = ["apply", "-f", "app.yaml", "--inventory", "app"];
    let error = site.refusal(&args);
    let subject = format!("ConfigMap/{}/c dry-run failed (Invalid)", site.namespace);
    assert!(error.contains(&subject), "{error}");
    assert!(error.contains("app.yaml:11:1"), "the file it comes from: {error}");
    assert!(site.object("configmap/a").is_none(), "nothing of the stage is applied");

    let error = site.refusal(&[&args[..], &["--keep-going"]].concat());
    assert!(error.contains(&subject), "{error}");
    assert!(site.object("configmap/e").is_some(), "all others are applied");
    site.manifests("app.yaml", &with(map("c", "1")));
    let printed = site.apply("app.yaml", &[]);
    assert_eq!(printed.matches(" created\n").count(), 1, "{printed}");
    assert!(site.object("configmap/c").is_some());
}

#[test]
fn acceptance_42_replicas_belong_to_the_autoscaler() {
    let Some(site) = Site::new() else { return };
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec:\n  \
                      maxReplicas: 9\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n";
    site.manifests("app.yaml", &[deployment("web", "replicas: 2"), autoscaler.to_owned()]);
    site.apply("app.yaml", &[]);
    site.kubectl_done(&["scale", "deployment/web", "--replicas=7"]);
    site.apply("app.yaml", &[]);
    assert_eq!(site.object("deployment/web").expect("it is there")["spec"]["replicas"], 7);
}

#[test]
fn kustomizers_words_work_too() {
    let Some(site) = Site::new() else { return };
    site.scratch.write(
        ".kustomizer/config",
        "apiVersion: kustomizer.dev/v1\nkind: Config\nfieldManager: {name: shop, group: inv.shop.example.com}\n",
    );
    site.printed(&["apply", "inventory", "app", "-k", "both", "--source", "s", "--revision", "r"]);
    let live = site.object("configmap/a").expect("it is there");
    assert_eq!(live["metadata"]["labels"]["inv.shop.example.com/name"], "app");
    assert_eq!(live["metadata"]["managedFields"][0]["manager"], "shop");
    let inventory = site.object("configmap/inv-app").expect("an inventory");
    assert_eq!(inventory["metadata"]["annotations"]["inv.shop.example.com/revision"], "r");
    assert_eq!(inventory["metadata"]["labels"]["app.kubernetes.io/created-by"], "shop");

    let other = ["apply", "inv", "app2", "-k", "b", "--field-manager", "other"];
    site.printed(&other);
    let live = site.object("configmap/b").expect("it is there");
    assert_eq!(live["metadata"]["labels"]["inv.shop.example.com/name"], "app2");
}

#[test]
fn what_would_happen_is_said_by_the_server_or_by_nobody() {
    let Some(site) = Site::new() else { return };
    let printed = site.printed(&["apply", "-k", "a", "--inventory", "app", "--dry-run=server"]);
    assert_eq!(printed, format!("ConfigMap/{}/a created (server dry run)\n", site.namespace));
    assert!(site.object("configmap/a").is_none());
    assert!(site.object("configmap/inv-app").is_none());

    let nowhere = ["apply", "-k", "a", "--dry-run=client", "--server", "https://127.0.0.1:1"];
    let outcome = site.scratch.flumen(&nowhere);
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "ConfigMap/a applied (client dry run)\n");
}

#[test]
fn the_namespace_is_created_when_that_is_wanted() {
    let Some(site) = Site::new() else { return };
    let namespace = format!("{}-new", site.namespace);
    let args = ["apply", "-k", "a", "--inventory", "app", "-n", &namespace];
    let kubeconfig = ["--kubeconfig", &site.kubeconfig];
    let refused = site.scratch.flumen(&[&args[..], &kubeconfig].concat());
    assert_eq!(refused.status, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains(&namespace), "{}", refused.stderr);
    for _ in 0..2 {
        let args = [&args[..], &kubeconfig, &["--create-namespace"]].concat();
        let created = site.scratch.flumen(&args);
        assert_eq!(created.status, Some(0), "{}", created.stderr);
    }
    let found = site.cluster.kubectl(&["get", "configmap/inv-app", "-n", &namespace]);
    assert!(found.succeeded(), "{}", found.stderr);
}

#[test]
fn fields_of_kubectl_are_taken_over() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1")]);
    site.manifests("old.yaml", &[map("a", "1").replace("\ndata: {", "\ndata: {old: x, ")]);
    let file = site.scratch.path().join("old.yaml").display().to_string();
    site.kubectl_done(&["apply", "-f", &file]);
    site.apply("app.yaml", &[]);
    let live = site.object("configmap/a").expect("it is there");
    assert!(live["data"]["old"].is_null(), "{live}");
    assert!(live["metadata"]["annotations"].is_null(), "{live}");
}

#[test]
fn a_manifest_that_was_read_from_a_cluster_is_applied() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1")]);
    site.apply("app.yaml", &[]);
    let live = site.kubectl(&["get", "configmap/a", "-o", "yaml", "--show-managed-fields"]);
    let edited = String::from_utf8_lossy(&live.stdout).replace("key: \"1\"", "key: \"2\"");
    site.scratch.write("app.yaml", &edited);
    // Its version is an old one by then.
    site.kubectl_done(&["annotate", "configmap/a", "unrelated=1"]);
    site.apply("app.yaml", &[]);
    assert_eq!(site.object("configmap/a").expect("it is there")["data"]["key"], "2");
}
