//! Questions whether someone may do something.

use flumen_fields::{Path, Shown};
use serde_json::Value;

use super::report::Report;
use super::selector::{self, Operators};
use crate::internal;
use crate::read::Read;

/// Whose access is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessReview {
    /// That of the user who asks.
    Own,
    /// That of anyone.
    Anyone,
    /// That of anyone, in the namespace of the request.
    Local,
}

pub(super) fn check(e: &mut Report, review: AccessReview, object: &Value) {
    let at = Path::new("spec");
    let spec = object.part("spec");
    let (of, path) = (spec.some("resourceAttributes"), spec.some("nonResourceAttributes"));
    if of.is_some() && path.is_some() {
        let detail = "cannot be specified in combination with resourceAttributes";
        e.invalid(&at.child("nonResourceAttributes"), shown_path(path), detail);
    }
    if of.is_none() && path.is_none() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        e.invalid(&at.child("resourceAttributes"), Value::Null, detail);
    }
    let is_nobody = spec.text("user").is_empty() && spec.list("groups").is_empty();
    if review != AccessReview::Own && is_nobody {
        e.invalid(&at.child("user"), "", "at least one of user or group must be specified");
    }
    if let Some(of) = of {
        selectors(e, &Path::new("spec.resourceAttributes"), of);
    }
    metadata(e, review, object.part("metadata"));
    if review != AccessReview::Local {
        return;
    }
    if let Some(of) = of {
        let named = of.text("namespace");
        if named != object.part("metadata").text("namespace") {
            let at = Path::new("spec.resourceAttributes.namespace");
            e.invalid(&at, named, "must match metadata.namespace");
        }
    }
    if path.is_some() {
        let at = Path::new("spec.nonResourceAttributes");
        e.invalid(&at, shown_path(path), "disallowed on this kind of request");
    }
}

fn shown_path(path: Option<&Value>) -> Shown {
    internal::shown_pointer("authorization.NonResourceAttributes", path)
}

/// A review is no object and has no name. Who has written it does not count.
fn metadata(e: &mut Report, review: AccessReview, metadata: &Value) {
    let (counts, detail): (fn(&str) -> bool, _) = match review {
        AccessReview::Local => (|field| field != "namespace", "must be empty except for namespace"),
        AccessReview::Own | AccessReview::Anyone => (|_| true, "must be empty"),
    };
    let fields = metadata.as_object().into_iter().flatten();
    let is_filled = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Bool(_) => true,
    };
    let mut found = fields.filter(|(field, _)| *field != "managedFields" && counts(field));
    if found.any(|(_, value)| is_filled(value)) {
        let of = "apimachinery.pkg.apis.meta.v1.ObjectMeta";
        e.invalid(&Path::new("metadata"), internal::shown_served(of, metadata), detail);
    }
}

/// Selectors that a request for many objects has. Newer clients may know more operators.
fn selectors(e: &mut Report, at: &Path<'_>, of: &Value) {
    for field in ["fieldSelector", "labelSelector"] {
        let Some(selector) = of.some(field) else { continue };
        let at = at.child(field);
        let (raw, requirements) = (selector.text("rawSelector"), selector.list("requirements"));
        if !raw.is_empty() && !requirements.is_empty() {
            let detail = "may not specified at the same time as requirements";
            e.invalid(&at.child("rawSelector"), raw, detail);
        }
        if raw.is_empty() && requirements.is_empty() {
            let detail = format!("when {at} is specified, requirements or rawSelector is required");
            e.required(&at.child("requirements"), &detail);
        }
        let at = at.child("requirements");
        for (n, requirement) in requirements.iter().enumerate() {
            let at = at.index(n);
            if field == "labelSelector" {
                selector::requirement(e, &at, requirement, Operators::Any);
                continue;
            }
            if requirement.text("key").is_empty() {
                e.required(&at.child("key"), "must be specified");
            }
            selector::operator(e, &at, requirement, Operators::Any);
        }
    }
}
