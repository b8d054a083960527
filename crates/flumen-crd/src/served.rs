//! What is served for a definition.

use std::sync::Arc;

use flumen_fields::{FieldError, FieldErrorKind, Path, Schema as ApplySchema};
use flumen_kinds::NameRule;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{
    check::{self, Before, NO_PLACE},
    columns::Column,
    compare_versions, defaults,
    definition::{Names, Spec, VersionSpec, texts},
    embedded, list_types, number, openapi,
    openapi::{OpenApi, Published},
    prune,
    rules::RuleSet,
    scale::Scale,
    schema::Schema,
};

/// A custom resource with all its versions.
#[derive(Debug)]
pub struct Served {
    pub group: String,
    pub kind: String,
    pub list_kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub is_namespaced: bool,
    /// In the order of discovery. Versions that are not served are here too: objects may be stored in
    /// them.
    pub versions: Vec<Arc<Version>>,
}

/// A custom resource in one version.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "that is how versions are written")]
pub struct Version {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub is_namespaced: bool,
    pub is_served: bool,
    pub is_storage: bool,
    /// What every answer says about a version that will go.
    pub deprecation_warning: Option<String>,
    /// Whether status is written apart from the rest.
    pub has_status: bool,
    pub scale: Option<Scale>,
    pub columns: Vec<Column>,
    /// Paths of fields, without the dot at their start, by which objects can be selected.
    pub selectable: Vec<String>,
    schema: Option<Schema>,
    rules: Option<RuleSet>,
    apply_schema: ApplySchema,
    published: [[Published; 2]; 2],
}

/// What a write of an object is refused for, and what is said although it is not.
#[derive(Debug, Default)]
pub struct Verdict {
    pub errors: Vec<FieldError>,
    pub warnings: Vec<String>,
}

impl Served {
    /// What is served for a definition that was accepted; names are those that it got.
    pub fn new(definition: &Value) -> Self {
        let spec = Spec::read(definition);
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let accepted = Names::read(&definition["status"]["acceptedNames"]);
        let is_named = !accepted.plural.is_empty();
        let names = if is_named { accepted } else { Names::read(&definition["spec"]["names"]) };
        let mut versions: Vec<_> =
            spec.versions.iter().map(|version| Arc::new(Version::new(&spec, version))).collect();
        versions.sort_by(|a, b| compare_versions(&a.name, &b.name));
        Self {
            group: spec.group.to_owned(),
            kind: names.kind.to_owned(),
            list_kind: names.list_kind.to_owned(),
            plural: names.plural.to_owned(),
            singular: names.singular.to_owned(),
            short_names: owned(&names.short_names),
            categories: owned(&names.categories),
            is_namespaced: spec.scope == "Namespaced",
            versions,
        }
    }

    pub fn version(&self, name: &str) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version in which objects are stored.
    pub fn storage(&self) -> Option<&Arc<Version>> {
        self.versions.iter().find(|version| version.is_storage)
    }
}

impl Version {
    fn new(spec: &Spec<'_>, version: &VersionSpec<'_>) -> Self {
        let kind = spec.names.kind;
        let group = spec.group;
        let warning = version.deprecated.then(|| match version.deprecation_warning {
            Some(warning) => warning.to_owned(),
            None => format!("{group}/{} {kind} is deprecated", version.name),
        });
        let selectable: Vec<String> = version
            .selectable
            .iter()
            .filter_map(|field| field["jsonPath"].as_str())
            .map(|path| path.strip_prefix('.').unwrap_or(path).to_owned())
            .collect();
        let published_names = openapi::Names {
            group,
            version: version.name,
            kind,
            list_kind: spec.names.list_kind,
            plural: spec.names.plural,
            selectable: &selectable,
        };
        let raw = &version.raw["schema"]["openAPIV3Schema"];
        let publish = |document| openapi::publish(&published_names, raw, document);
        Self {
            name: version.name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            is_namespaced: spec.scope == "Namespaced",
            is_served: version.served,
            is_storage: version.storage,
            deprecation_warning: warning,
            has_status: version.has_status(),
            scale: version.subresources.and_then(|it| Scale::read(&it["scale"])),
            columns: Column::all(version.columns),
            rules: version.schema.as_ref().and_then(|schema| RuleSet::new(schema, true)),
            apply_schema: crate::apply_schema::build(version.schema.as_ref()),
            published: [publish(OpenApi::V2), publish(OpenApi::V3)],
            schema: version.schema.clone(),
            selectable,
        }
    }

    /// `example.com/v1`.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// Brings an object that a client sent into the form of the server: metadata as any object has it,
    /// nothing that the schema does not know. Returns the paths of fields that went; the error is the
    /// message of a bad request.
    pub fn admit(&self, object: &mut Value) -> Result<Vec<String>, String> {
        number::normalize(object);
        let mut unknown = Vec::new();
        if let Value::Object(map) = object {
            embedded::coerce_metadata(map, "", &mut unknown)?;
        }
        if let Some(schema) = &self.schema {
            unknown.extend(prune::prune(object, schema));
            defaults::remove_nulls(object, Some(schema));
            let mut found = Vec::new();
            embedded::coerce(object, schema, &Path::ROOT, &mut found)
                .map_err(|error| error.to_string())?;
            found.sort();
            unknown.extend(found);
        }
        Ok(unknown)
    }

