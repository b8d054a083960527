//! Config maps, secrets, service accounts and namespaces.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use crate::json;
use crate::read::Read;

const DATA_LIMIT: usize = 1024 * 1024;
const FROZEN: &str = "field is immutable when `immutable` is set";

pub(super) fn config_map(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let mut size = 0;
    let at = Path::new("data");
    for (key, value) in object.pairs("data") {
        e.form(&at.key(key), key, format::data_key);
        if object.map("binaryData").contains_key(key) {
            e.invalid(&at.key(key), key, "duplicate of key present in binaryData");
        }
        size += value.len();
    }
    let at = Path::new("binaryData");
    for (key, value) in object.pairs("binaryData") {
        e.form(&at.key(key), key, format::data_key);
        size += decoded_length(value);
    }
    if size > DATA_LIMIT {
        e.too_long(&Path::new("[]"), DATA_LIMIT);
    }
}

pub(super) fn config_map_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    frozen(e, new, old, &[("data", NoMap::IsEmpty), ("binaryData", NoMap::IsNone)]);
    config_map(e, new);
}

/// What a map that was not given is.
enum NoMap {
    IsNone,
    /// It is made when the object is read.
    IsEmpty,
}

fn frozen(e: &mut Report, new: &Value, old: &Value, fields: &[(&str, NoMap)]) {
    if !old.truth("immutable") {
        return;
    }
    if !new.truth("immutable") {
        e.forbidden(&Path::new("immutable"), FROZEN);
    }
    for (field, none) in fields {
        let is_same = match none {
            NoMap::IsEmpty => new.map(field) == old.map(field),
            NoMap::IsNone => new.part(field) == old.part(field),
        };
        if !is_same {
            e.forbidden(&Path::new(field), FROZEN);
        }
    }
}

/// How many bytes base64 text stands for.
fn decoded_length(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

pub(super) fn secret(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    let data = object.map("data");
    let at = Path::new("data");
    let mut size = 0;
    for (key, value) in object.pairs("data") {
        e.form(&at.key(key), key, format::data_key);
        size += decoded_length(value);
    }
    if size > DATA_LIMIT {
        e.too_long(&at, DATA_LIMIT);
    }
    match object.text("type") {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            let meta = object.part("metadata");
            if meta.part("annotations").text(key).is_empty() {
                let at = Path::new("metadata");
                e.required(&at.child("annotations").key(key), "");
            }
        }
        "kubernetes.io/dockercfg" => docker_config(e, object, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => docker_config(e, object, ".dockerconfigjson"),
        "kubernetes.io/basic-auth"
            if !data.contains_key("username") && !data.contains_key("password") =>
        {
            e.required(&at.key("username"), "");
            e.required(&at.key("password"), "");
        }
        "kubernetes.io/ssh-auth" if object.part("data").text("ssh-privatekey").is_empty() => {
            e.required(&at.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"] {
                if !data.contains_key(key) {
                    e.required(&at.key(key), "");
                }
            }
        }
        _ => {}
    }
}

fn docker_config(e: &mut Report, object: &Value, key: &str) {
    let at = Path::new("data");
    let Some(text) = object.part("data").text_given(key) else {
        return e.required(&at.key(key), "");
    };
    let bytes = STANDARD.decode(text).unwrap_or_default();
    if let Some(problem) = json_problem(&bytes) {
        e.invalid(&at.key(key), "<secret contents redacted>", problem);
    }
}

/// Why this is no JSON object, as Go says it.
fn json_problem(bytes: &[u8]) -> Option<String> {
    let tape = match json::scan(bytes) {
        Ok(tape) => tape,
        Err(problem) => return Some(problem),
    };
    match tape.root().kind() {
        "object" | "null" => None,
        kind => Some(format!(
            "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )),
    }
}

pub(super) fn secret_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    e.immutable_text(&Path::new("type"), new.text("type"), old.text("type"));
    frozen(e, new, old, &[("data", NoMap::IsNone)]);
    secret(e, new);
}

pub(super) fn service_account(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
}

pub(super) fn service_account_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    service_account(e, new);
}

pub(super) fn namespace(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::LABEL);
    let at = Path::new("spec");
    for name in object.part("spec").texts("finalizers") {
        let at = at.child("finalizers");
        e.form(&at, name, format::qualified_name);
        meta::kube_finalizer(e, &at, name);
    }
}

pub(super) fn namespace_update(e: &mut Report, new: &Value, old: &Value) {
    namespace(e, new);
    meta::check_update(e, new, old);
}

pub(super) fn namespace_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let phase = new.part("status").text("phase");
    let at = Path::new("status");
    let at = at.child("Phase");
    let deleted = new.part("metadata").some("deletionTimestamp").is_some();
    if !deleted && phase != "Active" {
        e.invalid(&at, phase, "may only be 'Active' if `deletionTimestamp` is empty");
    }
    if deleted && phase != "Terminating" {
        e.invalid(&at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
}

pub(super) fn namespace_finalize(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("spec");
    let at = at.child("finalizers");
    for (n, name) in new.part("spec").texts("finalizers").enumerate() {
        let at = at.index(n);
        e.form(&at, name, format::qualified_name);
        meta::kube_finalizer(e, &at, name);
    }
}
