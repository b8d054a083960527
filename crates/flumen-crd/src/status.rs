//! The status of a definition: names that it has, and whether it is served.

use std::{cmp::Ordering, collections::BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::definition::{Names, is_ca_bundle, texts};

/// The status after the names of a definition were looked at; `None` if nothing changes.
///
/// `others` are all other definitions, of which those of the same group may have taken names.
pub fn accept_names<'a>(
    definition: &Value,
    others: impl IntoIterator<Item = &'a Value>,
    now: Timestamp,
) -> Option<Value> {
    let requested = &definition["spec"]["names"];
    let accepted = &definition["status"]["acceptedNames"];
    if requested == accepted {
        return None;
    }
    let taken = Taken::of(definition, others);
    let (names, problem) = taken.decide(requested, accepted);
    let accepts = problem.is_none();
    let naming = match problem {
        None => condition("NamesAccepted", true, "NoConflicts", "no conflicts found"),
        Some((reason, message)) => condition("NamesAccepted", false, reason, &message),
    };
    let known = find(definition, "NamesAccepted");
    let is_same = known.is_some_and(|known| {
        ["status", "reason", "message"].iter().all(|key| known[*key] == naming[*key])
    });
    if names == *accepted && is_same {
        return None;
    }
    let was_established = find(definition, "Established");
    let established = match was_established {
        Some(old) if old["status"] == "True" || !accepts => None,
        _ if accepts => {
            let message = "the initial names have been accepted";
            Some(condition("Established", false, "Installing", message))
        }
        _ => {
            let message = "not all names are accepted";
            Some(condition("Established", false, "NotAccepted", message))
        }
    };
    let mut status = definition["status"].as_object().cloned().unwrap_or_default();
    status.insert("acceptedNames".to_owned(), names);
    set_condition(&mut status, naming, now);
    if let Some(established) = established {
        set_condition(&mut status, established, now);
    }
    Some(status.into())
}

/// The status of a definition whose names were accepted, once its resource can be served; `None` if
/// nothing changes.
pub fn establish(definition: &Value, now: Timestamp) -> Option<Value> {
    let is_true = |kind: &str| find(definition, kind).is_some_and(|it| it["status"] == "True");
    if !is_true("NamesAccepted") || is_true("Established") {
        return None;
    }
    let bundle = definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].as_str();
    let established = if bundle.is_some_and(|bundle| !bundle.is_empty() && !is_ca_bundle(bundle)) {
        let message = "The conversion webhook CABundle is invalid";
        condition("Established", false, "InvalidCABundle", message)
    } else {
        let message = "the initial names have been accepted";
        condition("Established", true, "InitialNamesAccepted", message)
    };
    let mut status = definition["status"].as_object().cloned().unwrap_or_default();
    set_condition(&mut status, established, now);
    (Value::Object(status.clone()) != definition["status"]).then(|| status.into())
}

/// Sets what the server keeps about a new definition, and forgets what its author wrote there.
pub fn prepare_create(definition: &mut Value) {
    let storage = storage_version(definition).map(str::to_owned);
    let Some(map) = definition.as_object_mut() else { return };
    map.remove("status");
    if let Some(storage) = storage {
        let names = json!({ "kind": "", "plural": "" });
        let status =
            json!({ "acceptedNames": names, "conditions": null, "storedVersions": [storage] });
        map.insert("status".to_owned(), status);
    }
    set_generation(definition, 1);
}

/// The same for a definition that replaces another.
pub fn prepare_update(definition: &mut Value, old: &Value) {
    if definition["spec"] != old["spec"] {
        set_generation(definition, old["metadata"]["generation"].as_i64().unwrap_or(0) + 1);
    }
    let storage = storage_version(definition).map(str::to_owned);
    let mut status = old["status"].as_object().cloned().unwrap_or_default();
    if let Some(storage) = storage {
        let stored = status.entry("storedVersions").or_insert_with(|| json!([]));
        if let Some(stored) = stored.as_array_mut()
            && !stored.iter().any(|it| *it == *storage)
        {
            stored.push(storage.into());
        }
    }
    if let Some(map) = definition.as_object_mut() {
        map.remove("status");
        if !status.is_empty() {
            map.insert("status".to_owned(), status.into());
        }
    }
}

