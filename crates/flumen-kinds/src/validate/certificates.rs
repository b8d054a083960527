//! Requests to sign certificates.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::signers;
use crate::read::Read;
use crate::x509;

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];
/// Any name will do.
const NAMING: Naming = Naming::new(|_| Vec::new(), |_| Vec::new());

pub(super) fn request(e: &mut Report, object: &Value) {
    check(e, object, "");
}

/// A request whose certificate may be what it was, whatever that is.
fn check(e: &mut Report, object: &Value, known: &str) {
    meta::check(e, object, Scope::Cluster, NAMING);
    let at = Path::new("spec");
    let spec = object.part("spec");
    let bytes = STANDARD.decode(spec.text("request")).unwrap_or_default();
    if let Some(problem) = x509::request_problem(&bytes) {
        e.invalid(&at.child("request"), spec.part("request").clone(), problem);
    }
    let usages = at.child("usages");
    if spec.list("usages").is_empty() {
        e.required(&usages, "");
    }
    for (n, usage) in spec.texts("usages").enumerate() {
        e.one_of(&usages.index(n), usage, &USAGES);
    }
    let mut seen = BTreeSet::new();
    for (n, usage) in spec.texts("usages").enumerate() {
        if !seen.insert(usage) {
            e.duplicate(&usages.index(n), usage);
        }
    }
    let signer = spec.text("signerName");
    if signer == "kubernetes.io/legacy-unknown" {
        let detail = "the legacy signerName is not allowed via this API version";
        e.invalid(&at.child("signerName"), signer, detail);
    } else {
        signers::name(e, &at.child("signerName"), signer);
    }
    if let Some(seconds) = spec.int_given("expirationSeconds").filter(|seconds| *seconds < 600) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        e.invalid(&at.child("expirationSeconds"), seconds, detail);
    }
    conditions(e, object);
    let certificate = object.part("status").text("certificate");
    let bytes = STANDARD.decode(certificate).unwrap_or_default();
    let problem = || x509::certificates_problem(&bytes);
    if let Some(problem) = (certificate != known).then(problem).flatten() {
        let at = Path::new("status");
        e.invalid(&at.child("certificate"), "<certificate data>", problem);
    }
}

fn conditions(e: &mut Report, object: &Value) {
    let at = Path::new("status");
    let at = at.child("conditions");
    let mut seen = BTreeSet::new();
    for (n, condition) in object.part("status").list("conditions").iter().enumerate() {
        let (item, of) = (at.index(n), condition.text("type"));
        e.filled(&item.child("type"), of);
        let known: &[&str] =
            if FINAL.contains(&of) { &["True"] } else { &["False", "True", "Unknown"] };
        e.choice(&item.child("status"), condition.text("status"), known);
        let other = match of {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if seen.contains(other) {
            e.invalid(&at, of, "Approved and Denied conditions are mutually exclusive");
        }
        if !seen.insert(of) {
            e.duplicate(&item.child("type"), of);
        }
    }
}

/// What an endpoint of a request may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settable {
    Nothing,
    Certificate,
    Approval,
}

pub(super) fn request_update(e: &mut Report, new: &Value, old: &Value) {
    checked_update(e, new, old, Settable::Nothing);
}

pub(super) fn request_status(e: &mut Report, new: &Value, old: &Value) {
    checked_update(e, new, old, Settable::Certificate);
}

pub(super) fn request_approval(e: &mut Report, new: &Value, old: &Value) {
    checked_update(e, new, old, Settable::Approval);
}

fn checked_update(e: &mut Report, new: &Value, old: &Value, may: Settable) {
    check(e, new, old.part("status").text("certificate"));
    let at = Path::new("status");
    let conditions_at = at.child("conditions");
    let of_type = |object: &Value, of: &str| -> Vec<Value> {
        let conditions = object.part("status").list("conditions").iter();
        conditions.filter(|condition| condition.text("type") == of).cloned().collect()
    };
    for of in FINAL {
        if of_type(new, of).len() < of_type(old, of).len() {
            let detail = format!("updates may not remove a condition of type {of:?}");
            e.forbidden(&conditions_at, detail);
        }
    }
    if may != Settable::Approval {
        for of in ["Approved", "Denied"] {
            let (now, then) = (of_type(new, of), of_type(old, of));
            if now.len() > then.len() {
                let detail = format!("updates may not add a condition of type {of:?}");
                e.forbidden(&conditions_at, detail);
            } else if now.len() == then.len() && now != then {
                let detail = format!("updates may not modify a condition of type {of:?}");
                e.forbidden(&conditions_at, detail);
            }
        }
    }
    let certificate = "certificate";
    let (now, then) = (new.part("status").text(certificate), old.part("status").text(certificate));
    if now != then {
        let at = at.child(certificate);
        if may != Settable::Certificate {
            e.forbidden(&at, "updates may not set certificate content");
        } else if !then.is_empty() {
            e.forbidden(&at, "updates may not modify existing certificate content");
        }
    }
    meta::check_update(e, new, old);
}
