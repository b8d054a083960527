//! Definitions of custom resources: what they may say.
//!
//! The server keeps definitions in a form of its own, where what all versions share stands once, and
//! its messages name places in that form: `spec.validation` stands for the schema of all versions.

mod approval;
mod conversion;
mod default_rules;
mod go_form;
mod rule_types;
mod schema_rules;
mod spec;
mod structural;
mod versions;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use crate::{names, schema::Schema};

pub(crate) use conversion::is_ca_bundle;
pub(crate) use spec::{Names, Spec, VersionSpec, texts};

/// What is wrong with a new definition, apart from its metadata.
pub fn validate_create(definition: &Value) -> Vec<FieldError> {
    let spec = Spec::read(definition);
    let mut errors = check_name(definition, &spec);
    errors.extend(spec_and_status(definition, &spec, &Leniency::NEW));
    errors.extend(approval::check(definition, None));
    errors.extend(preserve_unknown(&spec));
    errors
}

/// What is wrong with a definition after an update, apart from its metadata. What was accepted before
/// is accepted still.
pub fn validate_update(definition: &Value, old: &Value) -> Vec<FieldError> {
    let (spec, old_spec) = (Spec::read(definition), Spec::read(old));
    let leniency = Leniency::of(&spec, &old_spec, old);
    let mut errors = spec_and_status(definition, &spec, &leniency);
    let at = Path::new("spec");
    let names = at.child("names");
    let mut immutable = |place: &Path<'_>, new: &str, old: &str| {
        if new != old {
            errors.push(FieldError::invalid(place, new, "field is immutable"));
        }
    };
    if is_established(old) {
        immutable(&at.child("scope"), spec.scope, old_spec.scope);
        immutable(&names.child("kind"), spec.names.kind, old_spec.names.kind);
    }
    immutable(&at.child("group"), spec.group, old_spec.group);
    immutable(&names.child("plural"), spec.names.plural, old_spec.names.plural);
    errors.extend(approval::check(definition, Some(old)));
    if !old_spec.preserve_unknown {
        errors.extend(preserve_unknown(&spec));
    }
    errors
}

/// What is wrong with the status of a definition.
pub fn validate_status(definition: &Value) -> Vec<FieldError> {
    let status = Path::new("status");
    let accepted = Names::read(&definition["status"]["acceptedNames"]);
    versions::check_names(&accepted, &status.child("acceptedNames"))
}

/// What the author of a definition should know although it is accepted.
pub fn warnings(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(unknown_formats).unwrap_or_default();
    unknown_formats(definition)
        .into_iter()
        .filter(|format| !before.contains(format))
        .map(|format| format!("unrecognized format {format:?}"))
        .collect()
}

fn unknown_formats(definition: &Value) -> Vec<String> {
    let spec = Spec::read(definition);
    let mut found = Vec::new();
    for schema in spec.schemas() {
        schema.any(&mut |schema| {
            let is_named = !schema.format.is_empty() && schema.kind == "string";
            if is_named && crate::formats::known(&schema.format).is_none() {
                found.push(schema.format.clone());
            }
            false
        });
    }
    found
}

pub(crate) fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|it| it["type"] == "Established" && it["status"] == "True")
}

fn check_name(definition: &Value, spec: &Spec<'_>) -> Vec<FieldError> {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    if name == format!("{}.{}", spec.names.plural, spec.group) {
        return Vec::new();
    }
    let metadata = Path::new("metadata");
    let detail = r#"must be spec.names.plural+"."+spec.group"#;
    vec![FieldError::invalid(&metadata.child("name"), name, detail)]
}

fn preserve_unknown(spec: &Spec<'_>) -> Option<FieldError> {
    let at = Path::new("spec");
    let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                  spec.versions[*].schema instead";
    let place = at.child("preserveUnknownFields");
    spec.preserve_unknown.then(|| FieldError::invalid(&place, true, detail))
}

