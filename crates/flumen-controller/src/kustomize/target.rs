//! The cluster that a Kustomization is applied to, and in whose name.

use flumen_api::Kustomization;
use flumen_kube::{Client, Cluster as _, ConnectOptions, Identity, ObjectName};
use flumen_runtime::{core_resource, secret};
use flumen_yaml::Node;

use super::{Kustomize, words};

/// Where objects go.
pub(super) struct Target {
    pub(super) client: Client,
    /// It is the cluster that we watch.
    pub(super) is_ours: bool,
}

/// The service account whose rights are used, if not our own.
pub(super) fn account<'a>(
    kustomize: &'a Kustomize,
    object: &'a Kustomization,
) -> Option<&'a String> {
    let named = object.spec.service_account_name.as_ref();
    named.or(kustomize.options.default_service_account.as_ref())
}

/// Finds the cluster. The error is what a user reads.
pub(super) async fn target(
    kustomize: &Kustomize,
    object: &Kustomization,
) -> Result<Target, String> {
    let namespace = &object.metadata.namespace;
    let account = account(kustomize, object);
    let (client, is_ours) = match &object.spec.kube_config {
        None => (kustomize.runtime.client.clone(), true),
        Some(config) => match &config.secret_ref {
            Some(secret) => {
                let key = secret.key.as_deref();
                (remote(kustomize, namespace, &secret.name, key).await?, false)
            }
            None => {
                return Err("clusters by a ConfigMap are not supported yet: \
                            use spec.kubeConfig.secretRef"
                    .to_owned());
            }
        },
    };
    let client = match account {
        None => client,
        Some(name) => {
            let identity = Identity::service_account(namespace, name);
            client.acting_as(&identity).map_err(|error| error.to_string())?
        }
    };
    Ok(Target { client, is_ours })
}

async fn remote(
    kustomize: &Kustomize,
    namespace: &str,
    name: &str,
    key: Option<&str>,
) -> Result<Client, String> {
    let place = format!("{namespace}/{name}");
    let content = secret(&kustomize.runtime.client, namespace, name)
        .await
        .map_err(|error| format!("unable to read KubeConfig secret '{place}' error: {error}"))?;
    let keys = key.map_or_else(|| vec!["value", "value.yaml"], |key| vec![key]);
    let Some(config) = keys.iter().find_map(|key| content.get(*key)) else {
        let key = key.unwrap_or("value");
        return Err(format!(
            "KubeConfig secret '{place}' does not contain a '{key}' key with a kubeconfig"
        ));
    };
    let invalid =
        |error: &dyn std::fmt::Display| format!("invalid KubeConfig in secret '{place}': {error}");
    let text = std::str::from_utf8(config).map_err(|error| invalid(&error))?;
    if let Some(why) = words::no_kubeconfig(text) {
        return Err(invalid(&why));
    }
    Client::from_kubeconfig_text(text, &ConnectOptions::default())
        .await
        .map_err(|error| invalid(&error))
}

/// Whether a service account exists on the cluster that we watch.
pub(super) async fn account_exists(kustomize: &Kustomize, namespace: &str, name: &str) -> bool {
    let resource = core_resource("ServiceAccount", "serviceaccounts");
    let object = ObjectName { resource: &resource, namespace, name };
    let found: Result<Option<Node>, _> = kustomize.runtime.client.get(object).await;
    !matches!(found, Ok(None))
}
