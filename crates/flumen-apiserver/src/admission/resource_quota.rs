//! Namespaces do not use more than their quotas allow.

use flumen_kinds::{
    Quantity,
    quota::{self, Usage},
};
use flumen_store::{Condition, Revision, Transaction};
use serde_json::{Map, Value};

use super::{Attempt, Operation, Result, prefix};
use crate::{ApiError, clock, meta};

/// What a write adds to quotas. It is written together with the object, so that nothing is used that
/// was not counted and nothing is counted that is not there.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Charges(Vec<Charge>);

#[derive(Debug)]
struct Charge {
    key: String,
    revision: Revision,
    value: Vec<u8>,
}

impl Charges {
    /// Adds the quotas to a transaction, which fails if they have changed meanwhile.
    pub(crate) fn add_to(self, transaction: Transaction) -> Transaction {
        self.0.into_iter().fold(transaction, |transaction, charge| {
            let Charge { key, revision, value } = charge;
            transaction.require(key.clone(), Condition::At(revision)).put(key, value)
        })
    }
}

/// What a write costs; refuses what a quota does not allow.
pub(super) fn charges(attempt: &Attempt<'_>, object: &Value) -> Result<Charges> {
    if attempt.namespace().is_empty() || !is_counted(attempt, object) {
        return Ok(Charges::default());
    }
    let quotas = attempt.all("", "resourcequotas", attempt.namespace())?;
    if quotas.is_empty() {
        return Ok(Charges::default());
    }
    let resource = attempt.resource();
    let (group, plural) = (&*resource.group, &*resource.plural);
    let now = clock::now();
    let used = quota::usage(group, plural, object, now);
    let before = attempt.old.map(|old| quota::usage(group, plural, old, now));
    let mut charges = Vec::new();
    for quota in quotas {
        if !limits(&quota, group, plural, object) {
            continue;
        }
        check_constraints(attempt, object, &quota)?;
        let was_in = attempt.old.is_some_and(|old| quota::is_in_scope(&quota, plural, old));
        let added = match &before {
            Some(before) if was_in => grown(&used, before),
            _ => used.clone(),
        };
        let added = added.into_iter().filter(|(_, amount)| !amount.is_zero()).collect();
        if let Some(charge) = charge(attempt, object, quota, &added)? {
            charges.push(charge);
        }
    }
    Ok(if attempt.dry_run { Charges::default() } else { Charges(charges) })
}

/// Whether a write can change what is used.
fn is_counted(attempt: &Attempt<'_>, object: &Value) -> bool {
    let resource = attempt.resource();
    let part = &*attempt.request.target().subresource;
    let creates = attempt.operation == Operation::Create && part.is_empty();
    let updates = attempt.operation == Operation::Update;
    match (&*resource.group, &*resource.plural) {
        (group, plural) if quota::is_ignored(group, plural) => false,
        ("", "pods") => {
            let has_end = |pod: &Value| pod["spec"]["activeDeadlineSeconds"].is_number();
            let moves = attempt.old.is_some_and(|old| has_end(old) != has_end(object));
            creates || (updates && (part == "resize" || (part.is_empty() && moves)))
        }
        ("", "services") => creates || (updates && part.is_empty()),
        ("", "persistentvolumeclaims") => creates || (updates && matches!(part, "" | "status")),
        _ => creates,
    }
}

/// Whether a quota says something about an object. What counts is what its status has adopted.
fn limits(quota: &Value, group: &str, plural: &str, object: &Value) -> bool {
    names_about(quota, group, plural).next().is_some() && quota::is_in_scope(quota, plural, object)
}

fn names_about<'a>(
    quota: &'a Value,
    group: &'a str,
    plural: &'a str,
) -> impl Iterator<Item = &'a str> {
    let hard = quota["status"]["hard"].as_object().into_iter().flatten();
    hard.map(|(name, _)| name.as_str()).filter(move |name| quota::is_about(group, plural, name))
}

/// What must be said, and what must be known, before anything can be counted.
fn check_constraints(attempt: &Attempt<'_>, object: &Value, quota: &Value) -> Result {
    let resource = attempt.resource();
    let (group, plural) = (&*resource.group, &*resource.plural);
    let names = || names_about(quota, group, plural);
    let of = meta::name(quota);
    if (group, plural) == ("", "pods")
        && let Some(missing) = quota::missing_constraints(object, names())
    {
        return Err(attempt.forbid(object, &format!("failed quota: {of}: {missing}")));
    }
    if names().any(|name| quota["status"]["used"].get(name).is_none()) {
        let names: Vec<&str> = names().collect();
        let why = format!("status unknown for quota: {of}, resources: {}", names.join(","));
        return Err(attempt.forbid(object, &why));
    }
    Ok(())
}

/// What is used more than before.
fn grown(used: &Usage, before: &Usage) -> Usage {
    let more = used.iter().map(|(name, amount)| {
        let difference = before.get(name).map_or_else(|| amount.clone(), |b| amount.minus(b));
        (name.clone(), difference)
    });
    more.filter(|(_, difference)| !difference.is_negative()).collect()
}

/// The quota with what is added, unless that is too much.
fn charge(
    attempt: &Attempt<'_>,
    object: &Value,
    mut quota: Value,
    added: &Usage,
) -> Result<Option<Charge>> {
    let empty = Map::new();
    let status = &quota["status"];
    let hard = status["hard"].as_object().unwrap_or(&empty);
    let mut used = status["used"].as_object().cloned().unwrap_or_default();
    let amount = |value: Option<&Value>| {
        value.and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok())
    };
    let mut exceeded = Vec::new();
    for (name, more) in added.iter().filter(|(name, _)| hard.contains_key(*name)) {
        let present = amount(used.get(name));
        let sum = present.as_ref().map_or_else(|| more.clone(), |present| present.plus(more));
        if amount(hard.get(name)).is_some_and(|most| sum > most) {
            exceeded.push(name);
        }
        used.insert(name.clone(), sum.to_string().into());
    }
    if !exceeded.is_empty() && attempt.request.target().subresource != "status" {
        return Err(too_much(attempt, object, &quota, added, &exceeded));
    }
    if status["used"].as_object() == Some(&used) {
        return Ok(None);
    }
    quota["status"]["used"] = Value::Object(used);
    let key =
        format!("{}{}", prefix("", "resourcequotas", attempt.namespace()), meta::name(&quota));
    let revision = meta::resource_version(&quota).parse().map_err(ApiError::internal)?;
    meta::remove(&mut quota, "resourceVersion");
    let value = serde_json::to_vec(&quota).map_err(ApiError::internal)?;
    Ok(Some(Charge { key, revision, value }))
}

fn too_much(
    attempt: &Attempt<'_>,
    object: &Value,
    quota: &Value,
    added: &Usage,
    exceeded: &[&String],
) -> ApiError {
    let shown = |of: &dyn Fn(&str) -> String| {
        let parts: Vec<String> =
            exceeded.iter().map(|name| format!("{name}={}", of(name))).collect();
        parts.join(",")
    };
    let text = |field: &str, name: &str| {
        quota["status"][field][name].as_str().unwrap_or_default().to_owned()
    };
    let why = format!(
        "exceeded quota: {}, requested: {}, used: {}, limited: {}",
        meta::name(quota),
        shown(&|name| added.get(name).map(Quantity::to_string).unwrap_or_default()),
        shown(&|name| text("used", name)),
        shown(&|name| text("hard", name)),
    );
    attempt.forbid(object, &why)
}
