//! How objects get from one version to another.

use base64::{Engine, engine::general_purpose::STANDARD};
use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::{Leniency, one_of, spec::Spec, texts};
use crate::names;

const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

fn review_versions<'a>(spec: &Spec<'a>) -> Vec<&'a str> {
    texts(&spec.conversion["webhook"], "conversionReviewVersions")
}

pub(super) fn has_recognized_version(spec: &Spec<'_>) -> bool {
    let versions = review_versions(spec);
    versions.is_empty() || versions.iter().any(|it| REVIEW_VERSIONS.contains(it))
}

pub(super) fn has_invalid_ca_bundle(spec: &Spec<'_>) -> bool {
    let bundle = &spec.conversion["webhook"]["clientConfig"]["caBundle"];
    bundle.as_str().is_some_and(|bundle| !bundle.is_empty() && !is_ca_bundle(bundle))
}

/// Certificates, each between its own lines.
pub(crate) fn is_ca_bundle(bundle: &str) -> bool {
    let Ok(text) = STANDARD.decode(bundle) else { return false };
    let text = String::from_utf8_lossy(&text);
    let mut certificates = text.split("-----BEGIN CERTIFICATE-----").skip(1).peekable();
    certificates.peek().is_some()
        && certificates.all(|it| {
            it.split_once("-----END CERTIFICATE-----").is_some_and(|(body, _)| {
                let body: String = body.split_whitespace().collect();
                STANDARD.decode(body).is_ok_and(|bytes| bytes.first() == Some(&0x30))
            })
        })
}

pub(super) fn check(
    spec: &Spec<'_>,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let conversion = spec.conversion;
    if !conversion.is_object() {
        return;
    }
    let at = at.child("conversion");
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    if strategy != "None" && spec.preserve_unknown {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(&at.child("strategy"), strategy, detail));
    }
    errors.extend(one_of(&at.child("strategy"), strategy, &["None", "Webhook"]));
    let config = Some(&conversion["webhook"]["clientConfig"]).filter(|it| it.is_object());
    let place = at.child("webhookClientConfig");
    let versions_place = at.child("conversionReviewVersions");
    let versions = review_versions(spec);
    if strategy == "Webhook" {
        if let Some(config) = config {
            check_config(config, &place, leniency, errors);
        } else {
            let detail = "required when strategy is set to Webhook";
            errors.push(FieldError::required(&place, detail));
        }
        check_versions(&versions, leniency.require_review_version, &versions_place, errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if config.is_some() {
        errors.push(FieldError::forbidden(&place, detail));
    }
    if !versions.is_empty() {
        errors.push(FieldError::forbidden(&versions_place, detail));
    }
}

fn check_config(config: &Value, at: &Path<'_>, leniency: &Leniency, errors: &mut Vec<FieldError>) {
    let url = config["url"].as_str();
    let service = Some(&config["service"]).filter(|it| it.is_object());
    match (url, service) {
        (Some(url), None) => check_url(url, &at.child("url"), errors),
        (None, Some(service)) => check_service(service, &at.child("service"), errors),
        _ => errors.push(FieldError::required(at, "exactly one of url or service is required")),
    }
    let bundle = config["caBundle"].as_str().unwrap_or_default();
    if !bundle.is_empty() && !leniency.allow_invalid_ca_bundle && !is_ca_bundle(bundle) {
        let detail = "unable to load root certificates: unable to parse bytes as PEM block";
        errors.push(FieldError::invalid(&at.child("caBundle"), bundle, detail));
    }
}

fn check_url(text: &str, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match flumen_cel::Url::parse(text) {
        Ok(url) => url,
        Err(problem) => {
            let detail = format!("url must be a valid URL: {problem}{FORM}");
            errors.push(FieldError::required(at, detail));
            return;
        }
    };
    if url.scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(FieldError::invalid(at, url.scheme.as_str(), detail));
    }
    if url.host.is_empty() {
        errors.push(FieldError::invalid(at, "", format!("host must be specified{FORM}")));
    }
    if let Some(user) = &url.user {
        let detail = "user information is not permitted in the URL";
        errors.push(FieldError::invalid(at, user.as_str(), detail));
    }
    if !url.fragment.is_empty() {
        let detail = "fragments are not permitted in the URL";
        errors.push(FieldError::invalid(at, url.fragment.as_str(), detail));
    }
    if !url.query.is_empty() {
        let detail = "query parameters are not permitted in the URL";
        errors.push(FieldError::invalid(at, url.query.as_str(), detail));
    }
}

fn check_service(service: &Value, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let text = |key: &str| service[key].as_str().unwrap_or_default();
    // The server tells of each of the two under the name of the other.
    for (key, told) in [("namespace", "name"), ("name", "namespace")] {
        if text(key).is_empty() {
            errors.push(FieldError::required(&at.child(told), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&at.child("port"), port, detail));
    }
    let path = text("path");
    if path.is_empty() || path == "/" {
        return;
    }
    let place = at.child("path");
    let mut refuse = |detail: String| errors.push(FieldError::invalid(&place, path, detail));
    if path == "//" {
        return refuse("segment[0] may not be empty".to_owned());
    }
    if !path.starts_with('/') {
        refuse("must start with a '/'".to_owned());
    }
    let mut rest = path.chars();
    rest.next();
    let rest = rest.as_str();
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            refuse(format!("segment[{index}] may not be empty"));
            continue;
        }
        for problem in names::subdomain_problems(step) {
            refuse(format!("segment[{index}]: {problem}"));
        }
    }
}

fn check_versions(
    versions: &[&str],
    require_recognized: bool,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if versions.is_empty() {
        errors.push(FieldError::required(at, ""));
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let place = at.index(index);
        if versions[..index].contains(version) {
            errors.push(FieldError::invalid(&place, *version, "duplicate version"));
        } else if let Some(problem) = names::label_problems(version) {
            errors.push(FieldError::invalid(&place, *version, problem));
        }
    }
    if require_recognized && !versions.iter().any(|it| REVIEW_VERSIONS.contains(it)) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid(at, Value::from(versions.to_vec()), detail));
    }
}
