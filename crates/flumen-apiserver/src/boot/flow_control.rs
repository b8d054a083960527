//! The priority levels and flow schemas of every server.
//!
//! This server has no queues, so nothing follows them; clients that look for them find them.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::ensure;
use crate::{Api, ApiError, Client, ResourceName, clock};

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const LEVELS: ResourceName<'static> = ResourceName::new(GROUP, "v1", "prioritylevelconfigurations");
const SCHEMAS: ResourceName<'static> = ResourceName::new(GROUP, "v1", "flowschemas");
/// Names and specifications, as a server of Kubernetes 1.35 makes them.
const DEFAULTS: &str = include_str!("flow_control.json");

/// Makes those that are missing, all at once so that they share a flush.
pub(super) async fn ensure_all(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), "api-priority-and-fairness-config-producer-v1");
    let defaults: Value = serde_json::from_str(DEFAULTS).map_err(ApiError::internal)?;
    let all = [LEVELS, SCHEMAS].into_iter().flat_map(|of| {
        let list = defaults[of.plural].as_array().into_iter().flatten();
        list.map(move |facts| (of, facts))
    });
    try_join_all(all.map(|(of, facts)| make(&client, of, facts))).await.map(drop)
}

async fn make(client: &Client, of: ResourceName<'_>, facts: &Value) -> Result<(), ApiError> {
    let object = json!({
        "metadata": {
            "name": facts["name"],
            "annotations": { "apf.kubernetes.io/autoupdate-spec": "true" },
        },
        "spec": facts["spec"],
    });
    let Some(mut made) = ensure(client, of, "", object).await? else { return Ok(()) };
    if of != SCHEMAS {
        return Ok(());
    }
    let level = facts["spec"]["priorityLevelConfiguration"]["name"].as_str().unwrap_or_default();
    let message = format!(
        "This FlowSchema references the PriorityLevelConfiguration object named {level:?} and it exists"
    );
    made["status"] = json!({ "conditions": [{
        "type": "Dangling",
        "status": "False",
        "reason": "Found",
        "message": message,
        "lastTransitionTime": clock::text(clock::now()),
    }] });
    client.update_status(of, &made).await.map(drop)
}
