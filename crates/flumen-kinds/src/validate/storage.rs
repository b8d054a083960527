//! Classes of storage, drivers and attachments.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::{format, resources, selector, sources};
use crate::internal;
use crate::read::Read;

const PARAMETERS_COUNT: usize = 512;
const PARAMETERS_SIZE: usize = 256 * 1024;

fn provisioner(e: &mut Report, object: &Value, field: &str) {
    let name = object.text(field);
    if name.is_empty() {
        return e.required(&Path::new(field), "");
    }
    e.form(&Path::new(field), &name.to_lowercase(), format::qualified_name);
}

fn parameters(e: &mut Report, object: &Value) {
    let at = Path::new("parameters");
    if object.map("parameters").len() > PARAMETERS_COUNT {
        return e.too_long(&at, PARAMETERS_COUNT);
    }
    let mut size = 0;
    for (key, value) in object.pairs("parameters") {
        if key.is_empty() {
            e.invalid(&at, key, "field can not be empty.");
        }
        size += key.len() + value.len();
    }
    if size > PARAMETERS_SIZE {
        e.too_long(&at, PARAMETERS_SIZE);
    }
}

pub(super) fn class(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    provisioner(e, object, "provisioner");
    parameters(e, object);
    let policy = object.text("reclaimPolicy");
    if !policy.is_empty() {
        e.one_of(&Path::new("reclaimPolicy"), policy, &["Delete", "Retain"]);
    }
    let at = Path::new("volumeBindingMode");
    match object.text_given("volumeBindingMode") {
        None => e.required(&at, ""),
        Some(mode) => e.one_of(&at, mode, &["Immediate", "WaitForFirstConsumer"]),
    }
    let at = Path::new("allowedTopologies");
    let terms = object.list("allowedTopologies");
    let mut seen: Vec<Requirements<'_>> = Vec::new();
    for (n, term) in terms.iter().enumerate() {
        let at = at.index(n);
        let expressions = term.list("matchLabelExpressions");
        let required = topology_term(e, &at.child("matchLabelExpressions"), expressions);
        // The server starts with as many empty terms as there are terms.
        let blank = if required.is_empty() { terms.len() } else { 0 };
        for _ in 0..blank + seen.iter().filter(|other| **other == required).count() {
            e.duplicate(&at.child("matchLabelExpressions"), "");
        }
        seen.push(required);
    }
}

/// The values that a term allows for each key; of two with the same key the last counts.
type Requirements<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn topology_term<'a>(e: &mut Report, at: &Path<'_>, expressions: &'a [Value]) -> Requirements<'a> {
    let mut required = Requirements::new();
    for (n, expression) in expressions.iter().enumerate() {
        let at = at.index(n);
        let values_at = at.child("values");
        if expression.list("values").is_empty() {
            e.required(&values_at, "");
        }
        let mut values = BTreeSet::new();
        for (n, value) in expression.texts("values").enumerate() {
            if !values.insert(value) {
                e.duplicate(&values_at.index(n), value);
            }
        }
        let key = expression.text("key");
        e.form(&at.child("key"), key, format::qualified_name);
        if required.insert(key, values).is_some() {
            e.duplicate(&at.child("key"), key);
        }
    }
    required
}

pub(super) fn class_update(e: &mut Report, new: &Value, old: &Value) {
    class(e, new);
    meta::check_update(e, new, old);
    for field in ["parameters", "provisioner", "reclaimPolicy"] {
        if new.part(field) != old.part(field) {
            e.forbidden(&Path::new(field), format!("updates to {field} are forbidden."));
        }
    }
    let mode = "volumeBindingMode";
    e.immutable(&Path::new(mode), new.part(mode), old.part(mode));
}

pub(super) fn attributes_class(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    provisioner(e, object, "driverName");
    parameters(e, object);
    if object.map("parameters").is_empty() {
        e.required(&Path::new("parameters"), "must contain at least one key/value pair");
    }
}

pub(super) fn attributes_class_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    for field in ["driverName", "parameters"] {
        if new.part(field) != old.part(field) {
            e.forbidden(&Path::new(field), format!("updates to {field} are forbidden."));
        }
    }
    attributes_class(e, new);
}

pub(super) fn attachment(e: &mut Report, object: &Value) {
    checked_attachment(e, object);
    // What only this version demands is said a second time.
    let spec = object.part("spec");
    sources::csi_driver(e, &Path::new("spec.attacher"), spec.text("attacher"));
    if let Some(name) = spec.part("source").text_given("persistentVolumeName") {
        e.form(&Path::new("spec.source.persistentVolumeName"), name, format::dns_subdomain);
    }
}

fn checked_attachment(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    e.filled(&at.child("attacher"), spec.text("attacher"));
    let source_at = at.child("source");
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let source = spec.part("source");
    match (source.some("inlineVolumeSpec"), source.text_given("persistentVolumeName")) {
        (None, None) => e.required(&source_at, detail),
        (Some(_), Some(_)) => e.forbidden(&source_at, detail),
        (None, Some("")) => {
            let detail = "must specify non empty persistentVolumeName";
            e.required(&source_at.child("persistentVolumeName"), detail);
        }
        _ => {}
    }
    e.form(&at.child("nodeName"), spec.text("nodeName"), format::dns_subdomain);
    let at = Path::new("status");
    for field in ["attachError", "detachError"] {
        let error = object.part("status").part(field);
        let at = at.child(field);
        if error.text("message").len() > 1024 {
            e.too_long(&at.child("message"), PARAMETERS_SIZE);
        }
        let code = error.int("errorCode");
        if code < 0 {
            let detail = format::between(0, i64::from(i32::MAX));
            e.invalid(&at.child("errorCode"), code, detail);
        }
    }
}

