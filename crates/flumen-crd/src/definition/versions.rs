//! The versions of a definition, and what each may say or all may say together.

use flumen_fields::{FieldError, Path, Shown};
use serde_json::Value;

use super::{
    Leniency, default_rules, go_form,
    rule_types::Rules,
    schema_rules::{self, Context},
    spec::{Names, Spec, VersionSpec},
    structural,
};
use crate::{field_path, names, schema::Schema};

const MOST_SELECTABLE: usize = 8;

pub(super) fn check(
    spec: &Spec<'_>,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let versions = at.child("versions");
    for (index, version) in spec.versions.iter().enumerate() {
        let is_needed = leniency.require_schema || !spec.preserve_unknown && version.served;
        if is_needed && version.schema.is_none() {
            let place = versions.index(index);
            let schema = place.child("schema");
            let detail = if leniency.require_schema {
                ""
            } else {
                "because otherwise all fields are pruned"
            };
            errors.push(FieldError::required(&schema.child("openAPIV3Schema"), detail));
        }
    }
    let has_defaults = spec.schemas().any(|schema| schema.any(&mut |it| it.default.is_some()));
    if has_defaults && spec.preserve_unknown {
        let place = at.child("preserveUnknownFields");
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(&place, true, detail));
    }
    for (index, version) in spec.versions.iter().enumerate() {
        let place = versions.index(index);
        if let Some(problems) = names::label_problems(version.name) {
            errors.push(FieldError::invalid(&place.child("name"), version.name, problems));
        }
        deprecation(version, &place, errors);
        check_version(spec, version, &place, leniency, errors);
    }
    check_set(spec, at, errors);
}

fn check_version(
    spec: &Spec<'_>,
    version: &VersionSpec<'_>,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let shares = spec.shares;
    if let Some(schema) = version.schema.as_ref().filter(|_| !shares.schema) {
        let has_status = version.has_status();
        let is_unchanged = leniency.unchanged.iter().any(|name| name == version.name);
        let at = at.child("schema");
        check_schema(
            schema,
            &version.raw["schema"],
            has_status,
            is_unchanged,
            &at,
            leniency,
            errors,
        );
    }
    if !shares.subresources {
        check_subresources(version.subresources, &at.child("subresources"), errors);
    }
    if !shares.columns {
        check_columns(version.columns, &at.child("additionalPrinterColumns"), errors);
    }
    if !shares.selectable && !version.selectable.is_empty() {
        let place = at.child("selectableFields");
        if let Some(schema) = version.schema.as_ref().filter(|_| !shares.schema) {
            let is_excused = leniency.many_selectable.iter().any(|it| it == version.name);
            check_selectable(version.selectable, schema, &place, is_excused, errors);
        } else {
            let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
            errors.push(FieldError::invalid(&place, "", detail));
        }
    }
}

/// Names and storage over all versions.
fn check_set(spec: &Spec<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let place = at.child("versions");
    let mut refuse = |detail: &str| {
        let shown = Shown::Text(go_form::versions(spec));
        errors.push(FieldError::invalid(&place, shown, detail));
    };
    let mut names: Vec<_> = spec.versions.iter().map(|version| version.name).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        refuse("must contain unique version names");
    }
    if spec.versions.iter().filter(|version| version.storage).count() != 1 {
        refuse("must have exactly one version marked as storage version");
    }
    if let Some(first) = spec.versions.first()
        && !first.name.is_empty()
        && let Some(problems) = names::label_problems(first.name)
    {
        errors.push(FieldError::invalid(&at.child("version"), first.name, problems));
    }
}

/// What all versions say, where the server keeps it once.
pub(super) fn check_shared(
    spec: &Spec<'_>,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let Some(first) = spec.versions.first() else { return };
    let shares = spec.shares;
    let schema = first.schema.as_ref().filter(|_| shares.schema);
    if let Some(schema) = schema {
        let has_status = spec.versions.iter().any(VersionSpec::has_status);
        let is_unchanged = leniency.unchanged.iter().any(|name| name == first.name);
        let raw = &first.raw["schema"];
        let at = at.child("validation");
        check_schema(schema, raw, has_status, is_unchanged, &at, leniency, errors);
    }
    if shares.subresources {
        check_subresources(first.subresources, &at.child("subresources"), errors);
    }
    if shares.columns {
        check_columns(first.columns, &at.child("additionalPrinterColumns"), errors);
    }
    if shares.selectable && !first.selectable.is_empty() {
        let place = at.child("selectableFields");
        if let Some(schema) = schema {
            let is_excused = leniency.many_selectable.iter().any(String::is_empty);
            check_selectable(first.selectable, schema, &place, is_excused, errors);
        } else {
            let detail = "may only be set when validations.schema is included";
            errors.push(FieldError::invalid(&place, "", detail));
        }
    }
}

