//! The groups that are served, as objects: what `kubectl get apiservices` shows.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::versions;
use crate::{Api, ApiError, Client, Reason, ResourceName, Select};

const SERVICES: ResourceName<'static> =
    ResourceName::new("apiregistration.k8s.io", "v1", "apiservices");

/// Makes an object for every built-in group version, unless there are some.
pub(crate) async fn register(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    if !client.list(SERVICES, Select::default()).await?.is_empty() {
        return Ok(());
    }
    let catalog = api.catalog();
    let groups = versions::groups(&catalog);
    let core = [("", vec!["v1"])];
    let all = core.iter().chain(groups.iter().filter(|(group, _)| *group != SERVICES.group));
    let objects = all.enumerate().flat_map(|(place, (group, versions))| {
        versions.iter().map(move |version| service(place, group, version))
    });
    try_join_all(objects.map(|object| create(&client, object))).await.map(drop)
}

async fn create(client: &Client, object: Value) -> Result<(), ApiError> {
    match client.create(SERVICES, "", &object).await {
        Err(error) if error.reason() == Some(Reason::AlreadyExists) => Ok(()),
        created => created.map(drop),
    }
}

/// Groups that come first have a higher priority.
fn service(place: usize, group: &str, version: &str) -> Value {
    json!({
        "metadata": {
            "name": format!("{version}.{group}"),
            "labels": { "kube-aggregator.kubernetes.io/automanaged": "onstart" },
        },
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 18_000 - 100 * place,
            "versionPriority": 15,
        },
    })
}
