//! What the schema of a definition may say.

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::Leniency;
use crate::schema::{Additional, Items, Rule, Schema};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

pub(super) fn has_invalid_type(schema: &Schema) -> bool {
    schema.any(&mut |it| !it.kind.is_empty() && !TYPES.contains(&it.kind.as_str()))
}

/// What is known of a schema from the schemas around it.
#[derive(Clone)]
pub(super) struct Context<'a> {
    is_root: bool,
    /// Why there may be no default; `None` if there may.
    no_defaults: Option<String>,
    in_metadata: bool,
    pub leniency: &'a Leniency,
    /// The first schema above whose elements cannot be told apart before and after an update.
    pub uncorrelated: Option<String>,
}

impl<'a> Context<'a> {
    pub(super) fn root(leniency: &'a Leniency) -> Self {
        Self { is_root: true, no_defaults: None, in_metadata: false, leniency, uncorrelated: None }
    }

    fn below(&self) -> Self {
        Self { is_root: false, ..self.clone() }
    }

    fn uncorrelated_by(mut self, at: &Path<'_>) -> Self {
        self.uncorrelated.get_or_insert_with(|| at.to_string());
        self
    }
}

/// Something that looks at the rules of each schema once the schema itself is found right.
pub(super) trait RuleChecker {
    /// Enters a part. Below `allOf` and the like there are no rules.
    fn enter(&mut self, schema: &Schema, may_have_rules: bool);
    fn leave(&mut self);
    fn check(&mut self, schema: &Schema, at: &Path<'_>, context: &Context<'_>) -> Vec<FieldError>;
}

/// Problems of the schema and, apart from them, of the rules in it.
#[derive(Default)]
pub(super) struct Problems {
    pub schema: Vec<FieldError>,
    pub rules: Vec<FieldError>,
}

pub(super) fn check(
    schema: &Schema,
    at: &Path<'_>,
    context: &Context<'_>,
    rules: &mut dyn RuleChecker,
) -> Problems {
    let mut walk = Walk { rules };
    walk.schema(schema, at, context)
}

struct Walk<'a> {
    rules: &'a mut dyn RuleChecker,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Schema, at: &Path<'_>, context: &Context<'_>) -> Problems {
        let mut problems = Problems::default();
        words(schema, at, context, &mut problems.schema);
        self.parts(schema, at, context, &mut problems);
        list_and_map_types(schema, at, context.leniency, &mut problems.schema);
        let place = at.child("x-kubernetes-validations");
        for (index, rule) in schema.rules.iter().enumerate() {
            rule_words(rule, schema, &place.index(index), &mut problems.schema);
        }
        if !schema.rules.is_empty() && problems.schema.is_empty() {
            problems.rules.extend(self.rules.check(schema, at, context));
        }
        problems
    }

    fn part(
        &mut self,
        schema: &Schema,
        may_have_rules: bool,
        at: &Path<'_>,
        context: &Context<'_>,
        problems: &mut Problems,
    ) {
        self.rules.enter(schema, may_have_rules);
        let found = self.schema(schema, at, context);
        self.rules.leave();
        problems.schema.extend(found.schema);
        problems.rules.extend(found.rules);
    }

    fn parts(
        &mut self,
        schema: &Schema,
        at: &Path<'_>,
        context: &Context<'_>,
        problems: &mut Problems,
    ) {
        if let Some(additional) = &schema.additional {
            let place = at.child("additionalProperties");
            if !schema.properties.is_empty() && *additional != Additional::Any(true) {
                let detail = "additionalProperties and properties are mutual exclusive";
                problems.schema.push(FieldError::forbidden(&place, detail));
            }
            if let Additional::Schema(values) = additional {
                let mut context = context.below();
                if context.in_metadata {
                    let reason = "inside additionalProperties applying to object metadata";
                    context.no_defaults = Some(reason.to_owned());
                }
                self.part(values, true, &place, &context, problems);
            }
        }
        let properties = at.child("properties");
        for (name, property) in &schema.properties {
            let mut inner = context.below();
            if !is_correlatable(schema.map_type.as_deref()) {
                inner = inner.uncorrelated_by(at);
            }
            if (context.is_root || schema.embedded) && crate::prune::is_meta(name) {
                inner.in_metadata = true;
                if context.is_root {
                    inner.no_defaults = Some(format!("in top-level {name}"));
                }
            }
            self.part(property, true, &properties.key(name), &inner, problems);
        }
        self.alternatives(schema, at, &context.below(), problems);
        let mut inner = context.below();
        if schema.list_type.as_deref() != Some("map") {
            inner = inner.uncorrelated_by(at);
        }
        let items = at.child("items");
        match &schema.items {
            Some(Items::Schema(item)) => {
                self.part(item, true, &items, &inner, problems);
            }
            Some(Items::Schemas(schemas)) => {
                for (index, item) in schemas.iter().enumerate() {
                    self.part(item, true, &items.index(index), &inner, problems);
                }
            }
            None => {}
        }
    }

    fn alternatives(
        &mut self,
        schema: &Schema,
        at: &Path<'_>,
        context: &Context<'_>,
        problems: &mut Problems,
    ) {
        if let Some(not) = &schema.not {
            self.part(not, false, &at.child("not"), context, problems);
        }
        let several =
            [("allOf", &schema.all_of), ("oneOf", &schema.one_of), ("anyOf", &schema.any_of)];
        for (name, parts) in several {
            let place = at.child(name);
            for (index, part) in parts.iter().enumerate() {
                self.part(part, false, &place.index(index), context, problems);
            }
        }
        let definitions = at.child("definitions");
        for (name, definition) in &schema.unsupported.definitions {
            self.part(definition, false, &definitions.key(name), context, problems);
        }
    }
}

