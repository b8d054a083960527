//! Names of signers of certificates, and of the bundles that trust them.

use flumen_fields::Path;

use super::format;
use super::report::Report;

const DOMAIN_LIMIT: usize = 253;

pub(super) fn name(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.required(at, "");
    }
    let Some((domain, path)) = name.split_once('/').filter(|(_, path)| !path.contains('/')) else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return e.invalid(at, name, detail);
    };
    if domain.len() > DOMAIN_LIMIT {
        e.too_long(at, DOMAIN_LIMIT);
    }
    labels(e, at, domain, format::dns_label);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        e.invalid(at, domain, detail);
    }
    labels(e, at, path, format::dns_subdomain);
    let limit = DOMAIN_LIMIT + DOMAIN_LIMIT + 63 + 2;
    if name.len() > limit {
        e.too_long(at, limit);
    }
}

/// Says what is wrong with the first part that is not of this form.
fn labels(e: &mut Report, at: &Path<'_>, value: &str, form: format::Format) {
    let wrong = value.split('.').find(|label| !form(label).is_empty());
    if let Some(label) = wrong {
        for message in form(label) {
            e.invalid(at, value, format!("validating label \"{label}\": {message}"));
        }
    }
}

/// A bundle is named after its signer, if it has one.
pub(super) fn bundle_name(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        Some((_, rest)) => format::dns_subdomain(rest),
        None => format::dns_subdomain(name),
    }
}