fn storage_version(definition: &Value) -> Option<&str> {
    let versions = definition["spec"]["versions"].as_array()?;
    versions.iter().find(|version| version["storage"] == true)?["name"].as_str()
}

fn set_generation(definition: &mut Value, generation: i64) {
    if let Some(metadata) = definition.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("generation".to_owned(), generation.into());
    }
}

fn find<'a>(definition: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = definition["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)
}

fn condition(kind: &str, holds: bool, reason: &str, message: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// Conditions keep their order, and their time as long as their status stays.
fn set_condition(status: &mut Map<String, Value>, mut new: Value, now: Timestamp) {
    let now =
        Timestamp::from_second(now.as_second()).map_or(Value::Null, |it| it.to_string().into());
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    let known = conditions.iter_mut().find(|condition| condition["type"] == new["type"]);
    if let Some(known) = known {
        let keeps = known["status"] == new["status"] && known["lastTransitionTime"].is_string();
        new["lastTransitionTime"] = if keeps { known["lastTransitionTime"].take() } else { now };
        *known = new;
    } else {
        new["lastTransitionTime"] = now;
        conditions.push(new);
    }
}

/// Names that other definitions of the group have.
struct Taken<'a> {
    resources: BTreeSet<&'a str>,
    kinds: BTreeSet<&'a str>,
}

impl<'a> Taken<'a> {
    fn of(definition: &Value, others: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut taken = Self { resources: BTreeSet::new(), kinds: BTreeSet::new() };
        for other in others {
            let is_other = other["metadata"]["name"] != definition["metadata"]["name"];
            if is_other && other["spec"]["group"] == definition["spec"]["group"] {
                let names = Names::read(&other["status"]["acceptedNames"]);
                taken.resources.extend([names.plural, names.singular]);
                taken.resources.extend(names.short_names);
                taken.kinds.extend([names.kind, names.list_kind]);
            }
        }
        taken
    }

    /// The names that a definition gets, and the last of those that it does not get.
    fn decide(
        &self,
        requested: &Value,
        accepted: &Value,
    ) -> (Value, Option<(&'static str, String)>) {
        let mut names = accepted.as_object().cloned().unwrap_or_default();
        let mut problem = None;
        let in_use = |name: &str| format!("{name:?} is already in use");
        let fields = [
            ("plural", "PluralConflict", &self.resources),
            ("singular", "SingularConflict", &self.resources),
            ("shortNames", "ShortNamesConflict", &self.resources),
            ("kind", "KindConflict", &self.kinds),
            ("listKind", "ListKindConflict", &self.kinds),
        ];
        for (field, reason, taken) in fields {
            if field == "shortNames" {
                let own = texts(accepted, field);
                let refused: Vec<_> = texts(requested, field)
                    .into_iter()
                    .filter(|name| !own.contains(name) && taken.contains(name))
                    .map(in_use)
                    .collect();
                match refused.as_slice() {
                    [] => copy(requested, field, &mut names),
                    [one] => problem = Some((reason, one.clone())),
                    several => problem = Some((reason, format!("[{}]", several.join(", ")))),
                }
                continue;
            }
            let name = requested[field].as_str().unwrap_or_default();
            if accepted[field].as_str() != Some(name) && taken.contains(name) {
                problem = Some((reason, in_use(name)));
            } else {
                copy(requested, field, &mut names);
            }
        }
        copy(requested, "categories", &mut names);
        // These two are written even when they are empty.
        for field in ["plural", "kind"] {
            names.entry(field).or_insert_with(|| "".into());
        }
        (names.into(), problem)
    }
}

fn copy(from: &Value, field: &str, to: &mut Map<String, Value>) {
    match from.get(field) {
        Some(value) => to.insert(field.to_owned(), value.clone()),
        None => to.remove(field),
    };
}

/// The order of versions in discovery: the most stable and newest first, names of no such form last.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (priority(a), priority(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// `v1beta2` as stability, major and minor number.
fn priority(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}
