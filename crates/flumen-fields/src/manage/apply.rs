//! Writes of configurations, of which the rest of the object is kept.

use serde_json::Value;

use super::{
    Conflicts, Write, last_applied, managed_fields,
    managers::{Entry, Managers, Operation},
    prune::prune,
    set_managed_fields,
    times::same_without_managed_fields,
    update::{BOOKKEEPING, id_of, record},
    versioned::{Refused, gvk},
};
use crate::typed::{Duplicates, field_set, merge, validate};

/// Why nothing was applied. The messages are those of the API server.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ApplyError {
    /// The configuration is not one of this object: a bad request.
    #[error("{0}")]
    NotAllowed(String),
    /// The configuration does not fit the schema. It is answered as a failure of the server.
    #[error("{0}")]
    Typed(String),
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The object could not be compared or converted.
    #[error("{0}")]
    Failed(String),
}

impl From<Refused> for ApplyError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Conflicts(conflicts) => Self::Conflicts(conflicts),
            Refused::Failed(reason) => Self::Failed(reason),
        }
    }
}

/// Merges a configuration into the live object and records who owns its fields. The answer has the
/// managed fields and has yet to be decoded and to get its defaults. It equals the live object if
/// nothing changed. Without a live object one is created.
pub fn apply(
    write: &Write<'_>,
    live: Option<&Value>,
    config: &Value,
    manager: &str,
    force: bool,
) -> Result<Value, ApplyError> {
    check_kind(write, config)?;
    let mut managers = Managers::read(live.and_then(managed_fields))
        .map_err(|error| ApplyError::Failed(format!("failed to decode managed fields: {error}")))?;
    let empty;
    let live = if let Some(live) = live {
        live
    } else {
        empty = write.versions.empty();
        &empty
    };
    if managers.is_empty() {
        managers = record(write, &write.versions.empty(), live, managers, BEFORE_FIRST_APPLY)
            .map_err(|error| {
                ApplyError::Failed(format!("failed to create manager for existing fields: {error}"))
            })?;
    }
    let apply = Apply { write, live, config, manager, force };
    let (mut object, managers) = if manager == last_applied::MANAGER {
        apply.run_for_kubectl(managers)?
    } else {
        apply.run(managers)?
    };
    set_managed_fields(&mut object, managers.write());
    Ok(object)
}

/// The manager of what was there before anybody applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

fn check_kind(write: &Write<'_>, config: &Value) -> Result<(), ApplyError> {
    let text = |name| config.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("apiVersion") == write.api_version && text("kind") == write.kind {
        return Ok(());
    }
    let got = gvk(text("apiVersion"), text("kind"));
    Err(ApplyError::NotAllowed(format!("invalid object type: {got}")))
}

#[derive(Clone, Copy)]
struct Apply<'a> {
    write: &'a Write<'a>,
    live: &'a Value,
    config: &'a Value,
    manager: &'a str,
    force: bool,
}

impl Apply<'_> {
    /// Who used to apply on the client side may go on with what is still as they left it.
    fn run_for_kubectl(self, managers: Managers) -> Result<(Value, Managers), ApplyError> {
        let (mut object, managers) = match self.run(managers.clone()) {
            Err(ApplyError::Conflicts(conflicts)) => {
                let owned = last_applied::owned(self.write, self.live).unwrap_or_default();
                match conflicts.outside(&owned) {
                    Some(conflicts) => return Err(ApplyError::Conflicts(conflicts)),
                    None => Self { force: true, ..self }.run(managers)?,
                }
            }
            result => result?,
        };
        last_applied::refresh(&mut object, self.config);
        Ok((object, managers))
    }

    fn run(self, mut managers: Managers) -> Result<(Value, Managers), ApplyError> {
        let Self { write, live, config, .. } = self;
        if managed_fields(config).is_some_and(Value::is_array) {
            let message = "metadata.managedFields must be nil".to_owned();
            return Err(ApplyError::NotAllowed(message));
        }
        let schema = write.schema().map_err(ApplyError::Failed)?;
        validate(schema, config, Duplicates::Refused).map_err(|errors| {
            let what = write.shown(config);
            ApplyError::Typed(format!("failed to create typed patch object ({what}): {errors}"))
        })?;
        validate(schema, live, Duplicates::Allowed).map_err(|errors| {
            let what = write.shown(live);
            ApplyError::Failed(format!("failed to create typed live object ({what}): {errors}"))
        })?;
        write.reconcile(&mut managers);
        let id = id_of(write, self.manager, Operation::Apply);
        let last = managers.remove(&id);
        managers.set(Entry {
            id: id.clone(),
            api_version: write.api_version.to_owned(),
            time: last.as_ref().and_then(|last| last.time.clone()),
            fields: write.filter.apply(field_set(schema, config)),
        });
        let merged = merge(schema, live, config);
        let new =
            prune(write, merged, &managers, &id, last.as_ref()).map_err(ApplyError::Failed)?;
        write.contest((live, &new), &mut managers, Some(&id), self.force)?;
        let changed = !same_without_managed_fields(live, &new);
        managers.retain(|entry| {
            if entry.id == id {
                entry.take(&BOOKKEEPING);
                if changed {
                    entry.time = Some(write.now.to_owned());
                }
            }
            !entry.fields.is_empty()
        });
        Ok((new, managers))
    }
}
