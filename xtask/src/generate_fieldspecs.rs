//! `cargo xtask generate`: the default field specifications of `flumen-kustomize`.
//!
//! The facts stand beside the checkout, the table is committed. It is sorted here, in the order in
//! which the engine keeps such lists, so that a build without configurations of its own borrows the
//! tables and neither copies nor sorts anything.

use std::{
    fmt::{Display, Write as _},
    fs,
    path::Path,
};

use serde_json::Value;

const FACTS: &str = "../shared/corpus/kustomize-fieldspecs.json";
const TABLE: &str = "crates/flumen-kustomize/src/config/defaults.rs";

const HEADER: &str = "\
//! The fields that transformers look at when no configuration says otherwise.
//!
//! Made by `cargo xtask generate`; do not edit.

use std::borrow::Cow;

use super::{FieldSpec, NameReference};

const fn spec(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
    create: bool,
) -> FieldSpec {
    FieldSpec {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        path: Cow::Borrowed(path),
        create,
    }
}

const fn reference(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    referrers: &'static [FieldSpec],
) -> NameReference {
    NameReference {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        referrers: Cow::Borrowed(referrers),
    }
}
";

/// The lists of the facts and the names of their tables.
const LISTS: [(&str, &str); 9] = [
    ("namePrefix", "NAME_PREFIX"),
    ("nameSuffix", "NAME_SUFFIX"),
    ("namespace", "NAMESPACE"),
    ("commonLabels", "COMMON_LABELS"),
    ("templateLabels", "TEMPLATE_LABELS"),
    ("commonAnnotations", "COMMON_ANNOTATIONS"),
    ("varReference", "VAR_REFERENCE"),
    ("images", "IMAGES"),
    ("replicas", "REPLICAS"),
];

/// Writes the table, or with `check` only compares it. `Ok(Some(reason))` says why it did neither.
pub(crate) fn run(check: bool) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    let facts = root.join(FACTS);
    if !facts.is_file() {
        return Ok(Some(format!("field specifications not compared: `{FACTS}` is absent")));
    }
    let failed = |path: &str, error: &dyn Display| format!("{path}: {error}");
    let facts = fs::read_to_string(facts).map_err(|error| failed(FACTS, &error))?;
    let facts = serde_json::from_str(&facts).map_err(|error| failed(FACTS, &error))?;
    let text = table(&facts).map_err(|error| failed(FACTS, &error))?;
    let path = root.join(TABLE);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(None);
    }
    if check {
        return Err(format!("`{TABLE}` is stale; run `cargo xtask generate`"));
    }
    fs::write(&path, text).map_err(|error| failed(TABLE, &error))?;
    Ok(None)
}

fn table(facts: &Value) -> Result<String, String> {
    let mut out = HEADER.to_owned();
    for (list, name) in LISTS {
        write_specs(&mut out, "pub(super)", name, entries(facts, list)?);
    }
    let mut references = String::new();
    for entry in sorted(entries(facts, "nameReference")?) {
        let kind = text(entry, "kind");
        let name = format!("{}_REFERRERS", screaming(kind));
        write_specs(&mut out, "", &name, entries(entry, "fieldSpecs")?);
        let (group, version) = (text(entry, "group"), text(entry, "version"));
        let _ = writeln!(references, "    reference({group:?}, {version:?}, {kind:?}, &{name}),");
    }
    let count = references.lines().count();
    let _ = write!(
        out,
        "\npub(super) static NAME_REFERENCE: [NameReference; {count}] = [\n{references}];\n"
    );
    Ok(out)
}

fn write_specs(out: &mut String, visibility: &str, name: &str, entries: &[Value]) {
    let space = if visibility.is_empty() { "" } else { " " };
    let count = entries.len();
    // A `String` takes every write.
    let _ = writeln!(out, "\n{visibility}{space}static {name}: [FieldSpec; {count}] = [");
    for entry in
        if name.ends_with("_REFERRERS") { entries.iter().collect() } else { sorted(entries) }
    {
        let create = entry.get("create").and_then(Value::as_bool).unwrap_or(false);
        let _ = writeln!(
            out,
            "    spec({:?}, {:?}, {:?}, {:?}, {create}),",
            text(entry, "group"),
            text(entry, "version"),
            text(entry, "kind"),
            text(entry, "path")
        );
    }
    out.push_str("];\n");
}

fn entries<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    let list = value.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| format!("no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// By the place of the kind in kustomize's legacy order, then by group, version and kind.
fn sorted(entries: &[Value]) -> Vec<&Value> {
    fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
        if text.is_empty() { missing } else { text }
    }
    let mut entries: Vec<&Value> = entries.iter().collect();
    entries.sort_by_cached_key(|entry| {
        let kind = text(entry, "kind");
        let gvk = format!(
            "{}_{}_{}",
            or(text(entry, "group"), "~G"),
            or(text(entry, "version"), "~V"),
            or(kind, "~K")
        );
        (rank(kind), gvk)
    });
    entries
}

/// The engine ranks kinds in `flumen-kustomize/src/config.rs`; a test there holds the tables to it.
fn rank(kind: &str) -> i32 {
    const FIRST: [&str; 22] = [
        "Namespace",
        "ResourceQuota",
        "StorageClass",
        "CustomResourceDefinition",
        "ServiceAccount",
        "PodSecurityPolicy",
        "Role",
        "ClusterRole",
        "RoleBinding",
        "ClusterRoleBinding",
        "ConfigMap",
        "Secret",
        "Endpoints",
        "Service",
        "LimitRange",
        "PriorityClass",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Deployment",
        "StatefulSet",
        "CronJob",
        "PodDisruptionBudget",
    ];
    match kind {
        "MutatingWebhookConfiguration" => 1,
        "ValidatingWebhookConfiguration" => 2,
        _ => match FIRST.iter().position(|first| *first == kind) {
            Some(index) => i32::try_from(index).unwrap_or(0) - 22,
            None => 0,
        },
    }
}

/// `ConfigMap` as the name of a constant.
fn screaming(kind: &str) -> String {
    let mut out = String::new();
    for letter in kind.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_uppercase());
    }
    out
}
