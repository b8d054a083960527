//! Who may approve and sign certificates, and for whom none is asked.

use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::pki_types::{CertificateSigningRequestDer, pem::PemObject};
use serde_json::{Value, json};
use x509_cert::{der::Decode as _, request::CertReq};

use super::{Attempt, Operation, Result};
use crate::{
    User,
    auth::organizations,
    http::{RequestInfo, ResourceInfo},
    verbs::Request,
};

const GROUP: &str = "certificates.k8s.io";
const REQUESTS: &str = "certificatesigningrequests";
/// Its certificates say to the server who its clients are.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Notes in a request for a certificate who asks for it.
pub(crate) fn name_requester(request: &Request<'_>, object: &mut Value) {
    let resource = &request.resource;
    if (&*resource.group, &*resource.plural) != (GROUP, REQUESTS) {
        return;
    }
    let user = &request.call.user;
    let spec = &mut object["spec"];
    for (field, text) in [("username", &user.name), ("uid", &user.uid)] {
        if !text.is_empty() {
            spec[field] = text.as_str().into();
        }
    }
    if !user.groups.is_empty() {
        spec["groups"] = user.groups.clone().into();
    }
    if !user.extra.is_empty() {
        spec["extra"] = json!(user.extra);
    }
}

/// Nobody becomes a master by a certificate.
pub(super) fn restrict_subject(attempt: &Attempt<'_>, request: &Value) -> Result {
    if !attempt.creates(GROUP, REQUESTS) || request["spec"]["signerName"] != CLIENT_SIGNER {
        return Ok(());
    }
    let pem = request["spec"]["request"].as_str().unwrap_or_default();
    let pem = STANDARD.decode(pem).unwrap_or_default();
    let Ok(der) = CertificateSigningRequestDer::from_pem_slice(&pem) else { return Ok(()) };
    let Ok(wanted) = CertReq::from_der(&der) else { return Ok(()) };
    if organizations(&wanted.info.subject).any(|group| group == User::MASTERS) {
        let why = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
        return Err(attempt.forbid(request, &why));
    }
    Ok(())
}

/// Who approves certificates of a signer needs the right to.
pub(super) fn approve(attempt: &Attempt<'_>, request: &Value) -> Result {
    match changed(attempt, "approval") {
        Some(old) => check_right(attempt, "approve", old, request),
        None => Ok(()),
    }
}

/// Who gives out certificates of a signer needs the right to.
pub(super) fn sign(attempt: &Attempt<'_>, request: &Value) -> Result {
    let Some(old) = changed(attempt, "status") else { return Ok(()) };
    let is_same = |field: &str| old["status"][field] == request["status"][field];
    if is_same("certificate") && is_same("conditions") {
        return Ok(());
    }
    check_right(attempt, "sign", old, request)
}

/// What is there, if a part of a request for a certificate is changed.
fn changed<'a>(attempt: &Attempt<'a>, part: &str) -> Option<&'a Value> {
    let resource = attempt.resource();
    let is_part = (&*resource.group, &*resource.plural) == (GROUP, REQUESTS)
        && attempt.request.target().subresource == part;
    attempt.old.filter(|_| is_part && attempt.operation == Operation::Update)
}

fn check_right(attempt: &Attempt<'_>, verb: &str, old: &Value, request: &Value) -> Result {
    let signer = old["spec"]["signerName"].as_str().unwrap_or_default();
    if may(attempt, verb, signer) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(attempt.forbid(request, &why))
}

/// Whether the user may do something for a signer, by its name or for all of its domain.
fn may(attempt: &Attempt<'_>, verb: &str, signer: &str) -> bool {
    // Where nobody else can ask, everybody may.
    let Some(rbac) = attempt.request.api.rbac() else { return true };
    let domain = signer.split('/').next().unwrap_or_default();
    [signer.to_owned(), format!("{domain}/*")].into_iter().any(|name| {
        let asked = ResourceInfo {
            group: GROUP.to_owned(),
            version: "*".to_owned(),
            resource: "signers".to_owned(),
            name,
            ..ResourceInfo::default()
        };
        let info =
            RequestInfo { path: String::new(), resource: Some(asked), verb: verb.to_owned() };
        rbac.allows(&attempt.request.call.user, &info).is_ok()
    })
}