    /// The same for an object into which the server merged what a client applied. The schema knows all
    /// of it; nulls are left for validation to see.
    pub fn admit_merged(&self, object: &mut Value) -> Result<(), String> {
        number::normalize(object);
        match object {
            Value::Object(map) => embedded::coerce_metadata(map, "", &mut Vec::new()),
            _ => Ok(()),
        }
    }

    /// Fills in what the schema has defaults for.
    pub fn default(&self, object: &mut Value) {
        if let Some(schema) = &self.schema {
            defaults::apply(object, schema);
        }
    }

    /// Resets what a client may not set in a new object.
    pub fn prepare_create(&self, object: &mut Value) {
        if self.has_status
            && let Value::Object(map) = object
        {
            map.remove("status");
        }
        set_generation(object, 1);
    }

    /// The same for an object that replaces another. What changes but metadata counts as a generation.
    pub fn prepare_update(&self, new: &mut Value, old: &Value) {
        if self.has_status
            && let Value::Object(map) = &mut *new
        {
            match old.get("status") {
                Some(status) => map.insert("status".to_owned(), status.clone()),
                None => map.remove("status"),
            };
        }
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
        if differs_beside_metadata(new, old) {
            set_generation(new, generation + 1);
        }
    }

    /// A write of the status takes nothing else from what was sent.
    pub fn prepare_status_update(&self, new: &mut Value, old: &Value) {
        let status = new.get_mut("status").map(Value::take);
        let managed = new["metadata"].get_mut("managedFields").map(Value::take);
        *new = old.clone();
        let Value::Object(map) = new else { return };
        match status {
            Some(status) => map.insert("status".to_owned(), status),
            None => map.remove("status"),
        };
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            match managed {
                Some(managed) => metadata.insert("managedFields".to_owned(), managed),
                None => metadata.remove("managedFields"),
            };
        }
    }

    /// What is wrong with a new object.
    pub fn validate_create(&self, object: &Value) -> Verdict {
        let warnings = Self::warn(object, None);
        let mut verdict = Verdict { errors: self.check_kind(object), warnings };
        if verdict.errors.is_empty() {
            let names = NameRule::Subdomain;
            verdict.errors.extend(flumen_kinds::validate_metadata(
                object,
                self.is_namespaced,
                names,
            ));
            if let Some(schema) = &self.schema {
                verdict.errors.extend(check::check(object, schema, Before::NONE, None));
            }
            verdict.errors.extend(self.check_scale(object, true));
        }
        if let Some(schema) = &self.schema {
            verdict.errors.extend(embedded::check(object, schema, &Path::ROOT));
            verdict.errors.extend(list_types::check(object, schema));
        }
        self.ask_rules(object, None, &mut verdict);
        verdict
    }

    /// What is wrong with an object that replaces another.
    pub fn validate_update(&self, new: &Value, old: &Value) -> Verdict {
        let warnings = Self::warn(new, Some(old));
        let errors = flumen_kinds::validate_any_update(new, old, self.is_namespaced);
        let mut verdict = Verdict { errors, warnings };
        let other_kind = self.check_kind(new);
        if other_kind.is_empty() {
            verdict.errors.extend(flumen_kinds::validate_metadata_update(new, old));
            if let Some(schema) = &self.schema {
                verdict.errors.extend(check::check(new, schema, Before::object(old), None));
            }
            verdict.errors.extend(self.check_scale(new, true));
        } else {
            verdict.errors.extend(other_kind);
        }
        if let Some(schema) = &self.schema {
            verdict.errors.extend(embedded::check(new, schema, &Path::ROOT));
            if list_types::check(old, schema).is_empty() {
                verdict.errors.extend(list_types::check(new, schema));
            }
        }
        self.ask_rules(new, Some(old), &mut verdict);
        verdict
    }

    /// What is wrong with an object whose status was written.
    pub fn validate_status_update(&self, new: &Value, old: &Value) -> Verdict {
        let errors = flumen_kinds::validate_any_update(new, old, self.is_namespaced);
        let mut verdict = Verdict { errors, ..Verdict::default() };
        let other_kind = self.check_kind(new);
        if other_kind.is_empty() {
            verdict.errors.extend(flumen_kinds::validate_metadata_update(new, old));
            let schema = self.schema.as_ref().and_then(|schema| schema.properties.get("status"));
            if let (Some(status), Some(schema)) = (new.get("status"), schema) {
                // One that was not there counts as null, so that null is no change.
                let before = Before::part(old.get("status").or(Some(&Value::Null)));
                verdict.errors.extend(check::check(status, schema, before, Some("status")));
            }
            verdict.errors.extend(self.check_scale(new, false));
        } else {
            verdict.errors.extend(other_kind);
        }
        if let Some(schema) = &self.schema {
            let found = list_types::check(new, schema);
            if !found.is_empty() && list_types::check(old, schema).is_empty() {
                verdict.errors.extend(found);
            }
        }
        self.ask_rules(new, Some(old), &mut verdict);
        verdict
    }

    /// New finalizers that others may take for theirs.
    fn warn(new: &Value, old: Option<&Value>) -> Vec<String> {
        let finalizers = |object: &'_ Value| {
            let mut names = texts(&object["metadata"], "finalizers");
            names.sort_unstable();
            names.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let known = old.map(finalizers).unwrap_or_default();
        let new = finalizers(new).into_iter().filter(|name| !known.contains(name));
        new.filter_map(|name| finalizer_warning(&name)).collect()
    }

    fn check_kind(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut expect = |field: &str, expected: &str| {
            let found = object[field].as_str().unwrap_or_default();
            if found != expected {
                let place = Path::new(field);
                errors.push(FieldError::invalid(&place, found, format!("must be {expected}")));
            }
        };
        expect("kind", &self.kind);
        expect("apiVersion", &self.api_version());
        errors
    }

    fn check_scale(&self, object: &Value, with_spec: bool) -> Vec<FieldError> {
        self.scale.as_ref().map(|scale| scale.check(object, with_spec)).unwrap_or_default()
    }

    fn ask_rules(&self, new: &Value, old: Option<&Value>, verdict: &mut Verdict) {
        let Some(rules) = &self.rules else { return };
        let blocks = |kind| {
            matches!(
                kind,
                FieldErrorKind::NotSupported
                    | FieldErrorKind::Required
                    | FieldErrorKind::TooLong
                    | FieldErrorKind::TooMany
                    | FieldErrorKind::TypeInvalid
            )
        };
        if verdict.errors.iter().any(|error| blocks(error.kind)) {
            verdict.errors.push(FieldError {
                kind: FieldErrorKind::Invalid,
                field: NO_PLACE.to_owned(),
                value: Some(Value::Null.into()),
                detail: "some validation rules were not checked because the object was invalid; \
                         correct the existing errors to complete validation"
                    .to_owned(),
            });
            return;
        }
        let mut budget = RuleSet::BUDGET;
        let schema = self.schema.as_ref();
        let found = rules.check_ratcheting(new, old, schema, &Path::ROOT, &mut budget);
        verdict.errors.extend(found.errors);
        verdict.warnings.extend(found.warnings);
    }

    /// The value of a field that objects can be selected by; empty if there is none.
    pub fn selectable_value(&self, object: &Value, field: &str) -> String {
        let mut value = object;
        for name in field.split('.') {
            match value.get(name) {
                Some(inner) => value = inner,
                None => return String::new(),
            }
        }
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Column definitions of tables, with that of the name.
    pub fn column_definitions(&self) -> Vec<Value> {
        let name = flumen_kinds::table::Table::of("", "").columns.first();
        let own = self.columns.iter().map(|column| {
            json!({
                "name": column.name,
                "type": column.kind,
                "format": column.format,
                "description": column.description,
                "priority": column.priority,
            })
        });
        name.map(flumen_kinds::table::Column::to_value).into_iter().chain(own).collect()
    }

    /// The cells of an object in a table.
    pub fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object["metadata"]["name"].clone();
        [name].into_iter().chain(self.columns.iter().map(|it| it.cell(object, now))).collect()
    }

    /// How server-side apply merges objects.
    pub const fn apply_schema(&self) -> &ApplySchema {
        &self.apply_schema
    }

    /// The schemas that are published: of the kind and of its list.
    pub fn published(&self, document: OpenApi) -> &[Published; 2] {
        match document {
            OpenApi::V2 => &self.published[0],
            OpenApi::V3 => &self.published[1],
        }
    }

    /// Makes an object of another version one of this: nothing but the version changes.
    pub fn convert(&self, object: &mut Value) {
        if let Value::Object(map) = object {
            map.insert("apiVersion".to_owned(), self.api_version().into());
        }
    }
}

/// Names without a domain may be used by others too.
fn finalizer_warning(name: &str) -> Option<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    if name.contains('/') || STANDARD.contains(&name) {
        return None;
    }
    let what = if name.contains('.') { " including a path (/)" } else { "" };
    Some(format!(
        "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{what} to avoid \
         accidental conflicts with other finalizer writers"
    ))
}

fn set_generation(object: &mut Value, generation: i64) {
    if let Value::Object(map) = object {
        let metadata = map.entry("metadata").or_insert_with(|| Map::new().into());
        if let Value::Object(metadata) = metadata {
            metadata.insert("generation".to_owned(), generation.into());
        }
    }
}

fn differs_beside_metadata(new: &Value, old: &Value) -> bool {
    let rest = |value: &'_ Value| {
        let map = value.as_object();
        map.into_iter().flatten().filter(|(key, _)| *key != "metadata").count()
    };
    let (Some(map), true) = (new.as_object(), rest(new) == rest(old)) else { return true };
    map.iter().any(|(key, value)| key != "metadata" && old.get(key) != Some(value))
}
