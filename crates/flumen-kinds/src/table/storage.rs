//! Cells of volumes, claims, their classes and drivers.

use serde_json::Value;

use super::object::Object;

/// Where the class was before it had a field.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) fn volume_size(volume: Object<'_>) -> Value {
    volume.quantity("spec.capacity.storage").into()
}

pub(super) fn volume_modes(volume: Object<'_>) -> Value {
    access_modes(volume, "spec.accessModes").into()
}

/// The claim that has a volume, as `namespace/name`.
pub(super) fn claim(volume: Object<'_>) -> Value {
    if !volume.has("spec.claimRef") {
        return "".into();
    }
    let (namespace, name) =
        (volume.text("spec.claimRef.namespace"), volume.text("spec.claimRef.name"));
    format!("{namespace}/{name}").into()
}

/// The class of a volume or of a claim.
pub(super) fn class(object: Object<'_>) -> Value {
    object.annotation(OLD_CLASS).unwrap_or_else(|| object.text("spec.storageClassName")).into()
}

/// The phase of a volume or of a claim.
pub(super) fn phase(object: Object<'_>) -> Value {
    if object.has("metadata.deletionTimestamp") {
        return "Terminating".into();
    }
    object.text("status.phase").into()
}

/// What a claim got; nothing before it is bound.
pub(super) fn claim_size(claim: Object<'_>) -> Value {
    if claim.text("spec.volumeName").is_empty() {
        return "".into();
    }
    claim.quantity("status.capacity.storage").into()
}

pub(super) fn claim_modes(claim: Object<'_>) -> Value {
    if claim.text("spec.volumeName").is_empty() {
        return "".into();
    }
    access_modes(claim, "status.accessModes").into()
}

pub(super) fn class_name(class: Object<'_>) -> Value {
    let is_default = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ]
    .iter()
    .any(|name| class.annotation(name) == Some("true"));
    let name = class.text("metadata.name");
    if is_default { format!("{name} (default)").into() } else { name.into() }
}

pub(super) fn attach_required(driver: Object<'_>) -> Value {
    (!driver.has("spec.attachRequired") || driver.flag("spec.attachRequired")).into()
}

pub(super) fn token_requests(driver: Object<'_>) -> Value {
    if !driver.has("spec.tokenRequests") {
        return "<unset>".into();
    }
    let audiences = driver.items("spec.tokenRequests").map(|request| request.text("audience"));
    audiences.collect::<Vec<_>>().join(",").into()
}

pub(super) fn lifecycle_modes(driver: Object<'_>) -> Value {
    match driver.joined("spec.volumeLifecycleModes") {
        none if none.is_empty() => "<none>".into(),
        modes => modes.into(),
    }
}

fn access_modes(object: Object<'_>, path: &str) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| object.items(path).any(|given| given.as_str() == mode);
    let modes = SHORT.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    modes.collect::<Vec<_>>().join(",")
}
