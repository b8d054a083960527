//! `cargo xtask generate`: the tables of `flumen-schema`, made from recorded schema facts.
//!
//! The facts stand beside the checkout (`../shared/corpus`), the tables are committed, so that the
//! repository builds without them. A table is plain numbers plus one string of all names: it needs
//! no relocation when the program starts, and no page of it is touched before it is asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Display, Write as _},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

const FACTS: &str = "../shared/corpus";
const TABLES: &str = "crates/flumen-schema/src/generated";

/// Writes the tables, or with `check` only compares them. `Ok(Some(reason))` says why it did neither.
pub(crate) fn run(check: bool) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    let facts = root.join(FACTS);
    if !facts.is_dir() {
        return Ok(Some(format!("generated tables not compared: `{FACTS}` is absent")));
    }
    let tables = [
        ("kustomize.rs", kustomize_table(&read(&facts.join("kustomize-schema.json"))?)?),
        (
            "server.rs",
            server_table(
                &read(&facts.join("kubernetes/openapi/kinds.json"))?,
                &read(&facts.join("kubernetes/openapi/merge-keys.json"))?,
                &read(&facts.join("kubernetes/openapi/version.json"))?,
            )?,
        ),
    ];
    for (name, text) in tables {
        keep(root, name, &text, check)?;
    }
    Ok(None)
}

/// Writes the table `name`, or with `check` only compares it.
pub(crate) fn keep(root: &Path, name: &str, text: &str, check: bool) -> Result<(), String> {
    let path = root.join(TABLES).join(name);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if check {
        return Err(format!("`{TABLES}/{name}` is stale; run `cargo xtask generate`"));
    }
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &PathBuf) -> Result<Value, String> {
    let failed = |error: &dyn Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// What kustomize knows: definitions, their fields, the kinds, and which kinds have a namespace.
fn kustomize_table(facts: &Value) -> Result<String, String> {
    let definitions = entries(facts, "definitions")?;
    let mut types: BTreeMap<&str, BTreeMap<&str, Field<'_>>> = BTreeMap::new();
    let mut kinds: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut targets: BTreeSet<&str> = BTreeSet::new();
    for (name, definition) in definitions {
        let fields = types.entry(name).or_default();
        for (field, target) in entries(definition, "refs")? {
            let field = fields.entry(field).or_default();
            (field.shape, field.target) = shape(text(target)?);
            targets.insert(field.target);
        }
        for (field, merge) in entries(definition, "mergeFields")? {
            let keys = match merge.get("listMapKeys") {
                Some(keys) => texts(keys)?,
                None => merge.get("patchMergeKey").map(text).transpose()?.into_iter().collect(),
            };
            let strategy = merge.get("patchStrategy").map(text).transpose()?.unwrap_or_default();
            if strategy.split(',').any(|part| part == "merge") {
                fields.entry(field).or_default().merge = Some(keys);
            }
        }
        for kind in definition.get("kinds").map(texts).transpose()?.unwrap_or_default() {
            kinds.insert(split_kind(kind)?, name);
        }
    }
    // A definition that is only referred to has no facts, but it is known, which is a fact too.
    for target in targets.into_iter().filter(|target| !target.is_empty()) {
        types.entry(target).or_default();
    }

    let numbers: BTreeMap<&str, usize> = types.keys().copied().zip(0..).collect();
    let merges: Vec<&Vec<&str>> = types
        .values()
        .flat_map(BTreeMap::values)
        .filter_map(|field| field.merge.as_ref())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let mut names = Names::default();
    let mut definition_names = Names::default();
    let (mut type_rows, mut field_rows) = (Vec::new(), Vec::new());
    for (name, fields) in &types {
        type_rows.push(format!("({}, {})", definition_names.add(name), field_rows.len()));
        for (name, field) in fields {
            let target = numbers.get(field.target).copied().unwrap_or(types.len());
            let merge = field.merge.as_ref().and_then(|keys| merges.binary_search(&keys).ok());
            let merge = merge.map_or(0, |index| index + 1);
            field_rows.push(format!("({}, {}, {target}, {merge})", names.add(name), field.shape));
        }
    }
    let mut kind_rows = Vec::new();
    for ((kind, version), definition) in &kinds {
        let (kind, version) = (names.add(kind), names.add(version));
        kind_rows.push(format!("({kind}, {version}, {})", numbers[definition]));
    }

    let mut scopes = Vec::new();
    for (kind, namespaced) in entries(facts, "namespaced")? {
        let (kind, version) = split_kind(kind)?;
        scopes.push((kind.len(), kind, version, namespaced == &Value::Bool(true)));
    }
    scopes.sort_unstable();
    let longest = scopes.last().map_or(0, |scope| scope.0);
    let starts = (0..=longest + 1).map(|length| scopes.partition_point(|row| row.0 < length));
    let starts: Vec<String> = starts.map(|start| start.to_string()).collect();
    let mut scope_rows = Vec::new();
    for (_, kind, version, namespaced) in &scopes {
        let (kind, version) = (names.add(kind), names.add(version));
        scope_rows.push(format!("({kind}, {version}, {namespaced})"));
    }
    let key_rows: Vec<String> = merges.iter().map(|keys| format!("&{keys:?}")).collect();

    let version = facts.get("kubernetes").map(text).transpose()?.unwrap_or_default();
    let mut out =
        header(&format!("Kubernetes {version}, the release whose schema kustomize 5.8 carries."));
    constant(
        &mut out,
        "The built-in version as kustomize names it.",
        "VERSION",
        &format!("v{version}"),
    );
    constant(&mut out, "Names of fields, kinds and API versions.", "NAMES", &names.text);
    constant(&mut out, "Names of definitions.", "DEFINITION_NAMES", &definition_names.text);
    table(&mut out, "Definitions by name: name, first field.", "TYPES", "(Name, u16)", &type_rows);
    let doc = "Fields by definition and name: name, shape, definition, one more than the index of merge keys.";
    table(&mut out, doc, "FIELDS", "(Name, Shape, u16, u8)", &field_rows);
    table(&mut out, "Merge keys.", "MERGE_KEYS", "&[&str]", &key_rows);
    table(
        &mut out,
        "Kinds: kind, API version, definition.",
        "KINDS",
        "(Name, Name, u16)",
        &kind_rows,
    );
    let doc = "Scopes by length of the kind: kind, API version, whether it has a namespace.";
    table(&mut out, doc, "SCOPES", "(Name, Name, bool)", &scope_rows);
    table(&mut out, "First scope of each length of a kind.", "SCOPE_STARTS", "u8", &starts);
    out = out
        .replace("use super::Name;", "use super::{Name, Shape};\nuse Shape::{List, Map, Plain};");
    Ok(out)
}

#[derive(Default)]
struct Field<'a> {
    shape: ShapeName,
    target: &'a str,
    merge: Option<Vec<&'a str>>,
}