/// Words that may not be used, here or at all.
fn words(schema: &Schema, at: &Path<'_>, context: &Context<'_>, errors: &mut Vec<FieldError>) {
    let kind = schema.kind.as_str();
    if context.leniency.require_valid_types && !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(&at.child("type"), kind, &TYPES));
    }
    if schema.default.is_some()
        && let Some(reason) = &context.no_defaults
    {
        let detail = format!("must not be set {reason}");
        errors.push(FieldError::forbidden(&at.child("default"), detail));
    }
    let unsupported = &schema.unsupported;
    let is_list = matches!(&schema.items, Some(Items::Schemas(items)) if !items.is_empty());
    let forbidden = [
        (unsupported.id, "id", "id is not supported"),
        (unsupported.additional_items, "additionalItems", "additionalItems is not supported"),
        (unsupported.pattern_properties, "patternProperties", "patternProperties is not supported"),
        (!unsupported.definitions.is_empty(), "definitions", "definitions is not supported"),
        (unsupported.dependencies.is_some(), "dependencies", "dependencies is not supported"),
        (unsupported.reference.is_some(), "$ref", "$ref is not supported"),
        (kind == "null", "type", "type cannot be set to null, use nullable as an alternative"),
        (is_list, "items", "items must be a schema object and not an array"),
        (
            context.in_metadata && schema.embedded,
            "x-kubernetes-embedded-resource",
            "must not be used inside of resource meta",
        ),
        (
            schema.unique_items,
            "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
    ];
    for (_, name, detail) in forbidden.into_iter().filter(|(is_set, ..)| *is_set) {
        errors.push(FieldError::forbidden(&at.child(name), detail));
    }
    if schema.preserve_unknown == Some(false) {
        let place = at.child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(&place, false, "must be true or undefined"));
    }
}

/// Whether the values of a map before and after an update go together by their keys.
fn is_correlatable(map_type: Option<&str>) -> bool {
    matches!(map_type, None | Some("granular" | "atomic"))
}

fn list_and_map_types(
    schema: &Schema,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let kind = schema.kind.as_str();
    let place = at.child("type");
    let wrong_type = |detail: &str| {
        if kind.is_empty() {
            FieldError::required(&place, detail)
        } else {
            FieldError::invalid(&place, kind, detail)
        }
    };
    if let Some(map_type) = &schema.map_type {
        if kind != "object" {
            errors.push(wrong_type("must be object if x-kubernetes-map-type is specified"));
        }
        if !matches!(map_type.as_str(), "atomic" | "granular") {
            let place = at.child("x-kubernetes-map-type");
            let valid = ["atomic", "granular"];
            errors.push(FieldError::not_supported(&place, map_type.as_str(), &valid));
        }
    }
    let list_type = schema.list_type.as_deref();
    if let Some(list_type) = list_type {
        if kind != "array" {
            errors.push(wrong_type("must be array if x-kubernetes-list-type is specified"));
        } else if leniency.require_atomic_sets
            && list_type == "set"
            && let Some(item) = schema.item()
            && let Some(error) = not_atomic(item, &at.child("items"))
        {
            errors.push(error);
        }
        if !matches!(list_type, "atomic" | "set" | "map") {
            let place = at.child("x-kubernetes-list-type");
            let valid = ["atomic", "set", "map"];
            errors.push(FieldError::not_supported(&place, list_type, &valid));
        }
    }
    if !schema.list_map_keys.is_empty() && list_type != Some("map") {
        let place = at.child("x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => FieldError::required(&place, detail),
            Some(list_type) => FieldError::invalid(&place, list_type, detail),
        });
    }
    if list_type == Some("map") {
        list_map(schema, at, errors);
    }
    if leniency.require_map_keys {
        errors.extend(map_keys(schema, at));
    }
}

