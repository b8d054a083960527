//! What every namespace has: a default service account, and the authority of the server.

use serde_json::{Value, json};

use crate::{
    engine::Context,
    kind::Kind,
    object::{self, text},
    plan::Plan,
};

/// The config map that pods read the authority of the server from.
pub(crate) const ROOT_CA: &str = "kube-root-ca.crt";

const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Makes what an active namespace lacks.
pub(crate) fn decide(context: Context<'_>, namespace: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::is_ending(namespace) || text(namespace, "/status/phase") != "Active" {
        return plan;
    }
    let name = object::name(namespace);
    if context.world.find(Kind::ServiceAccount, name, "default").is_none() {
        plan.create(
            Kind::ServiceAccount,
            json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": name},
            }),
        );
    }
    let authority = &context.settings.root_ca;
    let wanted = json!({"ca.crt": authority});
    match context.world.find(Kind::ConfigMap, name, ROOT_CA) {
        None => plan.create(
            Kind::ConfigMap,
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": ROOT_CA,
                    "namespace": name,
                    "annotations": {"kubernetes.io/description": DESCRIPTION},
                },
                "data": wanted,
            }),
        ),
        Some(map) if map.get("data") != Some(&wanted) && !object::is_ending(map) => {
            let mut map = map.clone();
            map["data"] = wanted;
            object::annotate(&mut map, "kubernetes.io/description", DESCRIPTION);
            plan.replace(Kind::ConfigMap, map);
        }
        Some(_) => {}
    }
    plan
}
