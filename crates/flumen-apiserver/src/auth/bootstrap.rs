//! The roles and bindings that every server has.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::rbac::GROUP;
use crate::{Api, ApiError, Client, Reason, ResourceName, Select};

const POLICY: &str = include_str!("bootstrap/policy.txt");

/// Makes the roles and bindings that are missing. What users changed stays as it is.
pub(super) async fn ensure(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    let admin = ResourceName::new(GROUP, "v1", "clusterroles");
    let present = client.list(admin, Select::default()).await?.len();
    let objects = objects();
    if present >= objects.iter().filter(|(plural, _)| *plural == "clusterroles").count() {
        return Ok(());
    }
    try_join_all(objects.iter().map(|(plural, object)| {
        let client = &client;
        async move {
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
            let of = ResourceName::new(GROUP, "v1", plural);
            match client.create(of, namespace, object).await {
                Err(error) if error.reason() == Some(Reason::AlreadyExists) => Ok(()),
                done => done.map(drop),
            }
        }
    }))
    .await
    .map(drop)
}

/// All objects with the plural of their kind.
fn objects() -> Vec<(&'static str, Value)> {
    let mut objects: Vec<(&'static str, Value)> = Vec::new();
    for line in POLICY.lines().filter(|line| !line.starts_with('#')) {
        if let Some(detail) = line.strip_prefix("  ") {
            if let Some((plural, object)) = objects.last_mut() {
                let (list, entry) = if plural.ends_with("bindings") {
                    ("subjects", subject(detail))
                } else {
                    ("rules", rule(detail))
                };
                if let Some(list) = object[list].as_array_mut() {
                    list.push(entry);
                }
            }
            continue;
        }
        objects.extend(head(line));
    }
    objects
}

fn head(line: &str) -> Option<(&'static str, Value)> {
    let mut words = line.split(' ');
    let (plural, kind) = match words.next()? {
        "clusterrole" => ("clusterroles", "ClusterRole"),
        "role" => ("roles", "Role"),
        "clusterrolebinding" => ("clusterrolebindings", "ClusterRoleBinding"),
        _ => ("rolebindings", "RoleBinding"),
    };
    let mut object = json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": {
            "name": words.next()?,
            "annotations": { "rbac.authorization.kubernetes.io/autoupdate": "true" },
            "labels": { "kubernetes.io/bootstrapping": "rbac-defaults" },
        },
    });
    object[if kind.ends_with("Binding") { "subjects" } else { "rules" }] = json!([]);
    let label = |role: &str| format!("{GROUP}/aggregate-to-{role}");
    for word in words {
        if let Some(namespace) = word.strip_prefix("in=") {
            object["metadata"]["namespace"] = namespace.into();
        } else if let Some(roles) = word.strip_prefix("to=") {
            for role in roles.split(',') {
                object["metadata"]["labels"][label(role)] = "true".into();
            }
        } else if let Some(role) = word.strip_prefix("of=") {
            object["rules"] = Value::Null;
            object["aggregationRule"] =
                json!({ "clusterRoleSelectors": [{ "matchLabels": { label(role): "true" } }] });
        } else if let Some((kind, name)) = word.split_once('/') {
            let kind = if kind == "role" { "Role" } else { "ClusterRole" };
            object["roleRef"] = json!({ "apiGroup": GROUP, "kind": kind, "name": name });
        }
    }
    Some((plural, object))
}

fn rule(text: &str) -> Value {
    let words = |text: &str| -> Value {
        text.split(',').map(|word| if word == "core" { "" } else { word }).collect()
    };
    let mut parts = text.split(' ').map(words);
    let mut next = || parts.next().unwrap_or_default();
    let verbs = next();
    match (next(), next(), next()) {
        (paths, Value::Null, _) => json!({ "verbs": verbs, "nonResourceURLs": paths }),
        (groups, resources, Value::Null) => {
            json!({ "verbs": verbs, "apiGroups": groups, "resources": resources })
        }
        (groups, resources, names) => json!({
            "verbs": verbs,
            "apiGroups": groups,
            "resources": resources,
            "resourceNames": names,
        }),
    }
}

fn subject(text: &str) -> Value {
    let (kind, name) = text.split_once(' ').unwrap_or((text, ""));
    match (kind, name.split_once('/')) {
        ("serviceaccount", Some((namespace, name))) => {
            json!({ "kind": "ServiceAccount", "namespace": namespace, "name": name })
        }
        ("group", _) => json!({ "apiGroup": GROUP, "kind": "Group", "name": name }),
        _ => json!({ "apiGroup": GROUP, "kind": "User", "name": name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(plural: &str, name: &str) -> Value {
        let all = objects();
        let found = all.iter().find(|(p, o)| *p == plural && o["metadata"]["name"] == name);
        found.map(|(_, object)| object.clone()).unwrap_or_default()
    }

    #[test]
    fn the_policy_is_read_as_it_is_meant() {
        let all = find("clusterroles", "cluster-admin");
        assert_eq!(all["rules"][0]["apiGroups"], json!(["*"]));
        assert_eq!(all["rules"][1], json!({ "verbs": ["*"], "nonResourceURLs": ["*"] }));
        let edit = find("clusterroles", "edit");
        assert_eq!(edit["rules"], Value::Null);
        assert_eq!(edit["metadata"]["labels"][format!("{GROUP}/aggregate-to-admin")], "true");
        let viewers = find("clusterrolebindings", "system:public-info-viewer");
        assert_eq!(viewers["subjects"].as_array().map(Vec::len), Some(2));
        assert_eq!(viewers["roleRef"]["name"], "system:public-info-viewer");
        assert_eq!(objects().len(), 131);
    }
}
