//! Compares objects in the version of each manager.

use serde_json::Value;

use super::{
    Conflicts, Write,
    managers::{Id, Managers},
};
use crate::{
    FieldSet, Schema,
    typed::{Comparison, Duplicates, compare, reconcile, validate},
};

/// Why a write does not go on.
#[derive(Clone, Debug)]
pub(super) enum Refused {
    Conflicts(Conflicts),
    Failed(String),
}

impl<'a> Write<'a> {
    pub(super) fn schema(&self) -> Result<&'a Schema, String> {
        self.versions.schema(self.api_version).ok_or_else(|| {
            format!("no corresponding type for {}", gvk(self.api_version, self.kind))
        })
    }

    /// An object as messages name it: `namespace/name; apps/v1, Kind=Deployment`.
    pub(super) fn shown(&self, object: &Value) -> String {
        let meta = |name| {
            let metadata = object.get("metadata");
            metadata.and_then(|meta| meta.get(name)).and_then(Value::as_str).unwrap_or_default()
        };
        format!("{}/{}; {}", meta("namespace"), meta("name"), gvk(self.api_version, self.kind))
    }

    /// An object in another version; none if the kind is not served in it.
    pub(super) fn in_version(
        &self,
        object: &Value,
        api_version: &str,
    ) -> Result<Option<(Value, &'a Schema)>, String> {
        let Some(schema) = self.versions.schema(api_version) else { return Ok(None) };
        let converted = self.versions.convert(object, api_version)?;
        validate(schema, &converted, Duplicates::Refused).map_err(|errors| errors.to_string())?;
        Ok(Some((converted, schema)))
    }

    fn compared(&self, schema: &Schema, old: &Value, new: &Value) -> Comparison {
        let Comparison { removed, modified, added } = compare(schema, old, new);
        Comparison {
            removed: self.filter.apply(removed),
            modified: self.filter.apply(modified),
            added: self.filter.apply(added),
        }
    }

    /// Adapts the entries to the schemas as they are now. Entries of versions that are no longer
    /// served are dropped.
    pub(super) fn reconcile(&self, managers: &mut Managers) {
        managers.retain(|entry| {
            let Some(schema) = self.versions.schema(&entry.api_version) else { return false };
            if let Some(fields) = reconcile(schema, &entry.fields) {
                entry.fields = fields;
            }
            true
        });
    }

    /// Takes from all others what changed from the old object to the new one, and from everybody what
    /// is gone. Without force, fields that others own and that changed are conflicts.
    pub(super) fn contest(
        &self,
        (old, new): (&Value, &Value),
        managers: &mut Managers,
        own: Option<&Id>,
        force: bool,
    ) -> Result<Comparison, Refused> {
        let schema = self.schema().map_err(Refused::Failed)?;
        let comparison = self.compared(schema, old, new);
        let mut by_version = vec![Lost::new(self.api_version, &comparison)];
        for entry in managers.entries() {
            let known = by_version.iter().any(|lost| lost.api_version == entry.api_version);
            if Some(&entry.id) == own || known {
                continue;
            }
            let convert = |object, what| {
                self.in_version(object, &entry.api_version)
                    .map_err(|error| Refused::Failed(format!("{what}{error}")))
            };
            if let (Some((old, schema)), Some((new, _))) =
                (convert(old, "")?, convert(new, "failed to convert new object: ")?)
            {
                let comparison = self.compared(schema, &old, &new);
                by_version.push(Lost::new(&entry.api_version, &comparison));
            }
        }
        let lost_by = |id: &Id, api_version: &str| {
            let other = Some(id) != own;
            by_version.iter().find(|lost| other && lost.api_version == api_version)
        };
        if !force {
            let conflicts: Vec<(Id, FieldSet)> = managers
                .entries()
                .iter()
                .filter_map(|entry| {
                    let lost = lost_by(&entry.id, &entry.api_version)?;
                    let fields = entry.fields.intersection(&lost.changed);
                    (!fields.is_empty()).then(|| (entry.id.clone(), fields))
                })
                .collect();
            if !conflicts.is_empty() {
                return Err(Refused::Conflicts(Conflicts::new(conflicts)));
            }
        }
        managers.retain(|entry| {
            if let Some(lost) = lost_by(&entry.id, &entry.api_version) {
                entry.take(&lost.changed);
                entry.take(&lost.removed);
            }
            !entry.fields.is_empty()
        });
        Ok(comparison)
    }
}

/// What others lose by a write, in one version.
struct Lost {
    api_version: String,
    changed: FieldSet,
    removed: FieldSet,
}

impl Lost {
    fn new(api_version: &str, comparison: &Comparison) -> Self {
        Self {
            api_version: api_version.to_owned(),
            changed: comparison.modified.union(&comparison.added),
            removed: comparison.removed.clone(),
        }
    }
}

/// A kind as messages name it: `apps/v1, Kind=Deployment`.
pub(super) fn gvk(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}
