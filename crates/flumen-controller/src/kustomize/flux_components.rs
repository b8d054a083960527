//! Flux's own controllers, which a repository for Flux installs and which must not run beside this one.
//!
//! `flux bootstrap` commits them as `gotk-components.yaml`, so they are part of what is reconciled. Their definitions and
//! namespaces are applied like anything else. What makes them run is neither applied nor deleted: on a cluster that came
//! from Flux it stays as it is, and in the inventory, until somebody goes back to Flux or removes it.

use flumen_object::{Object, ObjectId, ObjectSet, set_annotation};
use flumen_runtime::Severity;
use flumen_yaml::Node;

use super::{GROUP, work::Work};

const PART_OF: &str = "app.kubernetes.io/part-of";
const FLUX: &str = "flux";

/// Kinds that make software run, and what it needs for that. Others with the label, such as dashboards and monitors of
/// Flux, are the user's.
const RUNNING: [(&str, &[&str]); 5] = [
    ("", &["ResourceQuota", "Service", "ServiceAccount"]),
    ("apps", &["DaemonSet", "Deployment", "StatefulSet"]),
    ("autoscaling", &["HorizontalPodAutoscaler"]),
    ("networking.k8s.io", &["NetworkPolicy"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
];

/// Whether an object is a part of Flux that is not applied.
pub fn is_flux_component(object: &Object) -> bool {
    let label = object.node.at(&["metadata", "labels", PART_OF]).and_then(Node::as_str);
    let ObjectId { gvk, .. } = object.id();
    label == Some(FLUX)
        && RUNNING.iter().any(|(group, kinds)| {
            *gvk.group == **group && kinds.iter().any(|kind| *gvk.kind == **kind)
        })
}

/// Sets the parts of Flux aside, and says so once for each build.
pub(super) fn leave_alone(work: Work<'_>, objects: ObjectSet, build_digest: &str) -> ObjectSet {
    let (objects, components) = set_aside(objects);
    let is_known = work.kustomize.memory.with(work.key(), |known| known.digest == build_digest);
    if !components.is_empty() && is_known != Some(true) {
        let notice = notice(&components);
        tracing::info!(object = %work.key(), "{notice}");
        work.post(Severity::Info, "FluxComponentsSkipped", &notice);
    }
    objects
}

/// Marks the parts of Flux, so that they are neither applied nor deleted, and returns their names.
fn set_aside(objects: ObjectSet) -> (ObjectSet, Vec<ObjectId>) {
    let mut components = Vec::new();
    let objects = objects.into_iter().map(|mut object| {
        if is_flux_component(&object) {
            set_annotation(&mut object.node, format!("{GROUP}/ssa"), "Ignore");
            components.push(object.id());
        }
        object
    });
    (objects.collect(), components)
}

/// What is said of them.
fn notice(components: &[ObjectId]) -> String {
    let names: Vec<String> = components.iter().map(ToString::to_string).collect();
    format!("parts of Flux are left alone, their work is done here: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn object(api_version: &str, kind: &str, label: &str) -> Object {
        let text = format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: x\n  labels: {{{label}}}\n"
        );
        let objects = flumen_build::objects_of(text.as_bytes(), Path::new("a.yaml"));
        objects.expect("YAML").into_iter().next().expect("an object")
    }

    #[test]
    fn what_makes_flux_run_is_a_component() {
        let of_flux = "app.kubernetes.io/part-of: flux";
        for (api_version, kind) in [
            ("apps/v1", "Deployment"),
            ("v1", "Service"),
            ("v1", "ServiceAccount"),
            ("networking.k8s.io/v1", "NetworkPolicy"),
            ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        ] {
            assert!(is_flux_component(&object(api_version, kind, of_flux)), "{kind}");
            assert!(!is_flux_component(&object(api_version, kind, "app: mine")), "{kind}");
        }
        for (api_version, kind) in [
            ("v1", "Namespace"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("monitoring.coreos.com/v1", "PodMonitor"),
            ("v1", "ConfigMap"),
            ("serving.knative.dev/v1", "Service"),
        ] {
            assert!(!is_flux_component(&object(api_version, kind, of_flux)), "{kind}");
        }
    }

    #[test]
    fn components_are_marked_and_named_and_others_are_as_they_were() {
        let of_flux = "app.kubernetes.io/part-of: flux";
        let set: ObjectSet =
            [object("v1", "Namespace", of_flux), object("apps/v1", "Deployment", of_flux)]
                .into_iter()
                .collect();
        let (objects, components) = set_aside(set);
        assert_eq!(
            components.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["Deployment/x"]
        );
        let marks: Vec<bool> = objects
            .iter()
            .map(|object| object.node.at(&["metadata", "annotations"]).is_some())
            .collect();
        assert_eq!(marks, [false, true]);
    }
}
