//! When a job has failed and when it has succeeded.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::format;
use super::report::Report;
use crate::read::Read;

pub(super) fn failure_policy(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let rules = spec.part("podFailurePolicy").list("rules");
    let at = at.child("rules");
    if rules.len() > 20 {
        e.push(FieldError::too_many(&at, rules.len(), 20));
    }
    let pod = spec.part("template").part("spec");
    let names: BTreeSet<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pod.list(list))
        .map(|container| container.text("name"))
        .collect();
    for (n, rule) in rules.iter().enumerate() {
        let at = at.index(n);
        let action = rule.text("action");
        let known = ["Count", "FailIndex", "FailJob", "Ignore"];
        match action {
            "" => {
                let detail = "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]";
                e.required(&at.child("action"), detail);
            }
            "FailIndex" if spec.some("backoffLimitPerIndex").is_none() => {
                let detail = "requires the backoffLimitPerIndex to be set";
                e.invalid(&at.child("action"), action, detail);
            }
            _ => e.one_of(&at.child("action"), action, &known),
        }
        let codes = rule.some("onExitCodes");
        if let Some(codes) = codes {
            exit_codes(e, &at.child("onExitCodes"), codes, &names);
        }
        let conditions = rule.list("onPodConditions");
        pod_conditions(e, &at.child("onPodConditions"), conditions);
        let detail = match (codes.is_some(), !conditions.is_empty()) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        e.push(FieldError::new(FieldErrorKind::Invalid, &at, None, detail));
    }
}

fn pod_conditions(e: &mut Report, at: &Path<'_>, conditions: &[Value]) {
    if conditions.len() > 20 {
        e.push(FieldError::too_many(at, conditions.len(), 20));
    }
    for (n, condition) in conditions.iter().enumerate() {
        let at = at.index(n);
        e.form(&at.child("type"), condition.text("type"), format::qualified_name);
        match condition.text("status") {
            "" => {
                let detail = "valid values: [\"False\" \"True\" \"Unknown\"]";
                e.required(&at.child("status"), detail);
            }
            status => e.one_of(&at.child("status"), status, &["False", "True", "Unknown"]),
        }
    }
}

fn exit_codes(e: &mut Report, at: &Path<'_>, codes: &Value, names: &BTreeSet<&str>) {
    let operator = codes.text("operator");
    match operator {
        "" => e.required(&at.child("operator"), "valid values: [\"In\" \"NotIn\"]"),
        operator => e.one_of(&at.child("operator"), operator, &["In", "NotIn"]),
    }
    if let Some(name) = codes.text_given("containerName").filter(|name| !names.contains(name)) {
        let detail = "must be one of the container or initContainer names in the pod template";
        e.invalid(&at.child("containerName"), name, detail);
    }
    let at = at.child("values");
    let values: Vec<i64> =
        codes.list("values").iter().map(|value| value.as_i64().unwrap_or_default()).collect();
    if values.is_empty() {
        e.invalid(&at, codes.part("values").clone(), "at least one value is required");
    } else if values.len() > 255 {
        e.push(FieldError::too_many(&at, values.len(), 255));
    }
    let mut seen = BTreeSet::new();
    for (n, value) in values.iter().enumerate() {
        if operator == "In" && *value == 0 {
            e.invalid(&at.index(n), *value, "must not be 0 for the In operator");
        }
        if !seen.insert(*value) {
            e.duplicate(&at.index(n), *value);
        }
    }
    if !values.is_sorted() {
        e.invalid(&at, codes.part("values").clone(), "must be ordered");
    }
}

pub(super) fn success_policy(e: &mut Report, at: &Path<'_>, policy: &Value, completions: i64) {
    let at = at.child("rules");
    let rules = policy.list("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        e.required(&at, detail);
    }
    if rules.len() > 20 {
        e.push(FieldError::too_many(&at, rules.len(), 20));
    }
    for (n, rule) in rules.iter().enumerate() {
        let at = at.index(n);
        let (count, indexes) =
            (rule.int_given("succeededCount"), rule.text_given("succeededIndexes"));
        if count.is_none() && indexes.is_none() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            e.required(&at, detail);
        }
        let mut total = 0;
        if let Some(indexes) = indexes {
            let at = at.child("succeededIndexes");
            if indexes.len() > 64 * 1024 {
                e.too_long(&at, 64 * 1024);
            }
            match index_count(indexes, completions) {
                Ok(count) => total = count,
                Err(problem) => {
                    let detail = format!("error parsing succeededIndexes: {problem}");
                    e.invalid(&at, indexes, detail);
                }
            }
        }
        if let Some(count) = count {
            let at = at.child("succeededCount");
            e.not_negative(&at, count);
            if count > completions {
                let detail = format!(
                    "must be less than or equal to {completions} (the number of specified completions)"
                );
                e.invalid(&at, count, detail);
            }
            if indexes.is_some() && count > total {
                let detail = format!(
                    "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
                );
                e.invalid(&at, count, detail);
            }
        }
    }
}

/// How many indexes a text like `1,3-5` names.
fn index_count(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let (mut total, mut last) = (0, None);
    let order =
        |before: i64, now: i64| format!("non-increasing order, previous: {before}, current: {now}");
    for part in text.split(',') {
        let ends: Vec<&str> = part.split('-').collect();
        if ends.len() > 2 {
            return Err(format!(
                "the fragment {part:?} violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        let number = |text: &str| {
            let number: i64 = text
                .parse()
                .map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
            if number >= completions {
                return Err(format!("too large index: {text:?}"));
            }
            Ok(number)
        };
        let start = number(ends[0])?;
        let end = match ends.get(1) {
            None => start,
            Some(end) => {
                let end = number(end)?;
                if start >= end {
                    return Err(order(start, end));
                }
                end
            }
        };
        if let Some(last) = last.filter(|last| *last >= start) {
            return Err(order(last, start));
        }
        total += end - start + 1;
        last = Some(end);
    }
    Ok(total)
}
