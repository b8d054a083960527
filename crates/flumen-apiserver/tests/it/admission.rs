//! What depends on more than the object.

use flumen_apiserver::{AdmissionPlugin, Api, ApiOptions, Client, Deletion, ResourceName};
use flumen_store::{Options, Store};
use serde_json::{Value, json};

use crate::server::{CONFIG_MAPS, NAMESPACES, config_map, refusal, start};

const PODS: ResourceName<'static> = ResourceName::new("", "v1", "pods");
const ACCOUNTS: ResourceName<'static> = ResourceName::new("", "v1", "serviceaccounts");

fn pod() -> Value {
    json!({
        "metadata": { "name": "p", "namespace": "default" },
        "spec": { "containers": [{ "name": "app", "image": "registry.example.com/app:1" }] },
    })
}

#[tokio::test]
async fn namespaces_come_first() {
    let client = start().await;
    let lost = client.create(CONFIG_MAPS, "none", &json!({ "metadata": { "name": "a" } })).await;
    assert_eq!(refusal(lost), (404, "namespaces \"none\" not found".to_owned()));
    let deletion = client.delete(NAMESPACES, "", "kube-system", Deletion::default()).await;
    assert_eq!(refusal(deletion).0, 403);
    let namespace = json!({ "metadata": { "name": "x" } });
    client.create(NAMESPACES, "", &namespace).await.expect("it is new");
    client.delete(NAMESPACES, "", "x", Deletion::default()).await.expect("it begins to end");
    let late = client.create(CONFIG_MAPS, "x", &json!({ "metadata": { "name": "a" } })).await;
    assert_eq!(refusal(late).0, 403);
}

#[tokio::test]
async fn pods_run_as_an_account() {
    let client = start().await;
    let (code, message) = refusal(client.create(PODS, "default", &pod()).await);
    assert_eq!(code, 403);
    assert!(message.ends_with("serviceaccount \"default\" not found"), "{message}");
    let account = json!({ "metadata": { "name": "default" } });
    client.create(ACCOUNTS, "default", &account).await.expect("it is new");
    let pod = client.create(PODS, "default", &pod()).await.expect("the account is there");
    let spec = &pod["spec"];
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(spec["tolerations"].as_array().map(Vec::len), Some(2));
    assert_eq!(spec["priority"], 0);
    let mount = &spec["containers"][0]["volumeMounts"][0];
    assert_eq!(mount["mountPath"], "/var/run/secrets/kubernetes.io/serviceaccount");
    assert_eq!(mount["name"], spec["volumes"][0]["name"]);
}

/// A server that does without some rules.
async fn start_without(plugins: &[&str]) -> Client {
    let store = Store::in_memory(Options::default()).expect("a store");
    let plugins = plugins.iter().map(|plugin| plugin.parse::<AdmissionPlugin>());
    let disabled_plugins = plugins.collect::<Result<_, _>>().expect("they are known");
    let options = ApiOptions { disabled_plugins, ..ApiOptions::default() };
    Client::new(Api::open_with(store, options).await.expect("an API"), "test")
}

#[tokio::test]
async fn rules_can_be_done_without() {
    let client = start_without(&["ServiceAccount"]).await;
    let pod = client.create(PODS, "default", &pod()).await.expect("no account");
    assert_eq!(pod["spec"]["volumes"], Value::Null);
    assert_eq!(pod["spec"]["priority"], 0, "other rules are applied");
    let error = "Nonsense".parse::<AdmissionPlugin>().expect_err("it is unknown");
    assert!(error.to_string().contains("LimitRanger, ServiceAccount"), "{error}");
}

#[tokio::test]
async fn limit_ranges_fill_in_and_refuse() {
    let client = start().await;
    let account = json!({ "metadata": { "name": "default" } });
    client.create(ACCOUNTS, "default", &account).await.expect("it is new");
    let range = json!({
        "metadata": { "name": "l" },
        "spec": { "limits": [{ "type": "Container", "default": { "cpu": "200m" }, "max": { "cpu": "1" } }] },
    });
    let ranges = ResourceName::new("", "v1", "limitranges");
    client.create(ranges, "default", &range).await.expect("it is new");
    let mut large = pod();
    large["spec"]["containers"][0]["resources"] = json!({ "limits": { "cpu": "2" } });
    let (_, message) = refusal(client.create(PODS, "default", &large).await);
    assert!(message.ends_with("maximum cpu usage per Container is 1, but limit is 2"), "{message}");
    let small = client.create(PODS, "default", &pod()).await.expect("it is small enough");
    assert_eq!(small["spec"]["containers"][0]["resources"]["limits"]["cpu"], "200m");
}

