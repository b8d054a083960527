//! Namespaces must be there before anything is in them, and stay as long as the server needs them.

use serde::Deserialize;
use serde_json::Value;

use super::{Attempt, Operation, Result};
use crate::{ApiError, Cause, Details};

/// Namespaces that the server lives with.
const IMMORTAL: &[&str] = &["default", "kube-public", "kube-system"];

/// What every write asks of its namespace.
#[derive(Deserialize)]
struct Namespace {
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    phase: String,
}

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    let name = &*attempt.request.target().name;
    let is_deletion = attempt.operation == Operation::Delete;
    if is_deletion && attempt.is_about("", "namespaces") && IMMORTAL.contains(&name) {
        return Err(attempt.forbid(object, "this namespace may not be deleted"));
    }
    let namespace = attempt.namespace();
    if namespace.is_empty() || is_deletion {
        return Ok(());
    }
    let found: Option<Namespace> = attempt.read("", "namespaces", "", namespace)?;
    let found = found.ok_or_else(|| ApiError::not_found("", "namespaces", namespace))?;
    if attempt.operation == Operation::Create && found.status.phase == "Terminating" {
        return Err(terminating(attempt, object, namespace));
    }
    Ok(())
}

fn terminating(attempt: &Attempt<'_>, object: &Value, namespace: &str) -> ApiError {
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let error = attempt.forbid(object, &why);
    let cause = Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    let details = error.details().cloned().unwrap_or_default();
    error.with_details(Details { causes: vec![cause], ..details })
}
