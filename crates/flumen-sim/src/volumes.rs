//! Claims and volumes: every claim of a class gets a volume made for it, with nothing behind it.

use flumen_kinds::Quantity;
use serde_json::{Value, json};

use crate::{
    engine::Context,
    kind::Kind,
    object::{self, annotate, annotation, has_finalizer, items, map, text, without_finalizer},
    plan::{Plan, Writer},
    selector,
};

const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const PROVISIONER: &str = "sim.flumen.dev";
const SOURCE: &str = "persistentvolume-controller";

/// Sees to it that there is a class for claims that name none. Hangs on the system's namespace.
pub(crate) fn default_class(context: Context<'_>, namespace: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::name(namespace) == "kube-system" && default_of(context).is_none() {
        plan.create(
            Kind::StorageClass,
            json!({
                "apiVersion": Kind::StorageClass.api_version(),
                "kind": Kind::StorageClass.name(),
                "metadata": {
                    "name": "standard",
                    "annotations": {DEFAULT_CLASS: "true", crate::pod::SIMULATED: "true"},
                },
                "provisioner": PROVISIONER,
                "allowVolumeExpansion": true,
            }),
        );
    }
    plan
}

fn default_of(context: Context<'_>) -> Option<&Value> {
    context
        .world
        .all(Kind::StorageClass)
        .find(|class| annotation(class, DEFAULT_CLASS) == Some("true"))
}

/// Lets a claim go once no pod uses it.
pub(crate) fn release_claim(context: Context<'_>, claim: &Value) -> Plan {
    let mut plan = Plan::none();
    if !object::is_ending(claim) || !has_finalizer(claim, CLAIM_PROTECTION) {
        return plan;
    }
    let name = object::name(claim);
    let mut pods = context.world.list(Kind::Pod, object::namespace(claim));
    let is_used = pods.any(|pod| {
        let over = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
        !over && crate::concern::claims(pod).any(|used| used == name)
    });
    if !is_used {
        plan.replace(Kind::PersistentVolumeClaim, without_finalizer(claim, CLAIM_PROTECTION));
    }
    plan
}

/// Lets a volume go once no claim has it.
pub(crate) fn release_volume(context: Context<'_>, volume: &Value) -> Plan {
    let mut plan = Plan::none();
    let protected = object::is_ending(volume) && has_finalizer(volume, VOLUME_PROTECTION);
    if protected && claim_of(context, volume).is_none() {
        plan.replace(Kind::PersistentVolume, without_finalizer(volume, VOLUME_PROTECTION));
    }
    plan
}

/// The claim that a volume is for, if it is still there.
fn claim_of<'a>(context: Context<'a>, volume: &Value) -> Option<&'a Value> {
    let reference = volume.pointer("/spec/claimRef")?;
    let (namespace, name) = (text(reference, "/namespace"), text(reference, "/name"));
    let claim = context.world.find(Kind::PersistentVolumeClaim, namespace, name)?;
    let uid = text(reference, "/uid");
    (uid.is_empty() || uid == object::uid(claim)).then_some(claim)
}

/// Binds a claim to a volume that fits, or to one that is made for it.
pub(crate) fn bind(context: Context<'_>, claim: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::is_ending(claim) {
        return plan;
    }
    match text(claim, "/spec/volumeName") {
        "" => find_volume(context, &mut plan, claim),
        name => match context.world.find(Kind::PersistentVolume, "", name) {
            Some(volume) => confirm(&mut plan, claim, volume),
            None if text(claim, "/status/phase") == "Bound" => {
                let status = with_phase(claim, "Lost");
                plan.status(Writer::Manager, Kind::PersistentVolumeClaim, claim, status);
                let message =
                    "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
                plan.warn(claim, SOURCE, "ClaimLost", message.to_owned());
            }
            None => {}
        },
    }
    plan
}

fn find_volume(context: Context<'_>, plan: &mut Plan, claim: &Value) {
    let class_name = annotation(claim, "volume.beta.kubernetes.io/storage-class")
        .or_else(|| claim.pointer("/spec/storageClassName").and_then(Value::as_str));
    let Some(class_name) = class_name else {
        if let Some(class) = default_of(context) {
            let mut claim = claim.clone();
            claim["spec"]["storageClassName"] = object::name(class).into();
            plan.replace(Kind::PersistentVolumeClaim, claim);
        }
        return;
    };
    let own = context.world.all(Kind::PersistentVolume).find(|volume| {
        text(volume, "/spec/claimRef/uid") == object::uid(claim) || fits(volume, claim, class_name)
    });
    if let Some(volume) = own {
        take(plan, claim, volume);
        return;
    }
    let Some(class) = context.world.find(Kind::StorageClass, "", class_name) else {
        if !class_name.is_empty() {
            let message = format!("storageclass.storage.k8s.io {class_name:?} not found");
            plan.warn(claim, SOURCE, "ProvisioningFailed", message);
        }
        return;
    };
    let provisioner = text(class, "/provisioner");
    if provisioner != "kubernetes.io/no-provisioner" {
        plan.create(Kind::PersistentVolume, volume(claim, class, class_name, provisioner));
        let name = format!("pvc-{}", object::uid(claim));
        let message = format!("Successfully provisioned volume {name}");
        plan.tell(claim, SOURCE, "ProvisioningSucceeded", message);
    }
}

