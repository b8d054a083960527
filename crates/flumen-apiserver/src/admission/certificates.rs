//! Who may approve and sign certificates, and for whom none is asked.

use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::pki_types::{CertificateSigningRequestDer, pem::PemObject};
use serde_json::{Value, json};

use super::{Attempt, Operation, Result};
use crate::{
    User,
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

pub(super) fn validate(attempt: &Attempt<'_>, request: &Value) -> Result {
    if attempt.creates(GROUP, REQUESTS) {
        return check_subject(attempt, request);
    }
    let resource = attempt.resource();
    let is_request = (&*resource.group, &*resource.plural) == (GROUP, REQUESTS);
    let Some(old) = attempt.old.filter(|_| is_request && attempt.operation == Operation::Update)
    else {
        return Ok(());
    };
    let status = |of: &Value, field: &str| of["status"][field].clone();
    let changes = |field: &str| status(old, field) != status(request, field);
    let verb = match &*attempt.request.target().subresource {
        "approval" => "approve",
        "status" if changes("certificate") || changes("conditions") => "sign",
        _ => return Ok(()),
    };
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

/// Nobody becomes a master by a certificate.
fn check_subject(attempt: &Attempt<'_>, request: &Value) -> Result {
    if request["spec"]["signerName"] != CLIENT_SIGNER {
        return Ok(());
    }
    let pem = request["spec"]["request"].as_str().unwrap_or_default();
    let pem = STANDARD.decode(pem).unwrap_or_default();
    let Ok(der) = CertificateSigningRequestDer::from_pem_slice(&pem) else { return Ok(()) };
    if organizations(&der).any(|group| group == User::MASTERS.as_bytes()) {
        let why = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
        return Err(attempt.forbid(request, &why));
    }
    Ok(())
}

/// The organizations of the subject of a request: the values behind their object identifier.
fn organizations(der: &[u8]) -> impl Iterator<Item = &[u8]> {
    let subject = element(der)
        .and_then(|(_, request, _)| element(request))
        .and_then(|(_, info, _)| element(info))
        .and_then(|(_, _, after_version)| element(after_version))
        .map_or(&[][..], |(_, subject, _)| subject);
    elements(subject).flat_map(elements).filter_map(|attribute| {
        let mut parts = elements(attribute);
        let is_organization = parts.next() == Some(&ORGANIZATION[..]);
        parts.next().filter(|_| is_organization)
    })
}

/// The object identifier 2.5.4.10.
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];

/// The contents of the elements of a sequence or set.
fn elements(mut der: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (_, content, rest) = element(der)?;
        der = rest;
        Some(content)
    })
}

/// The first element: its tag, its content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if bytes.len() > 4 {
            return None;
        }
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}
