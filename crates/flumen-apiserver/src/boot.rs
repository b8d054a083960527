//! Objects that every server has from its first moment on.

use serde_json::{Value, json};

use crate::{Api, ApiError, Client, Reason, ResourceName};

const NAMESPACES: ResourceName<'static> = ResourceName::new("", "v1", "namespaces");

/// Makes what is missing; what is there stays as it is.
pub(crate) async fn boot(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        let namespace = json!({ "metadata": { "name": name } });
        ensure(&client, NAMESPACES, "", namespace).await?;
    }
    Ok(())
}

async fn ensure(
    client: &Client,
    of: ResourceName<'_>,
    namespace: &str,
    object: Value,
) -> Result<(), ApiError> {
    match client.create(of, namespace, &object).await {
        Err(error) if error.reason() == Some(Reason::AlreadyExists) => Ok(()),
        done => done.map(drop),
    }
}
