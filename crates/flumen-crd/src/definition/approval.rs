//! Groups that belong to Kubernetes.

use flumen_fields::{FieldError, Path};
use serde_json::Value;

const APPROVAL: &str = "api-approved.kubernetes.io";

/// Groups that belong to Kubernetes need a word of approval.
pub(super) fn check(definition: &Value, old: Option<&Value>) -> Option<FieldError> {
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let is_protected = ["k8s.io", "kubernetes.io"]
        .into_iter()
        .any(|owner| group == owner || group.ends_with(&format!(".{owner}")));
    if !is_protected {
        return None;
    }
    let annotation = |definition: &'_ Value| {
        let value = definition["metadata"]["annotations"][APPROVAL].as_str();
        value.unwrap_or_default().to_owned()
    };
    let state = |text: &str| match text {
        "" => Approval::Missing,
        text if text.starts_with("unapproved") => Approval::Given,
        text if flumen_cel::is_absolute_url(text) => Approval::Given,
        _ => Approval::Invalid,
    };
    let given = annotation(definition);
    let found = state(&given);
    if old.is_some_and(|old| state(&annotation(old)) == found) {
        return None;
    }
    let metadata = Path::new("metadata");
    let annotations = metadata.child("annotations");
    let place = annotations.key(APPROVAL);
    let more = "see https://github.com/kubernetes/enhancements/pull/1111";
    let must = format!("protected groups must have approval annotation {APPROVAL:?}");
    match found {
        Approval::Given => None,
        Approval::Missing => Some(FieldError::required(&place, format!("{must}, {more}"))),
        Approval::Invalid => {
            let how = "with either a URL or a reason starting with \"unapproved\"";
            Some(FieldError::invalid(&place, given, format!("{must} {how}, {more}")))
        }
    }
}

#[derive(PartialEq, Eq)]
enum Approval {
    Missing,
    Given,
    Invalid,
}
