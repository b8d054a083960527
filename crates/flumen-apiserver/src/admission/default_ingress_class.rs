//! Ingresses that name no class get the default one.

use serde_json::Value;

use super::{Attempt, Result};

const ANNOTATION: &str = "ingressclass.kubernetes.io/is-default-class";

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    let annotations = &object["metadata"]["annotations"];
    let has_class = object["spec"]["ingressClassName"].is_string()
        || annotations["kubernetes.io/ingress.class"].is_string();
    if !attempt.creates("networking.k8s.io", "ingresses") || has_class {
        return Ok(());
    }
    let classes = attempt.all("networking.k8s.io", "ingressclasses", "")?;
    let is_default = |class: &&Value| class["metadata"]["annotations"][ANNOTATION] == "true";
    let text = |class: &Value, field: &str| {
        class["metadata"][field].as_str().unwrap_or_default().to_owned()
    };
    let newest = classes.iter().filter(is_default).min_by(|a, b| {
        let created = text(b, "creationTimestamp").cmp(&text(a, "creationTimestamp"));
        created.then_with(|| text(a, "name").cmp(&text(b, "name")))
    });
    if let Some(class) = newest {
        object["spec"]["ingressClassName"] = text(class, "name").into();
    }
    Ok(())
}
