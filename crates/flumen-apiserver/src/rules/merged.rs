//! Objects that an apply has merged.

use flumen_kinds::Traces;
use serde_json::Value;

use super::{Problems, Read, read_value};
use crate::{Behaviour, Resource, meta};

/// Reads what an apply of a configuration made of an object.
pub(crate) fn read_merged(
    resource: &Resource,
    mut merged: Value,
    config: &Value,
) -> Result<Read, String> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => {
            let refused = |fault: String| {
                let (namespace, name) = (meta::text(config, "namespace"), meta::name(config));
                let version =
                    if kind.group.is_empty() { "/v1".to_owned() } else { resource.api_version() };
                format!(
                    "failed to convert new object ({namespace}/{name}; {version}, Kind={kind}) to proper version: \
                     unable to convert unstructured object to {version}, Kind={kind}: {fault}",
                    kind = kind.kind,
                )
            };
            if let Some(fault) = flumen_kinds::restore_fault(&merged, kind.object) {
                return Err(refused(fault));
            }
            read_value(resource, &merged).map_err(refused)
        }
        Behaviour::Custom { version, .. } => {
            version.admit_merged(&mut merged)?;
            version.default(&mut merged);
            let problems = Problems::default();
            Ok(Read { object: merged, problems, traces: Traces::default() })
        }
    }
}