/// A variant of `Shape`, printed by its name.
struct ShapeName(&'static str);

impl Default for ShapeName {
    fn default() -> Self {
        // Fields that have merge facts and no reference are lists of scalars.
        Self("List")
    }
}

impl Display for ShapeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

fn shape(target: &str) -> (ShapeName, &str) {
    if let Some(element) = target.strip_prefix("[]") {
        (ShapeName("List"), element)
    } else if let Some(value) = target.strip_prefix("{}") {
        (ShapeName("Map"), value)
    } else {
        (ShapeName("Plain"), target)
    }
}

/// What a current server knows: kinds with plural and scope, list and map types of fields.
fn server_table(kinds: &Value, merge_keys: &Value, version: &Value) -> Result<String, String> {
    let mut names = Names::default();
    let mut kind_rows = BTreeMap::new();
    for kind in kinds.as_array().ok_or("kinds are no list")? {
        let get = |key: &str| kind.get(key).ok_or(format!("kind without `{key}`")).and_then(text);
        let (group, version) = (get("group")?, get("version")?);
        let version =
            if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let (name, plural) = (get("kind")?, get("plural")?);
        let namespaced = kind.get("namespaced") == Some(&Value::Bool(true));
        let row = (names.add(name), names.add(&version), names.add(plural));
        let row = format!("({}, {}, {}, {namespaced})", row.0, row.1, row.2);
        kind_rows.insert((name.to_owned(), version), row);
    }
    let mut definition_names = Names::default();
    let (mut definition_rows, mut field_rows) = (Vec::new(), Vec::new());
    let mut key_lists: Vec<Vec<&str>> = vec![Vec::new()];
    let definitions = merge_keys.as_object().ok_or("merge keys are no mapping")?;
    for (definition, facts) in definitions {
        definition_rows.push(format!(
            "({}, {})",
            definition_names.add(definition),
            field_rows.len()
        ));
        for (field, facts) in entries(facts, "fields")? {
            let keys = facts.get("list-map-keys").map(texts).transpose()?.unwrap_or_default();
            let index = key_lists.iter().position(|known| *known == keys).unwrap_or_else(|| {
                key_lists.push(keys);
                key_lists.len() - 1
            });
            let get = |key: &str| facts.get(key).map(text).transpose();
            let topology = match (get("list-type")?, get("map-type")?) {
                (Some("map"), _) => "MapList",
                (Some("set"), _) => "Set",
                (Some("atomic"), _) => "Atomic",
                (_, Some("atomic")) => "AtomicMap",
                (None, None | Some("granular")) => "Granular",
                other => return Err(format!("unknown topology {other:?} of {definition}.{field}")),
            };
            field_rows.push(format!("({}, {topology}, {index})", names.add(field)));
        }
    }
    let key_rows: Vec<String> = key_lists.iter().map(|keys| format!("&{keys:?}")).collect();
    let kind_rows: Vec<String> = kind_rows.into_values().collect();

    let version = version.get("gitVersion").map(text).transpose()?.unwrap_or_default();
    let mut out =
        header(&format!("Kubernetes {version}, as a server of that release describes itself."));
    constant(&mut out, "Names of fields, kinds, API versions and plurals.", "NAMES", &names.text);
    constant(&mut out, "Names of definitions.", "DEFINITION_NAMES", &definition_names.text);
    let doc = "Kinds: kind, API version, plural, whether it has a namespace.";
    table(&mut out, doc, "KINDS", "(Name, Name, Name, bool)", &kind_rows);
    table(
        &mut out,
        "Definitions by name: name, first field.",
        "TYPES",
        "(Name, u16)",
        &definition_rows,
    );
    let doc = "Fields by definition and name: name, topology, list of keys.";
    table(&mut out, doc, "FIELDS", "(Name, Topology, u8)", &field_rows);
    table(&mut out, "Keys of map lists.", "MERGE_KEYS", "&[&str]", &key_rows);
    out = out.replace(
        "use super::Name;",
        "use super::Name;\nuse crate::Topology::{self, Atomic, AtomicMap, Granular, MapList, Set};",
    );
    Ok(out)
}

/// A string that holds every name once; a name is an offset and a length.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) text: String,
    known: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn add(&mut self, name: &str) -> String {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let reference = format!("Name({}, {})", self.text.len(), name.len());
        self.text.push_str(name);
        self.known.insert(name.to_owned(), reference.clone());
        reference
    }
}

