//! Decisions about a deployment, one at a time.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::{Settings, plan::Told, world::World};

fn deployment(replicas: i64, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "n", "uid": "d", "generation": 1, "resourceVersion": "1",
        },
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": image}]},
            },
        },
    })
}

/// A replica set of a template, of a size, with as many pods available, made for a size of the whole.
fn set(
    image: &str,
    revision: i64,
    (replicas, available): (i64, i64),
    (desired, most): (i64, i64),
) -> Value {
    let deployment = deployment(0, image);
    let name = sets::name_of(&deployment, None);
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][sets::HASH] = "x".into();
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": "n", "uid": image, "generation": 1, "resourceVersion": "1",
            "creationTimestamp": format!("2026-01-01T00:00:0{revision}Z"),
            "labels": {"app": "web"},
            "ownerReferences": [object::controlled_by(Kind::Deployment, &deployment)],
            "annotations": {
                "deployment.kubernetes.io/revision": revision.to_string(),
                "deployment.kubernetes.io/desired-replicas": desired.to_string(),
                "deployment.kubernetes.io/max-replicas": most.to_string(),
            },
        },
        "spec": {"replicas": replicas, "template": template},
        "status": {
            "replicas": replicas, "availableReplicas": available, "readyReplicas": available,
            "observedGeneration": 1,
        },
    })
}

fn decided(deployment: &Value, sets: &[Value]) -> Plan {
    let mut world = World::default();
    for set in sets {
        world.put(Kind::ReplicaSet, set.clone());
    }
    let settings = Settings::default();
    decide(Context { world: &world, now: Timestamp::UNIX_EPOCH, settings: &settings }, deployment)
}

/// The sizes that replica sets get, by image.
fn sizes(plan: &Plan) -> Vec<(String, i64)> {
    let mut sizes: Vec<(String, i64)> = plan
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Create { kind: Kind::ReplicaSet, object, .. }
            | Action::Replace { kind: Kind::ReplicaSet, object, .. } => {
                let image = text(object, "/spec/template/spec/containers/0/image").to_owned();
                Some((image, number(object, "/spec/replicas")))
            }
            _ => None,
        })
        .collect();
    sizes.sort();
    sizes
}

fn check(deployment: &Value, sets: &[Value], expected: &[(&str, i64)]) -> Plan {
    let plan = decided(deployment, sets);
    let expected: Vec<(String, i64)> =
        expected.iter().map(|(image, size)| ((*image).to_owned(), *size)).collect();
    assert_eq!(sizes(&plan), expected);
    plan
}

fn status(plan: &Plan) -> &Value {
    let written = plan.actions.iter().find_map(|action| match action {
        Action::ReplaceStatus { object, .. } => object.get("status"),
        _ => None,
    });
    written.expect("a status")
}

#[test]
fn the_first_replica_set_has_all_pods() {
    let plan = check(&deployment(3, "a"), &[], &[("a", 3)]);
    let told: Vec<&str> = plan
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Tell(Told { message, .. }) => Some(message.as_str()),
            _ => None,
        })
        .collect();
    let name = sets::name_of(&deployment(3, "a"), None);
    assert_eq!(told, [format!("Scaled up replica set {name} from 0 to 3")]);
    assert_eq!(text(status(&plan), "/conditions/0/reason"), "NewReplicaSetCreated");
}

#[test]
fn a_rollout_stays_within_its_limits() {
    let new = deployment(4, "b");
    // One more than wished may be there, and one may be missing.
    check(&new, &[set("a", 1, (4, 4), (4, 5))], &[("a", 3), ("b", 1)]);
    let old = set("a", 1, (4, 4), (4, 5));
    check(&new, &[old, set("b", 2, (1, 0), (4, 5))], &[("a", 3)]);
    let old = set("a", 1, (3, 3), (4, 5));
    check(&new, &[old, set("b", 2, (1, 0), (4, 5))], &[("b", 2)]);
}

#[test]
fn pods_of_no_use_go_first() {
    let new = deployment(4, "c");
    let sets =
        [set("a", 1, (3, 3), (4, 5)), set("b", 2, (2, 0), (4, 5)), set("c", 3, (0, 0), (4, 5))];
    check(&new, &sets, &[("b", 0)]);
}

#[test]
fn recreation_waits_until_all_old_pods_are_gone() {
    let mut new = deployment(2, "b");
    new["spec"]["strategy"] = json!({"type": "Recreate"});
    check(&new, &[set("a", 1, (2, 2), (2, 2))], &[("a", 0)]);
    let mut old = set("a", 1, (0, 0), (2, 2));
    old["status"]["replicas"] = 2.into();
    check(&new, &[old], &[]);
    check(&new, &[set("a", 1, (0, 0), (2, 2))], &[("b", 2)]);
}

#[test]
fn scaling_in_the_middle_of_a_rollout_is_by_share() {
    let sets = [set("a", 1, (6, 6), (8, 10)), set("b", 2, (4, 2), (8, 10))];
    check(&deployment(16, "b"), &sets, &[("a", 12), ("b", 8)]);
    check(&deployment(0, "b"), &sets, &[("a", 0), ("b", 0)]);
}

#[test]
fn a_paused_deployment_scales_but_does_not_roll() {
    let mut paused = deployment(2, "b");
    paused["spec"]["paused"] = true.into();
    let plan = check(&paused, &[set("a", 1, (2, 2), (2, 3))], &[]);
    assert_eq!(text(status(&plan), "/conditions/0/reason"), "DeploymentPaused");
    paused["spec"]["replicas"] = 5.into();
    check(&paused, &[set("a", 1, (2, 2), (2, 3))], &[("a", 5)]);
}

#[test]
fn old_replica_sets_above_the_limit_are_deleted_when_all_is_done() {
    let mut done = deployment(1, "c");
    done["status"] = json!({
        "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "observedGeneration": 1,
    });
    let sets =
        [set("a", 1, (0, 0), (1, 2)), set("b", 2, (0, 0), (1, 2)), set("c", 3, (1, 1), (1, 2))];
    let plan = decided(&done, &sets);
    let deleted: Vec<&str> = plan
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Delete { uid, .. } => Some(uid.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deleted, ["a"]);
}

#[test]
fn a_name_that_is_taken_counts_as_a_collision() {
    let mut other = set("a", 1, (0, 0), (1, 2));
    other["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "name": "other", "uid": "o", "controller": true,
    }]);
    let plan = check(&deployment(1, "a"), &[other], &[]);
    assert_eq!(status(&plan)["collisionCount"], 1);
}
