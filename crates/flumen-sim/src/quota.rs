//! What a namespace uses of its quota.

use flumen_kinds::Quantity;
use serde_json::{Map, Value, json};

use crate::{
    engine::Context,
    kind::Kind,
    object::{self, items, map, text},
    plan::{Plan, Writer},
};

pub(crate) fn decide(context: Context<'_>, quota: &Value) -> Plan {
    let mut plan = Plan::none();
    let Some(hard) = map(quota, "/spec/hard").filter(|_| !object::is_ending(quota)) else {
        return plan;
    };
    let namespace = object::namespace(quota);
    let used: Map<String, Value> = hard
        .keys()
        .map(|name| (name.clone(), used(context, namespace, name).to_string().into()))
        .collect();
    plan.status(Writer::Manager, Kind::ResourceQuota, quota, json!({"hard": hard, "used": used}));
    plan
}

fn used(context: Context<'_>, namespace: &str, name: &str) -> Quantity {
    let list = |kind: Kind| context.world.list(kind, namespace);
    let pods = || {
        let pods = list(Kind::Pod);
        pods.filter(|pod| !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed"))
    };
    let count = |number: usize| Quantity::from(i64::try_from(number).unwrap_or(i64::MAX));
    match name {
        "pods" => count(pods().count()),
        "services.loadbalancers" => {
            count(list(Kind::Service).filter(|s| text(s, "/spec/type") == "LoadBalancer").count())
        }
        "services.nodeports" => {
            let ports = list(Kind::Service).flat_map(|service| items(service, "/spec/ports"));
            count(ports.filter(|port| port.get("nodePort").is_some()).count())
        }
        "requests.storage" => {
            let claims = list(Kind::PersistentVolumeClaim);
            sum(claims.map(|claim| text(claim, "/spec/resources/requests/storage")))
        }
        _ => {
            if let Some(place) = name.strip_prefix("count/") {
                return count(context.world.count(place, namespace));
            }
            let (sort, resource) = match name.split_once('.') {
                Some((sort @ ("requests" | "limits"), resource)) => (sort, resource),
                _ if matches!(name, "cpu" | "memory" | "ephemeral-storage") => ("requests", name),
                _ => return count(context.world.count(name, namespace)),
            };
            let pointer = format!("/resources/{sort}/{}", resource.replace('/', "~1"));
            let containers = pods().flat_map(|pod| items(pod, "/spec/containers"));
            sum(containers.map(|container| text(container, &pointer)))
        }
    }
}

fn sum<'a>(quantities: impl Iterator<Item = &'a str>) -> Quantity {
    let parsed = quantities.filter_map(|text| Quantity::parse(text).ok());
    parsed.reduce(|sum, next| sum.plus(&next)).unwrap_or_else(|| Quantity::from(0))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Settings, plan::Action, world::World};

    #[test]
    fn pods_and_counts_add_up() {
        let mut world = World::default();
        for (name, cpu, phase) in
            [("a", "500m", "Running"), ("b", "1", "Running"), ("c", "9", "Failed")]
        {
            let pod = json!({
                "metadata": {"name": name, "namespace": "n", "resourceVersion": "1"},
                "spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}]},
                "status": {"phase": phase},
            });
            world.put(Kind::Pod, pod);
        }
        world.count_in("configmaps".to_owned(), "n".to_owned());
        world.count_in("deployments.apps".to_owned(), "n".to_owned());
        let quota = json!({
            "metadata": {"namespace": "n"},
            "spec": {"hard": {
                "pods": "10", "requests.cpu": "4", "configmaps": "5", "count/deployments.apps": "3",
                "limits.memory": "1Gi",
            }},
        });
        let settings = Settings::default();
        let now = Timestamp::UNIX_EPOCH;
        let plan = decide(Context { world: &world, now, settings: &settings }, &quota);
        let [Action::ReplaceStatus { object, .. }] = plan.actions.as_slice() else {
            panic!("{plan:?}")
        };
        assert_eq!(
            object["status"]["used"],
            json!({
                "pods": "2", "requests.cpu": "1500m", "configmaps": "1", "count/deployments.apps": "1",
                "limits.memory": "0",
            })
        );
    }
}