pub(crate) fn header(origin: &str) -> String {
    format!(
        "//! {origin}\n//!\n//! Made by `cargo xtask generate`; do not edit.\n\nuse super::Name;\n"
    )
}

pub(crate) fn constant(out: &mut String, doc: &str, name: &str, value: &str) {
    let _ = write!(out, "\n/// {doc}\npub(crate) const {name}: &str = {value:?};\n");
}

pub(crate) fn table(out: &mut String, doc: &str, name: &str, item: &str, rows: &[String]) {
    let count = rows.len();
    let _ = write!(out, "\n/// {doc}\npub(crate) static {name}: [{item}; {count}] = [");
    let mut width = usize::MAX;
    for row in rows {
        if width.saturating_add(row.len()) > 96 {
            out.push_str("\n   ");
            width = 3;
        }
        let _ = write!(out, " {row},");
        width += row.len() + 2;
    }
    out.push_str("\n];\n");
}

/// The members of the object at `key`, by name; none if it is absent.
fn entries<'a>(
    value: &'a Value,
    key: &str,
) -> Result<impl Iterator<Item = (&'a str, &'a Value)>, String> {
    let members =
        value.get(key).map(|found| found.as_object().ok_or(format!("`{key}` is no object")));
    let members = members.transpose()?.into_iter().flatten();
    Ok(members.map(|(name, member)| (name.as_str(), member)))
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("a string is expected instead of {value}"))
}

fn texts(value: &Value) -> Result<Vec<&str>, String> {
    value.as_array().ok_or("a list is expected")?.iter().map(text).collect()
}

/// Splits `apps/v1 Deployment` into kind and API version.
fn split_kind(kind: &str) -> Result<(&str, &str), String> {
    let (version, kind) = kind.split_once(' ').ok_or_else(|| format!("`{kind}` is no kind"))?;
    Ok((kind, version))
}
