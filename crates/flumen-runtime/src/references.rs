//! Reads of the core objects that others refer to: `ConfigMap`s, `Secret`s, service accounts.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_kube::{Client, Cluster as _, ObjectName, Resource};
use flumen_yaml::Node;

use crate::inputs::core_kind;

/// Content of a Secret. It is never printed.
pub type Secret = BTreeMap<String, Vec<u8>>;

/// Why an object cannot be read, in the words of the API server.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    #[error("{0} \"{1}\" not found")]
    NotFound(&'static str, String),
    #[error(transparent)]
    Cluster(#[from] flumen_kube::Error),
}

/// Returns a resource of the core group.
pub fn core_resource(kind: &'static str, plural: &'static str) -> Resource {
    Resource { gvk: core_kind(kind), plural: plural.into(), namespaced: true, verbs: [].into() }
}

pub async fn secret(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Secret, ReferenceError> {
    let object = get(client, "Secret", "secrets", namespace, name).await?;
    let decode = |(key, text): (String, String)| Some((key, STANDARD.decode(text).ok()?));
    Ok(data(&object).into_iter().filter_map(decode).collect())
}

/// Returns the image pull Secrets of a service account.
pub async fn pull_secrets(
    client: &Client,
    namespace: &str,
    service_account: &str,
) -> Result<Vec<Secret>, ReferenceError> {
    let account =
        get(client, "ServiceAccount", "serviceaccounts", namespace, service_account).await?;
    let names = account.get("imagePullSecrets").and_then(Node::as_seq).into_iter().flatten();
    let mut secrets = Vec::new();
    for name in names.filter_map(|entry| entry.get("name").and_then(Node::as_str)) {
        secrets.push(secret(client, namespace, name).await?);
    }
    Ok(secrets)
}

pub async fn config_map(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<BTreeMap<String, String>, ReferenceError> {
    get(client, "ConfigMap", "configmaps", namespace, name).await.map(|object| data(&object))
}

async fn get(
    client: &Client,
    kind: &'static str,
    plural: &'static str,
    namespace: &str,
    name: &str,
) -> Result<Node, ReferenceError> {
    let resource = core_resource(kind, plural);
    let object = ObjectName { resource: &resource, namespace, name };
    let found = client.get(object).await?;
    found.ok_or_else(|| ReferenceError::NotFound(plural, name.to_owned()))
}

fn data(object: &Node) -> BTreeMap<String, String> {
    let data = object.get("data").and_then(Node::as_map);
    let pairs = data.into_iter().flat_map(|data| data.iter());
    pairs
        .filter_map(|entry| Some((entry.key.to_string(), entry.value.as_str()?.to_owned())))
        .collect()
}
