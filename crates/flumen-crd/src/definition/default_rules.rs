//! Defaults must be what their schema says, and nothing that it does not know.

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use crate::{
    check::{self, Before},
    embedded, prune,
    rules::RuleSet,
    schema::Schema,
};

/// What is wrong with the defaults in a schema.
pub(super) fn check(schema: &Schema, at: &Path<'_>, require_pruned: bool) -> Vec<FieldError> {
    let mut walk = Walk { require_pruned, budget: RuleSet::BUDGET, errors: Vec::new() };
    walk.schema(schema, at, true, None);
    walk.errors
}

/// Whether a default has fields that its schema does not know.
pub(super) fn has_unpruned(schema: &Schema) -> bool {
    schema.any(&mut |schema| schema.default.as_ref().is_some_and(|it| is_unpruned(it, schema)))
}

fn is_unpruned(default: &Value, schema: &Schema) -> bool {
    let mut pruned = default.clone();
    !prune::prune_as(&mut pruned, schema, schema.embedded).is_empty()
}

struct Walk {
    require_pruned: bool,
    budget: u64,
    errors: Vec<FieldError>,
}

/// How a value stands in the metadata of an object: the fields on the way to it.
type InMetadata<'a> = Option<Vec<&'a str>>;

impl Walk {
    fn schema<'a>(
        &mut self,
        schema: &'a Schema,
        at: &Path<'_>,
        is_resource: bool,
        metadata: InMetadata<'a>,
    ) {
        let is_resource = is_resource || schema.embedded;
        let metadata = metadata.filter(|_| !is_resource);
        if let Some(default) = &schema.default {
            self.default(default, schema, &at.child("default"), metadata.as_deref());
        }
        // Below `additionalProperties` there are no defaults.
        if let Some(item) = schema.item() {
            self.schema(item, &at.child("items"), false, metadata.clone());
        }
        let properties = at.child("properties");
        for (name, property) in &schema.properties {
            let inner = match &metadata {
                Some(steps) => Some(steps.iter().copied().chain([name.as_str()]).collect()),
                None if is_resource && prune::is_meta(name) => Some(vec![name.as_str()]),
                None => None,
            };
            self.schema(property, &properties.key(name), false, inner);
        }
    }

    fn default(
        &mut self,
        default: &Value,
        schema: &Schema,
        at: &Path<'_>,
        metadata: Option<&[&str]>,
    ) {
        let place = at.to_string();
        let mut found = Vec::new();
        if let Some(steps) = metadata {
            found.extend(embedded::metadata_problem(&surrounded(default, steps)).map(|problem| {
                let detail = format!("must result in valid metadata: {problem}");
                FieldError::invalid(at, default.clone(), detail)
            }));
        } else if self.require_pruned && is_unpruned(default, schema) {
            let detail = "must not have unknown fields";
            self.errors.push(FieldError::invalid(at, default.clone(), detail));
        }
        if found.is_empty() && metadata.is_none() {
            found = embedded::check(default, schema, at);
        }
        if found.is_empty() {
            found = check::check(default, schema, Before::NONE, Some(&place));
        }
        if found.is_empty()
            && let Some(rules) = RuleSet::new(schema, schema.embedded)
        {
            let before = self.budget;
            found = rules.check(default, Some(default), at, &mut self.budget).errors;
            if found.is_empty() {
                let mut budget = before;
                found = rules.check(default, None, at, &mut budget).errors;
                self.budget = self.budget.min(budget);
            }
        }
        self.errors.extend(found);
    }
}

/// An object that has nothing but a value at one place.
fn surrounded(value: &Value, steps: &[&str]) -> Value {
    let mut object = value.clone();
    for step in steps.iter().rev() {
        object = serde_json::json!({ *step: object });
    }
    for (name, text) in [("apiVersion", "validation/v1"), ("kind", "Validation")] {
        if object[name].is_null()
            && let Some(map) = object.as_object_mut()
        {
            map.insert(name.to_owned(), text.into());
        }
    }
    object
}