/// Whether a volume that was made by hand can serve a claim.
fn fits(volume: &Value, claim: &Value, class_name: &str) -> bool {
    let reference = (text(volume, "/spec/claimRef/namespace"), text(volume, "/spec/claimRef/name"));
    let is_free = volume.pointer("/spec/claimRef").is_none()
        || (reference == (object::namespace(claim), object::name(claim))
            && text(volume, "/spec/claimRef/uid").is_empty());
    let size = |object: &Value, pointer: &str| Quantity::parse(text(object, pointer)).ok();
    let has_room = match (
        size(volume, "/spec/capacity/storage"),
        size(claim, "/spec/resources/requests/storage"),
    ) {
        (Some(has), Some(wants)) => has >= wants,
        _ => false,
    };
    let modes = items(volume, "/spec/accessModes");
    let selects = claim
        .pointer("/spec/selector")
        .is_none_or(|selector| selector::matches(Some(selector), map(volume, "/metadata/labels")));
    is_free
        && has_room
        && selects
        && !object::is_ending(volume)
        && text(volume, "/spec/storageClassName") == class_name
        && text(volume, "/spec/volumeMode") == text(claim, "/spec/volumeMode")
        && items(claim, "/spec/accessModes").iter().all(|mode| modes.contains(mode))
}

/// Binds a claim and a volume to each other.
fn take(plan: &mut Plan, claim: &Value, volume: &Value) {
    if text(volume, "/spec/claimRef/uid") != object::uid(claim) {
        let mut volume = volume.clone();
        volume["spec"]["claimRef"] = crate::plan::reference(claim);
        annotate(&mut volume, "pv.kubernetes.io/bound-by-controller", "yes");
        plan.replace(Kind::PersistentVolume, volume);
    }
    let mut bound = claim.clone();
    bound["spec"]["volumeName"] = object::name(volume).into();
    annotate(&mut bound, "pv.kubernetes.io/bind-completed", "yes");
    annotate(&mut bound, "pv.kubernetes.io/bound-by-controller", "yes");
    plan.replace(Kind::PersistentVolumeClaim, bound);
}

fn volume(claim: &Value, class: &Value, class_name: &str, provisioner: &str) -> Value {
    let name = format!("pvc-{}", object::uid(claim));
    let policy = match text(class, "/reclaimPolicy") {
        "" => "Delete",
        policy => policy,
    };
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {
                "pv.kubernetes.io/provisioned-by": provisioner,
                crate::pod::SIMULATED: "true",
            },
        },
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "claimRef": crate::plan::reference(claim),
            "csi": {"driver": PROVISIONER, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": class_name,
            "volumeMode": claim["spec"]["volumeMode"],
        },
    })
}

/// Writes that both are bound. A claim that wants to grow grows.
fn confirm(plan: &mut Plan, claim: &Value, volume: &Value) {
    let mut status = with_phase(claim, "Bound");
    status["accessModes"] = volume["spec"]["accessModes"].clone();
    status["capacity"] = volume["spec"]["capacity"].clone();
    let size = |object: &Value, pointer: &str| Quantity::parse(text(object, pointer)).ok();
    let wanted = claim.pointer("/spec/resources/requests/storage");
    let grows =
        size(claim, "/spec/resources/requests/storage") > size(volume, "/spec/capacity/storage");
    if let (true, Some(wanted)) = (grows, wanted) {
        let mut volume = volume.clone();
        volume["spec"]["capacity"]["storage"] = wanted.clone();
        status["capacity"]["storage"] = wanted.clone();
        plan.replace(Kind::PersistentVolume, volume);
    }
    plan.status(Writer::Manager, Kind::PersistentVolumeClaim, claim, status);
}

fn with_phase(object: &Value, phase: &str) -> Value {
    let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
    status["phase"] = phase.into();
    status
}

/// The phase of a volume, and its end when its claim is gone.
pub(crate) fn volume_phase(context: Context<'_>, volume: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::is_ending(volume) {
        return plan;
    }
    let phase = match (volume.pointer("/spec/claimRef/uid"), claim_of(context, volume)) {
        (None, _) => "Available",
        (Some(_), Some(_)) => "Bound",
        (Some(_), None) => "Released",
    };
    let is_ours = annotation(volume, "pv.kubernetes.io/provisioned-by").is_some();
    let policy = text(volume, "/spec/persistentVolumeReclaimPolicy");
    if phase == "Released" && policy == "Delete" && is_ours {
        plan.delete(Kind::PersistentVolume, volume);
        return plan;
    }
    if text(volume, "/status/phase") != phase {
        let mut status = with_phase(volume, phase);
        status["lastPhaseTransitionTime"] = object::stamp(context.now).into();
        plan.status(Writer::Manager, Kind::PersistentVolume, volume, status);
    }
    plan
}