pub(super) fn attachment_update(e: &mut Report, new: &Value, old: &Value) {
    checked_attachment(e, new);
    if new.part("spec") != old.part("spec") {
        let shown = internal::shown("storage.VolumeAttachmentSpec", new.part("spec"));
        e.invalid(&Path::new("spec"), shown, IMMUTABLE);
    }
}

pub(super) fn node(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let at = at.child("drivers");
    let mut names = BTreeSet::new();
    for (n, driver) in object.part("spec").list("drivers").iter().enumerate() {
        let at = at.index(n);
        sources::csi_driver(e, &at.child("name"), driver.text("name"));
        let id = driver.text("nodeID");
        e.filled(&at.child("nodeID"), id);
        if id.len() > 256 {
            e.invalid(&at.child("nodeID"), id, "must be 256 characters or less");
        }
        let count = driver.part("allocatable").int("count");
        e.not_negative(&at.child("allocatable").child("count"), count);
        if !names.insert(driver.text("name")) {
            e.duplicate(&at.child("name"), driver.text("name"));
        }
        let mut keys = BTreeSet::new();
        for key in driver.texts("topologyKeys") {
            e.filled(&at, key);
            if !keys.insert(key) {
                e.duplicate(&at, key);
            }
            e.form(&at, key, format::qualified_name);
        }
    }
}

pub(super) fn node_update(e: &mut Report, new: &Value, old: &Value) {
    // The server checks the whole of it twice.
    node(e, new);
    node(e, new);
    let at = Path::new("spec");
    let at = at.child("drivers");
    let without_count = |driver: &Value| {
        let mut driver = driver.clone();
        if let Value::Object(fields) = &mut driver {
            fields.remove("allocatable");
        }
        driver
    };
    for was in old.part("spec").list("drivers") {
        for driver in new.part("spec").list("drivers") {
            let driver = without_count(driver);
            if driver.text("name") == was.text("name") && driver != without_count(was) {
                let shown = internal::shown("storage.CSINodeDriver", &driver);
                e.invalid(&at, shown, IMMUTABLE);
            }
        }
    }
}

pub(super) fn driver(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    driver_spec(e, object.part("spec"));
}

fn driver_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    let required = [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ];
    for (field, shown) in required {
        if spec.some(field).is_none() {
            e.required(&at.child(shown), "");
        }
    }
    let policy = spec.text_given("fsGroupPolicy");
    let known = ["File", "None", "ReadWriteOnceWithFSType"];
    e.one_of_if_given(&at.child("fsGroupPolicy"), policy, &known);
    let requests_at = at.child("tokenRequests");
    let mut audiences = BTreeSet::new();
    for (n, request) in spec.list("tokenRequests").iter().enumerate() {
        let at = requests_at.index(n);
        let audience = request.text("audience");
        if !audiences.insert(audience) {
            e.duplicate(&at.child("audience"), audience);
            continue;
        }
        let Some(seconds) = request.int_given("expirationSeconds") else { continue };
        let at = at.child("expirationSeconds");
        if seconds < 600 {
            e.invalid(&at, seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds > 1 << 32 {
            e.invalid(&at, seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }
    for mode in spec.texts("volumeLifecycleModes") {
        e.one_of(&at.child("volumeLifecycleModes"), mode, &["Persistent", "Ephemeral"]);
    }
    if spec.some("seLinuxMount").is_none() {
        e.required(&at.child("seLinuxMount"), "");
    }
    let field = "nodeAllocatableUpdatePeriodSeconds";
    if let Some(period) = spec.int_given(field).filter(|period| *period < 10) {
        e.invalid(&at.child(field), period, "must be greater than or equal to 10 seconds");
    }
    if let Some(in_secrets) = spec.truth_given("serviceAccountTokenInSecrets")
        && spec.list("tokenRequests").is_empty()
    {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        e.invalid(&at.child("serviceAccountTokenInSecrets"), in_secrets, detail);
    }
}

pub(super) fn driver_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let (spec, was) = (new.part("spec"), old.part("spec"));
    driver_spec(e, spec);
    let at = Path::new("spec");
    e.immutable(
        &at.child("attachedRequired"),
        spec.part("attachRequired"),
        was.part("attachRequired"),
    );
    let modes = "volumeLifecycleModes";
    e.immutable(&at.child(modes), spec.part(modes), was.part(modes));
}

pub(super) fn capacity(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    selector::check(e, &Path::new("nodeTopology"), object.part("nodeTopology"));
    let class = object.text("storageClassName");
    e.form(&Path::new("storageClassName"), class, format::dns_subdomain);
    if let Some(capacity) = object.some("capacity") {
        resources::not_negative(e, &Path::new("capacity"), capacity);
    }
}

pub(super) fn capacity_update(e: &mut Report, new: &Value, old: &Value) {
    capacity(e, new);
    meta::check_update(e, new, old);
    if new.part("nodeTopology") != old.part("nodeTopology") {
        let shown = selector::shown(new.part("nodeTopology"));
        e.invalid(&Path::new("nodeTopology"), shown, IMMUTABLE);
    }
    let class = "storageClassName";
    e.immutable_text(&Path::new(class), new.text(class), old.text(class));
}