/// Why elements of a set cannot be told apart by their value, which others may own in parts.
fn not_atomic(item: &Schema, at: &Path<'_>) -> Option<FieldError> {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let own_list_type = item.list_type.as_deref().map_or(Value::Null, Value::from);
    let place = match item.kind.as_str() {
        "array" if !matches!(item.list_type.as_deref(), None | Some("atomic")) => {
            at.child("x-kubernetes-list-type")
        }
        "object" if item.map_type.as_deref() != Some("atomic") => at.child("x-kubernetes-map-type"),
        _ => return None,
    };
    Some(FieldError::invalid(&place, own_list_type, detail))
}

pub(super) fn has_non_atomic_set(schema: &Schema) -> bool {
    schema.any(&mut |schema| {
        schema.list_type.as_deref() == Some("set")
            && schema.item().is_some_and(|item| not_atomic(item, &Path::ROOT).is_some())
    })
}

fn list_map(schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let keys_place = at.child("x-kubernetes-list-map-keys");
    if schema.list_map_keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(&keys_place, detail));
    }
    let items = at.child("items");
    let Some(item) = schema.item() else {
        if schema.items.is_none() {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(&items, detail));
        }
        return;
    };
    if item.kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let place = items.child("type");
        errors.push(FieldError::invalid(&place, item.kind.as_str(), detail));
        return;
    }
    let properties = items.child("properties");
    for (place, key) in schema.list_map_keys.iter().enumerate() {
        match item.properties.get(key) {
            Some(property) if matches!(property.kind.as_str(), "array" | "object") => {
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let place = properties.key(key);
                errors.push(FieldError::invalid(&place.child("type"), "object", detail));
            }
            Some(_) => {}
            None => {
                let keys = Value::from(schema.list_map_keys.clone());
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(&keys_place, keys, detail));
            }
        }
        if schema.list_map_keys[..place].contains(key) {
            let keys = Value::from(schema.list_map_keys.clone());
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(&keys_place, keys, detail));
        }
    }
}

/// Keys must be there, and so must elements.
pub(super) fn map_keys(schema: &Schema, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (Some(item), Some(list_type @ ("set" | "map"))) =
        (schema.item(), schema.list_type.as_deref())
    else {
        return errors;
    };
    let items = at.child("items");
    if item.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(&items.child("nullable"), detail));
    }
    if list_type == "set" {
        return errors;
    }
    let properties = items.child("properties");
    for key in &schema.list_map_keys {
        let Some(property) = item.properties.get(key) else { continue };
        let place = properties.key(key);
        if !item.required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default \
                          or be a required property";
            errors.push(FieldError::required(&place.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&place.child("nullable"), detail));
        }
    }
    errors
}

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// What a rule says besides its expressions.
fn rule_words(rule: &Rule, schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let has_breaks = |text: &str| text.contains(['\n', '\r']);
    let message = rule.message.trim();
    if rule.rule.trim().is_empty() {
        errors.push(FieldError::required(&at.child("rule"), "rule is not specified"));
    } else if !rule.message.is_empty() && message.is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(FieldError::invalid(&at.child("message"), rule.message.as_str(), detail));
    } else if has_breaks(message) {
        let detail = "must not contain line breaks";
        errors.push(FieldError::invalid(&at.child("message"), rule.message.as_str(), detail));
    } else if has_breaks(rule.rule.trim()) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(&at.child("message"), detail));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(&at.child("messageExpression"), detail));
    }
    if let Some(reason) = &rule.reason
        && !REASONS.contains(&reason.as_str())
    {
        errors.push(FieldError::not_supported(&at.child("reason"), reason.as_str(), &REASONS));
    }
    let place = at.child("fieldPath");
    let path = rule.field_path.as_str();
    if path.is_empty() {
        return;
    }
    let mut refuse = |detail: &str| {
        errors.push(FieldError::new(FieldErrorKind::Invalid, &place, Some(path.into()), detail));
    };
    if path.trim().is_empty() {
        refuse("must be non-empty if specified");
    }
    if has_breaks(path) {
        refuse("must not contain line breaks");
    }
    if super::structural::unreadable(schema).is_none()
        && crate::field_path::parse(path, schema, true).is_err()
    {
        refuse("must be a valid path");
    }
}
