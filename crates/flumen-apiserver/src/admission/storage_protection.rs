//! Volumes and claims stay as long as they are used.

use serde_json::Value;

use super::{Attempt, Result};
use crate::meta;

const PROTECTED: &[(&str, &str, &str)] = &[
    ("", "persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    ("", "persistentvolumes", "kubernetes.io/pv-protection"),
    ("storage.k8s.io", "volumeattributesclasses", "kubernetes.io/vac-protection"),
];

#[expect(clippy::unnecessary_wraps, reason = "plugins have one signature")]
pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    let protected = PROTECTED.iter().find(|(group, plural, _)| attempt.creates(group, plural));
    let Some((_, _, finalizer)) = protected else { return Ok(()) };
    if !meta::finalizers(object).any(|present| present == *finalizer) {
        let mut finalizers: Vec<String> = meta::finalizers(object).map(str::to_owned).collect();
        finalizers.push((*finalizer).to_owned());
        meta::set_finalizers(object, finalizers);
    }
    Ok(())
}
