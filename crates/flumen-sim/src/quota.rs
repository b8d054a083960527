//! What a namespace uses of its quota.

use flumen_kinds::{Quantity, quota};
use serde_json::{Map, Value, json};

use crate::{
    engine::Context,
    kind::Kind,
    object::{self, map},
    plan::{Plan, Writer},
};

/// Kinds whose objects are measured, not only counted.
const MEASURED: [(&str, Kind); 3] = [
    ("pods", Kind::Pod),
    ("services", Kind::Service),
    ("persistentvolumeclaims", Kind::PersistentVolumeClaim),
];

pub(crate) fn decide(context: Context<'_>, quota: &Value) -> Plan {
    let mut plan = Plan::none();
    let Some(hard) = map(quota, "/spec/hard").filter(|_| !object::is_ending(quota)) else {
        return plan;
    };
    let measured = measure(context, quota);
    let used: Map<String, Value> = hard
        .keys()
        .map(|name| (name.clone(), used(context, quota, &measured, name).to_string().into()))
        .collect();
    plan.status(Writer::Manager, Kind::ResourceQuota, quota, json!({"hard": hard, "used": used}));
    plan
}

/// What the objects that a quota is about use together.
fn measure(context: Context<'_>, quota: &Value) -> quota::Usage {
    let mut total = quota::Usage::new();
    for (plural, kind) in MEASURED {
        let objects = context.world.list(kind, object::namespace(quota));
        for object in objects.filter(|object| quota::is_in_scope(quota, plural, object)) {
            for (name, amount) in quota::usage("", plural, object, context.now) {
                let sum = total.get(&name).map_or_else(|| amount.clone(), |t| t.plus(&amount));
                total.insert(name, sum);
            }
        }
    }
    total
}

fn used(context: Context<'_>, quota: &Value, measured: &quota::Usage, name: &str) -> Quantity {
    let is_measured = MEASURED.iter().any(|(plural, _)| quota::is_about("", plural, name));
    if is_measured {
        return measured.get(name).cloned().unwrap_or_else(|| Quantity::from(0));
    }
    let place = name.strip_prefix("count/").unwrap_or(name);
    let count = context.world.count(place, object::namespace(quota));
    Quantity::from(i64::try_from(count).unwrap_or(i64::MAX))
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
