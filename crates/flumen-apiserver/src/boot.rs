//! Objects that every server has from its first moment on.

pub(crate) mod api_services;
mod flow_control;

use flumen_store::Range;
use serde_json::{Value, json};

use crate::{Api, ApiError, Client, Reason, ResourceName, clock, storage};

const NAMESPACES: ResourceName<'static> = ResourceName::new("", "v1", "namespaces");
const SERVICES: ResourceName<'static> = ResourceName::new("", "v1", "services");
const CONFIG_MAPS: ResourceName<'static> = ResourceName::new("", "v1", "configmaps");
const SERVICE_RANGES: ResourceName<'static> =
    ResourceName::new("networking.k8s.io", "v1", "servicecidrs");
const PRIORITY_CLASSES: ResourceName<'static> =
    ResourceName::new("scheduling.k8s.io", "v1", "priorityclasses");

/// Makes what is missing; what is there stays as it is.
pub(crate) async fn boot(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        let namespace = json!({ "metadata": { "name": name } });
        ensure(&client, NAMESPACES, "", namespace).await?;
    }
    note_services(api)?;
    ensure(&client, SERVICES, "default", service_of_server(api)).await?;
    for class in priority_classes() {
        ensure(&client, PRIORITY_CLASSES, "", class).await?;
    }
    tokio::try_join!(api_services::ensure_all(api), flow_control::ensure_all(api))?;
    ensure(&client, CONFIG_MAPS, "kube-system", token_tracking()).await?;
    ensure_range(api, &client).await
}

/// The service by which workloads would find the server.
fn service_of_server(api: &Api) -> Value {
    json!({
        "metadata": {
            "name": "kubernetes",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "clusterIP": api.services().range().first().to_string(),
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
            "type": "ClusterIP",
        },
    })
}

fn priority_classes() -> [Value; 2] {
    let class = |name: &str, value: i64, description: &str| {
        json!({
            "metadata": { "name": name },
            "value": value,
            "description": description,
        })
    };
    [
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another \
             node if necessary.",
        ),
    ]
}

/// Addresses that services have stay theirs.
fn note_services(api: &Api) -> Result<(), ApiError> {
    let range = Range { prefix: "core/services/", ..Range::default() };
    let page = api.store().range(&range).map_err(|error| storage::read_error(&error))?;
    for (_, entry) in &page.entries {
        api.services().note(&storage::decode(entry)?);
    }
    Ok(())
}

/// Since when tokens in secrets are tracked.
fn token_tracking() -> Value {
    let today = clock::now().strftime("%Y-%m-%d").to_string();
    json!({
        "metadata": { "name": "kube-apiserver-legacy-service-account-token-tracking" },
        "data": { "since": today },
    })
}

/// The object that says where services get their addresses.
async fn ensure_range(api: &Api, client: &Client) -> Result<(), ApiError> {
    let range = json!({
        "metadata": { "name": "kubernetes" },
        "spec": { "cidrs": [api.services().range().to_string()] },
    });
    let Some(mut made) = ensure(client, SERVICE_RANGES, "", range).await? else { return Ok(()) };
    made["status"] = json!({ "conditions": [{
        "type": "Ready",
        "status": "True",
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
        "lastTransitionTime": clock::text(clock::now()),
    }] });
    client.update_status(SERVICE_RANGES, &made).await.map(drop)
}

/// Makes an object unless it is there; none if it was.
async fn ensure(
    client: &Client,
    of: ResourceName<'_>,
    namespace: &str,
    object: Value,
) -> Result<Option<Value>, ApiError> {
    // Asking first, because creating again can fail for better reasons than being there already:
    // the address of a service is taken then.
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match client.get(of, namespace, name).await {
        Err(error) if error.reason() == Some(Reason::NotFound) => {
            client.create(of, namespace, &object).await.map(Some)
        }
        found => found.map(|_| None),
    }
}