fn deprecation(version: &VersionSpec<'_>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(warning) = version.deprecation_warning else { return };
    let place = at.child("deprecationWarning");
    let mut refuse = |detail: String| errors.push(FieldError::invalid(&place, warning, detail));
    if !version.deprecated {
        return refuse("can only be set for deprecated versions".to_owned());
    }
    if warning.len() > 256 {
        refuse("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        refuse("must not be an empty string".to_owned());
    }
    let unprintable = |c: char| c.is_control() || c.is_whitespace() && c != ' ';
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| unprintable(*c)) {
        refuse(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {index}"
        ));
    }
}

fn check_schema(
    schema: &Schema,
    raw: &Value,
    has_status: bool,
    is_unchanged: bool,
    at: &Path<'_>,
    leniency: &Leniency,
    errors: &mut Vec<FieldError>,
) {
    let known = errors.len();
    let place = at.child("openAPIV3Schema");
    if has_status {
        errors.extend(go_form::root_problem(schema, &raw["openAPIV3Schema"], &place));
    }
    if schema.nullable {
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(&place.child("nullable"), detail));
    }
    let unreadable = structural::unreadable(schema);
    let mut rules = Rules::new(schema, is_unchanged);
    if unreadable.is_some() {
        rules.disable();
    } else {
        let mut found = structural::check(schema, &place);
        if found.is_empty() {
            found = default_rules::check(schema, &place, leniency.require_pruned_defaults);
        }
        if !found.is_empty() {
            rules.disable();
        }
        if leniency.require_structural {
            errors.extend(found);
        }
    }
    let problems = schema_rules::check(schema, &place, &Context::root(leniency), &mut rules);
    errors.extend(problems.schema);
    errors.extend(problems.rules);
    if errors.len() == known
        && let Some(problem) = unreadable
    {
        errors.push(FieldError::invalid(&place, "", problem));
    }
    errors.extend(rules.total(&place));
}

fn simple_path(path: &str, at: &Path<'_>) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!path.starts_with('.')).then(|| FieldError::invalid(at, path, detail))
}

fn check_subresources(value: Option<&Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let Some(scale) = value.map(|it| &it["scale"]).filter(|it| it.is_object()) else { return };
    let at = at.child("scale");
    let paths: [(&str, &[&str], &str); 3] = [
        ("specReplicasPath", &[".spec."], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], "should be a json path under .status"),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ];
    for (name, roots, detail) in paths {
        let place = at.child(name);
        let path = scale[name].as_str().unwrap_or_default();
        if path.is_empty() {
            if name != "labelSelectorPath" {
                errors.push(FieldError::required(&place, ""));
            }
        } else if let Some(error) = simple_path(path, &place) {
            errors.push(error);
        } else if !roots.iter().any(|root| path.starts_with(root)) {
            errors.push(FieldError::invalid(&place, path, detail));
        }
    }
}

fn check_columns(columns: &[Value], at: &Path<'_>, errors: &mut Vec<FieldError>) {
    const TYPES: &str = "boolean,date,integer,number,string";
    const FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
    for (index, column) in columns.iter().enumerate() {
        let place = at.index(index);
        let text = |key: &str| column[key].as_str().unwrap_or_default();
        let (kind, format, path) = (text("type"), text("format"), text("jsonPath"));
        if text("name").is_empty() {
            errors.push(FieldError::required(&place.child("name"), ""));
        }
        let detail = format!("must be one of {TYPES}");
        if kind.is_empty() {
            errors.push(FieldError::required(&place.child("type"), detail));
        } else if !TYPES.split(',').any(|it| it == kind) {
            errors.push(FieldError::invalid(&place.child("type"), kind, detail));
        }
        if !format.is_empty() && !FORMATS.split(',').any(|it| it == format) {
            let detail = format!("must be one of {FORMATS}");
            errors.push(FieldError::invalid(&place.child("format"), format, detail));
        }
        let place = place.child("JSONPath");
        if path.is_empty() {
            errors.push(FieldError::required(&place, ""));
        } else {
            errors.extend(simple_path(path, &place));
        }
    }
}

