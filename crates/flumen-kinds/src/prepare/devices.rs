//! What claims and slices may say only where unfinished features are turned on: a server drops it.

use serde_json::Value;

use super::remove;

/// Fields of a device that no feature brings here.
const OF_DEVICE: [&str; 9] = [
    "consumesCounters",
    "nodeName",
    "nodeSelector",
    "allNodes",
    "taints",
    "bindsToNode",
    "bindingConditions",
    "bindingFailureConditions",
    "allowMultipleAllocations",
];

pub(super) fn class(object: &mut Value) {
    if let Some(spec) = object.get_mut("spec") {
        remove(spec, "extendedResourceName");
    }
}

pub(super) fn claim(object: &mut Value) {
    if let Some(devices) = object.pointer_mut("/spec/devices") {
        requests(devices);
    }
}

pub(super) fn template(object: &mut Value) {
    if let Some(devices) = object.pointer_mut("/spec/spec/devices") {
        requests(devices);
    }
}

fn requests(devices: &mut Value) {
    for request in items(devices, "requests") {
        if let Some(exactly) = request.get_mut("exactly") {
            request_fields(exactly);
        }
        items(request, "firstAvailable").for_each(request_fields);
    }
    items(devices, "constraints").for_each(|constraint| remove(constraint, "distinctAttribute"));
}

fn request_fields(request: &mut Value) {
    remove(request, "tolerations");
    remove(request, "capacity");
}

pub(super) fn slice(object: &mut Value) {
    let Some(spec) = object.get_mut("spec") else { return };
    remove(spec, "sharedCounters");
    remove(spec, "perDeviceNodeSelection");
    for device in items(spec, "devices") {
        for field in OF_DEVICE {
            remove(device, field);
        }
        if let Some(Value::Object(capacity)) = device.get_mut("capacity") {
            capacity.values_mut().for_each(|of| remove(of, "requestPolicy"));
        }
    }
}

fn items<'a>(of: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}