#[tokio::test]
async fn policies_of_users_deny() {
    let client = start().await;
    let policies = "validatingadmissionpolicies";
    let policies = ResourceName::new("admissionregistration.k8s.io", "v1", policies);
    let bindings = "validatingadmissionpolicybindings";
    let bindings = ResourceName::new("admissionregistration.k8s.io", "v1", bindings);
    let policy = json!({
        "metadata": { "name": "p" },
        "spec": {
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }] },
            "variables": [{ "name": "keys", "expression": "has(object.data) ? object.data : {}" }],
            "validations": [{ "expression": "'a' in variables.keys", "message": "key a is needed" }],
        },
    });
    client.create(policies, "", &policy).await.expect("it is valid");
    let binding = json!({
        "metadata": { "name": "b" },
        "spec": { "policyName": "p", "validationActions": ["Deny"] },
    });
    client.create(bindings, "", &binding).await.expect("it is valid");
    let denied = client.create(CONFIG_MAPS, "default", &config_map("x", json!({}))).await;
    let (code, message) = refusal(denied);
    assert_eq!(code, 422);
    assert!(message.ends_with("denied request: key a is needed"), "{message}");
    let allowed = config_map("x", json!({ "a": "1" }));
    client.create(CONFIG_MAPS, "default", &allowed).await.expect("it has the key");
}

const VALIDATING: ResourceName<'static> =
    ResourceName::new("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations");
const MUTATING: ResourceName<'static> =
    ResourceName::new("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations");

/// A webhook for new config maps that nothing answers.
fn lost_webhook(policy: &str) -> Value {
    json!({
        "metadata": { "name": "hooks" },
        "webhooks": [{
            "name": "check.example.com",
            "rules": [{
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }],
            "clientConfig": { "service": { "namespace": "default", "name": "none" } },
            "failurePolicy": policy,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    })
}

#[tokio::test]
async fn webhooks_and_quotas_can_be_done_without() {
    const ALL: [&str; 3] =
        ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook", "ResourceQuota"];
    let quotas = ResourceName::new("", "v1", "resourcequotas");
    let none =
        json!({ "metadata": { "name": "q" }, "spec": { "hard": { "count/configmaps": "0" } } });
    for missing in 0..=ALL.len() {
        let kept = ALL.get(missing);
        let others: Vec<&str> = ALL.into_iter().filter(|name| Some(name) != kept).collect();
        let client = start_without(&others).await;
        let mut quota = client.create(quotas, "default", &none).await.expect("it is valid");
        // Nobody else looks at the quota.
        let nothing = json!({ "count/configmaps": "0" });
        quota["status"] = json!({ "hard": nothing, "used": nothing });
        client.update_status(quotas, &quota).await.expect("it is valid");
        for configurations in [VALIDATING, MUTATING] {
            let hooks = client.create(configurations, "", &lost_webhook("Fail")).await;
            hooks.expect("it is valid");
        }
        let created = client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await;
        assert_eq!(created.is_err(), kept.is_some(), "with {kept:?}");
    }
}

#[tokio::test]
async fn webhooks_that_nothing_answers_fail_by_their_policy() {
    let client = start().await;
    let configurations = VALIDATING;
    client.create(configurations, "", &lost_webhook("Fail")).await.expect("it is valid");
    let failed = client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await;
    let (code, message) = refusal(failed);
    assert_eq!(code, 500);
    assert!(message.ends_with(": service \"none\" not found"), "{message}");
    let present = client.get(configurations, "", "hooks").await.expect("it is there");
    let mut ignoring = lost_webhook("Ignore");
    ignoring["metadata"]["resourceVersion"] = present["metadata"]["resourceVersion"].clone();
    client.update(configurations, &ignoring).await.expect("it is valid");
    client
        .create(CONFIG_MAPS, "default", &config_map("a", json!({})))
        .await
        .expect("it is ignored");
}

#[tokio::test]
async fn webhooks_without_rules_are_asked_nothing() {
    let client = start().await;
    let mut hooks = lost_webhook("Fail");
    hooks["webhooks"][0]["rules"] = json!([]);
    for configurations in [VALIDATING, MUTATING] {
        client.create(configurations, "", &hooks).await.expect("it is valid");
    }
    let created = client.create(CONFIG_MAPS, "default", &config_map("a", json!({}))).await;
    created.expect("no webhook is about it");
}
