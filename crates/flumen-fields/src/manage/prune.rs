//! Removes what an applier no longer sends.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{
    Write,
    managers::{Entry, Id, Managers},
};
use crate::{
    FieldSet, Schema,
    typed::{field_set, remove, with_named_fields},
};

/// The merged object without the fields and items that the applier owned, does not send any more and
/// nobody else owns. `managers` has what it sends now, `last` what it sent before.
pub(super) fn prune(
    write: &Write<'_>,
    merged: Value,
    managers: &Managers,
    own: &Id,
    last: Option<&Entry>,
) -> Result<Value, String> {
    let Some(last) = last.filter(|last| !last.fields.is_empty()) else { return Ok(merged) };
    let sent = managers.get(own).map_or(FieldSet::EMPTY, |entry| &entry.fields);
    if last.api_version == write.api_version && last.fields.is_subset(sent) {
        return Ok(merged);
    }
    let failed = |error: String| format!("failed to prune fields: {error}");
    let to_last =
        |what: &str, error: String| failed(format!("{what} to last applied version: {error}"));
    let in_last = Object::of(write, &merged, &last.api_version)
        .map_err(|error| to_last("failed to convert merged object", error))?;
    let Some(in_last) = in_last else { return Ok(merged) };
    let last_fields = with_named_fields(in_last.schema, &last.fields);
    let all_fields = in_last.fields();
    let pruned = remove(in_last.schema, &in_last.value, &last_fields);
    let kept = add_back_owned(write, &in_last, pruned, managers)
        .map_err(|error| failed(format!("failed add back owned items: {error}")))?;
    let kept = Object::of(write, &kept, &last.api_version).map_err(|error| {
        to_last("failed add back dangling items: failed to convert pruned object", error)
    })?;
    let Some(kept) = kept else {
        return Ok(in_last.value.into_owned());
    };
    // Only what the applier owned goes; what belongs to nobody or came by an update stays.
    let gone = all_fields.difference(&kept.fields()).intersection(&last_fields);
    let pruned = remove(in_last.schema, &in_last.value, &gone);
    if last.api_version == write.api_version {
        return Ok(pruned);
    }
    let converted = Object::of(write, &pruned, write.api_version).map_err(failed)?;
    Ok(converted.map_or_else(|| pruned.clone(), |converted| converted.value.into_owned()))
}

/// The object with what somebody owns in it, and without the rest of what was taken.
fn add_back_owned(
    write: &Write<'_>,
    merged: &Object<'_, '_>,
    pruned: Value,
    managers: &Managers,
) -> Result<Value, String> {
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for entry in managers.entries() {
        let of_version = owned.entry(&entry.api_version).or_default();
        *of_version = of_version.union(&entry.fields);
    }
    // The version in which fields were taken comes first: what another version is made of may be
    // among them.
    let first = owned.remove_entry(merged.api_version());
    let (mut merged, mut pruned) = (Cow::Borrowed(&*merged.value), pruned);
    for (api_version, owned) in first.into_iter().chain(owned) {
        let of_version = |object, what: &str| {
            Object::of(write, object, api_version).map_err(|error| {
                format!("failed to convert {what} object at version {api_version}: {error}")
            })
        };
        let (Some(all), Some(left)) =
            (of_version(&merged, "merged")?, of_version(&pruned, "pruned")?)
        else {
            continue;
        };
        let kept = left.fields().union(&with_named_fields(all.schema, &owned));
        let without = remove(all.schema, &all.value, &all.fields().difference(&kept));
        if let Cow::Owned(converted) = all.value {
            merged = Cow::Owned(converted);
        }
        pruned = without;
    }
    Ok(pruned)
}

/// An object in one of its versions.
struct Object<'s, 'o> {
    value: Cow<'o, Value>,
    schema: &'s Schema,
}

impl<'s, 'o> Object<'s, 'o> {
    /// None if the kind is not served in the version.
    fn of(write: &Write<'s>, object: &'o Value, api_version: &str) -> Result<Option<Self>, String> {
        if object.get("apiVersion").and_then(Value::as_str) == Some(api_version) {
            let schema = write.versions.schema(api_version);
            return Ok(schema.map(|schema| Self { value: Cow::Borrowed(object), schema }));
        }
        let converted = write.in_version(object, api_version)?;
        Ok(converted.map(|(value, schema)| Self { value: Cow::Owned(value), schema }))
    }

    fn api_version(&self) -> &str {
        self.value.get("apiVersion").and_then(Value::as_str).unwrap_or_default()
    }

    fn fields(&self) -> FieldSet {
        with_named_fields(self.schema, &field_set(self.schema, &self.value))
    }
}