fn spec_and_status(definition: &Value, spec: &Spec<'_>, leniency: &Leniency) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at = Path::new("spec");
    group_and_scope(spec, &at, &mut errors);
    versions::check(spec, &at, leniency, &mut errors);
    required_names(spec, &at, &mut errors);
    errors.extend(versions::check_names(&spec.names, &at.child("names")));
    versions::check_shared(spec, &at, leniency, &mut errors);
    conversion::check(spec, &at, leniency, &mut errors);
    errors.extend(validate_status(definition));
    errors.extend(versions::check_stored(definition, spec));
    errors
}

fn group_and_scope(spec: &Spec<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let place = at.child("group");
    let problems = names::subdomain_problems(spec.group);
    if spec.group.is_empty() {
        errors.push(FieldError::required(&place, ""));
    } else if !problems.is_empty() {
        errors.push(FieldError::invalid(&place, spec.group, problems.join(",")));
    } else if !spec.group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid(&place, spec.group, detail));
    }
    errors.extend(one_of(&at.child("scope"), spec.scope, &["Cluster", "Namespaced"]));
}

/// A word that must be there and be one of some.
fn one_of(at: &Path<'_>, word: &str, valid: &[&str]) -> Option<FieldError> {
    if word.is_empty() {
        Some(FieldError::required(at, ""))
    } else if valid.contains(&word) {
        None
    } else {
        Some(FieldError::not_supported(at, word, valid))
    }
}

fn required_names(spec: &Spec<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let names = at.child("names");
    let required = [
        ("plural", spec.names.plural),
        ("singular", spec.names.singular),
        ("kind", spec.names.kind),
        ("listKind", spec.names.list_kind),
    ];
    for (name, _) in required.into_iter().filter(|(_, value)| value.is_empty()) {
        errors.push(FieldError::required(&names.child(name), ""));
    }
}

/// What is not asked of a definition because its former self did not fulfil it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each demand is made or not by itself")]
pub(crate) struct Leniency {
    require_review_version: bool,
    require_schema: bool,
    require_valid_types: bool,
    require_structural: bool,
    require_pruned_defaults: bool,
    require_atomic_sets: bool,
    require_map_keys: bool,
    allow_invalid_ca_bundle: bool,
    /// Versions whose schema is as it was: the price of their rules is not asked for again.
    unchanged: Vec<String>,
    /// Versions that keep more selectable fields than are allowed now; the empty name for all.
    many_selectable: Vec<String>,
}

impl Leniency {
    const NEW: Self = Self {
        require_review_version: true,
        require_schema: true,
        require_valid_types: true,
        require_structural: true,
        require_pruned_defaults: true,
        require_atomic_sets: true,
        require_map_keys: true,
        allow_invalid_ca_bundle: true,
        unchanged: Vec::new(),
        many_selectable: Vec::new(),
    };

    fn of(spec: &Spec<'_>, old: &Spec<'_>, old_definition: &Value) -> Self {
        let any = |found: &mut dyn FnMut(&Schema) -> bool| old.schemas().any(|it| it.any(found));
        let is_structural = |schema: &Schema| {
            structural::unreadable(schema).is_none()
                && structural::check(schema, &Path::ROOT).is_empty()
        };
        let unchanged = spec.versions.iter().filter(|version| {
            let old = old.versions.iter().find(|old| old.name == version.name);
            old.is_some_and(|old| old.schema == version.schema)
        });
        Self {
            require_review_version: conversion::has_recognized_version(old),
            require_schema: old.versions.iter().all(|version| version.schema.is_some()),
            require_valid_types: !old.schemas().any(schema_rules::has_invalid_type),
            require_structural: old.schemas().all(is_structural),
            require_pruned_defaults: !old.schemas().any(default_rules::has_unpruned),
            require_atomic_sets: !old.schemas().any(schema_rules::has_non_atomic_set),
            require_map_keys: !any(&mut |it| !schema_rules::map_keys(it, &Path::ROOT).is_empty()),
            allow_invalid_ca_bundle: !is_established(old_definition)
                || conversion::has_invalid_ca_bundle(old),
            unchanged: unchanged.map(|version| version.name.to_owned()).collect(),
            many_selectable: versions::many_selectable(spec, old),
        }
    }
}
