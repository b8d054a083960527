//! Claims grow only if their class can make volumes larger.

use flumen_kinds::Quantity;
use serde_json::Value;

use super::{Attempt, Operation, Result};

pub(super) fn validate(attempt: &Attempt<'_>, claim: &Value) -> Result {
    let is_update = attempt.operation == Operation::Update;
    let Some(old) = attempt.old.filter(|_| is_update) else { return Ok(()) };
    if !attempt.is_about("", "persistentvolumeclaims") || size(claim) <= size(old) {
        return Ok(());
    }
    if old["status"]["phase"] != "Bound" {
        let why = "Only bound persistent volume claims can be expanded";
        return Err(attempt.forbid(claim, why));
    }
    let class = class(claim);
    let class = if class == self::class(old) { class } else { "" };
    let found = match class {
        "" => None,
        name => attempt.find("storage.k8s.io", "storageclasses", "", name)?,
    };
    if found.is_none_or(|class| class["allowVolumeExpansion"] != true) {
        let why = "only dynamically provisioned pvc can be resized and the storageclass that \
                   provisions the pvc must support resize";
        return Err(attempt.forbid(claim, why));
    }
    Ok(())
}

fn size(claim: &Value) -> Option<Quantity> {
    Quantity::parse(claim["spec"]["resources"]["requests"]["storage"].as_str()?).ok()
}

fn class(claim: &Value) -> &str {
    claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"]
        .as_str()
        .or_else(|| claim["spec"]["storageClassName"].as_str())
        .unwrap_or_default()
}
