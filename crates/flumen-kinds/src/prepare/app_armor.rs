//! Profiles of `AppArmor`, which annotations named before there was a field.

use serde_json::{Value, json};

use crate::read::Read;

const PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Gives containers the profile that an annotation names, unless they or their pod say it already.
pub(super) fn read_annotations(pod: &mut Value) {
    let annotations = pod.part("metadata").part("annotations");
    let is_windows = pod.part("spec").part("os").text("name") == "windows";
    if is_windows
        || !annotations.as_object().is_some_and(|all| all.keys().any(|k| k.starts_with(PREFIX)))
    {
        return;
    }
    let annotations = annotations.clone();
    let Some(spec) = pod.get_mut("spec") else { return };
    let of_pod = spec.part("securityContext").part("appArmorProfile").clone();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let named = annotations.text(&format!("{PREFIX}{}", container.text("name")));
            let Some(profile) = profile(named).filter(|profile| *profile != of_pod) else {
                continue;
            };
            if container.part("securityContext").some("appArmorProfile").is_none() {
                container["securityContext"]["appArmorProfile"] = profile;
            }
        }
    }
}

fn profile(annotation: &str) -> Option<Value> {
    match annotation {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        _ => {
            let name = annotation.strip_prefix("localhost/").filter(|name| !name.is_empty())?;
            Some(json!({"type": "Localhost", "localhostProfile": name}))
        }
    }
}
