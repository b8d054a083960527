//! Claims that name no class get the default one.

use serde_json::Value;

use super::{Attempt, Result};

const ANNOTATIONS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    let has_class = object["spec"]["storageClassName"].is_string()
        || object["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"].is_string();
    if !attempt.creates("", "persistentvolumeclaims") || has_class {
        return Ok(());
    }
    let classes = attempt.all("storage.k8s.io", "storageclasses", "")?;
    let is_default = |class: &&Value| {
        let annotations = &class["metadata"]["annotations"];
        ANNOTATIONS.iter().any(|annotation| annotations[annotation] == "true")
    };
    let text = |class: &Value, field: &str| {
        class["metadata"][field].as_str().unwrap_or_default().to_owned()
    };
    // The newest; of several, the first by name.
    let newest = classes.iter().filter(is_default).min_by(|a, b| {
        let created = text(b, "creationTimestamp").cmp(&text(a, "creationTimestamp"));
        created.then_with(|| text(a, "name").cmp(&text(b, "name")))
    });
    if let Some(class) = newest {
        object["spec"]["storageClassName"] = text(class, "name").into();
    }
    Ok(())
}
