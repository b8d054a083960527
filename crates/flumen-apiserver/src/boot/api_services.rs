//! An `APIService` for every group and version that the server serves.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::{Api, ApiError, Client, Deletion, Reason, ResourceName};

const API_SERVICES: ResourceName<'static> =
    ResourceName::new("apiregistration.k8s.io", "v1", "apiservices");

/// By group and version: the priority of the group, and of the version in it.
const PRIORITIES: &[(&str, &str, u16, u8)] = &[
    ("", "v1", 18000, 1),
    ("admissionregistration.k8s.io", "v1", 16700, 15),
    ("apiextensions.k8s.io", "v1", 16700, 15),
    ("apps", "v1", 17800, 15),
    ("authentication.k8s.io", "v1", 17700, 15),
    ("authorization.k8s.io", "v1", 17600, 15),
    ("autoscaling", "v1", 17500, 15),
    ("autoscaling", "v2", 17500, 30),
    ("batch", "v1", 17400, 15),
    ("certificates.k8s.io", "v1", 17300, 15),
    ("coordination.k8s.io", "v1", 16500, 15),
    ("discovery.k8s.io", "v1", 16200, 15),
    ("events.k8s.io", "v1", 17750, 15),
    ("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
    ("networking.k8s.io", "v1", 17200, 15),
    ("node.k8s.io", "v1", 16300, 15),
    ("policy", "v1", 17100, 15),
    ("rbac.authorization.k8s.io", "v1", 17000, 15),
    ("resource.k8s.io", "v1", 16200, 21),
    ("scheduling.k8s.io", "v1", 16600, 15),
    ("storage.k8s.io", "v1", 16800, 15),
];

/// Those of custom resources come behind all others.
const CUSTOM_PRIORITIES: (u16, u8) = (1000, 100);

/// Makes those that are missing, all at once so that they share a flush.
pub(super) async fn ensure_all(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    let all = PRIORITIES.iter();
    let all = all.map(|(group, version, a, b)| service(group, version, (*a, *b), "onstart"));
    try_join_all(all.map(|service| ensure(&client, service))).await.map(drop)
}

/// Groups of custom resources, each with a version.
pub(crate) type Versions = BTreeSet<(String, String)>;

/// Follows definitions that have come or gone.
pub(crate) async fn follow(api: &Api, before: &Versions, now: &Versions) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "kube-apiserver");
    for (group, version) in now.difference(before) {
        ensure(&client, service(group, version, CUSTOM_PRIORITIES, "true")).await?;
    }
    for (group, version) in before.difference(now) {
        let name = format!("{version}.{group}");
        match client.delete(API_SERVICES, "", &name, Deletion::default()).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => {}
            done => done?,
        }
    }
    Ok(())
}

async fn ensure(client: &Client, service: Value) -> Result<(), ApiError> {
    match client.create(API_SERVICES, "", &service).await {
        Err(error) if error.reason() == Some(Reason::AlreadyExists) => Ok(()),
        made => made.map(drop),
    }
}

fn service(group: &str, version: &str, priorities: (u16, u8), managed: &str) -> Value {
    let mut spec = json!({
        "version": version,
        "groupPriorityMinimum": priorities.0,
        "versionPriority": priorities.1,
    });
    if !group.is_empty() {
        spec["group"] = group.into();
    }
    json!({
        "metadata": {
            "name": format!("{version}.{group}"),
            "labels": {"kube-aggregator.kubernetes.io/automanaged": managed},
        },
        "spec": spec,
    })
}