fn check_selectable(
    fields: &[Value],
    schema: &Schema,
    at: &Path<'_>,
    is_excused: bool,
    errors: &mut Vec<FieldError>,
) {
    let mut known = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let place = at.index(index);
        let place = place.child("jsonPath");
        let path = field["jsonPath"].as_str().unwrap_or_default();
        if path.is_empty() {
            errors.push(FieldError::required(&place, ""));
            continue;
        }
        let found = match field_path::parse(path, schema, false) {
            Ok(found) => found,
            Err(problem) => {
                let detail = format!("is an invalid path: {problem}");
                errors.push(FieldError::invalid(&place, path, detail));
                continue;
            }
        };
        if found.root == "metadata" {
            let detail = "must not point to fields in metadata";
            errors.push(FieldError::invalid(&place, path, detail));
        }
        let kind = found.schema.map(|schema| schema.kind.as_str());
        if !matches!(kind, Some("string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(&place, path, detail));
        }
        if known.contains(&found.text) {
            errors.push(FieldError::duplicate(&place, path));
        } else {
            known.push(found.text);
        }
    }
    if known.len() > MOST_SELECTABLE && !is_excused {
        errors.push(FieldError::too_many(at, known.len(), MOST_SELECTABLE));
    }
}

/// Versions that had more selectable fields than are allowed, and keep them.
pub(super) fn many_selectable(spec: &Spec<'_>, old: &Spec<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for version in &spec.versions {
        let before = old.versions.iter().find(|old| old.name == version.name);
        if before.is_some_and(|old| {
            old.selectable.len() > MOST_SELECTABLE && old.selectable == version.selectable
        }) {
            found.push(version.name.to_owned());
            if spec.shares.selectable && old.shares.selectable {
                found.push(String::new());
            }
        }
    }
    found
}

pub(super) fn check_names(names: &Names<'_>, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mixed = "may have mixed case, but should otherwise match: ";
    let fields = [
        ("plural", names.plural, false),
        ("singular", names.singular, false),
        ("kind", names.kind, true),
        ("listKind", names.list_kind, true),
    ];
    for (field, name, is_mixed) in fields.into_iter().filter(|(_, name, _)| !name.is_empty()) {
        let lower = if is_mixed { name.to_lowercase() } else { name.to_owned() };
        if let Some(problems) = names::label_problems(&lower) {
            let detail = if is_mixed { format!("{mixed}{problems}") } else { problems };
            errors.push(FieldError::invalid(&at.child(field), name, detail));
        }
    }
    let mut labels = |field: &str, values: &[&str]| {
        let place = at.child(field);
        for (index, value) in values.iter().enumerate() {
            if let Some(problems) = names::label_problems(value) {
                errors.push(FieldError::invalid(&place.index(index), *value, problems));
            }
        }
    };
    labels("shortNames", &names.short_names);
    labels("categories", &names.categories);
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&at.child("listKind"), names.list_kind, detail));
    }
    errors
}

/// Versions in which objects are stored must stay.
pub(super) fn check_stored(definition: &Value, spec: &Spec<'_>) -> Vec<FieldError> {
    let status = Path::new("status");
    let place = status.child("storedVersions");
    let stored = super::texts(&definition["status"], "storedVersions");
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        return vec![FieldError::invalid(&place, Value::Null, detail)];
    }
    let mut errors = Vec::new();
    for (place_of, version) in spec.versions.iter().enumerate() {
        // Of versions with one name, the first is the one that is stored.
        let is_first = !spec.versions[..place_of].iter().any(|other| other.name == version.name);
        if version.storage && !(is_first && stored.contains(&version.name)) {
            let detail = format!("must have the storage version {}", version.name);
            errors.push(FieldError::invalid(&place, Value::from(stored.clone()), detail));
        }
    }
    for (index, stored) in stored.iter().enumerate() {
        if !spec.versions.iter().any(|version| version.name == *stored) {
            let detail = format!(
                "missing from spec.versions; {stored} was previously a storage version, and must \
                 remain in spec.versions until a storage migration ensures no data remains \
                 persisted in {stored} and removes {stored} from status.storedVersions"
            );
            errors.push(FieldError::invalid(&place.index(index), *stored, detail));
        }
    }
    errors
}
