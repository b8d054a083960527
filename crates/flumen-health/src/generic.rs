//! The rules for every object, and the order in which all rules are asked.

use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{
    Error, Health, Status,
    facts::Facts,
    fields::{checked_int, checked_text},
    kinds,
};

/// How healthy an object is by itself.
pub fn assess(object: &Node, now: Timestamp) -> Result<Health, Error> {
    let deleted = checked_text(object, &["metadata", "deletionTimestamp"])?;
    if deleted.is_some_and(|time| !time.is_empty()) {
        return Ok(Health::bare(Status::Terminating, "Resource scheduled for deletion"));
    }
    let gvk = Gvk::of(object);
    if let Some(health) = generation(object, &gvk.kind)? {
        return Ok(health);
    }
    let facts = Facts::of(object, now)?;
    if let Some(health) = standard_conditions(&facts) {
        return Ok(health);
    }
    Ok(kinds::judge(&gvk, &facts)?
        .or_else(|| ready_condition(&facts))
        .unwrap_or_else(|| Health::current("Resource is current")))
}

/// A controller has not yet seen what the object says now.
fn generation(object: &Node, kind: &str) -> Result<Option<Health>, Error> {
    let Some(generation) = checked_int(object, &["metadata", "generation"])? else {
        return Ok(None);
    };
    let observed = checked_int(object, &["status", "observedGeneration"])?;
    Ok(observed.filter(|&observed| observed != generation).map(|observed| {
        let message = format!(
            "{kind} generation is {generation}, but latest observed generation is {observed}"
        );
        Health::in_progress("LatestGenerationNotObserved", message)
    }))
}

fn standard_conditions(facts: &Facts<'_>) -> Option<Health> {
    facts.conditions.iter().find_map(|condition| {
        let verdict = match condition.kind.as_str() {
            _ if condition.status != "True" => return None,
            "Reconciling" => Health::in_progress,
            "Stalled" => Health::failed,
            _ => return None,
        };
        Some(verdict(&condition.reason, condition.message.clone()))
    })
}

/// Kinds without a rule of their own; that `Ready` is false is never final.
fn ready_condition(facts: &Facts<'_>) -> Option<Health> {
    let ready = facts.conditions.iter().filter(|condition| condition.kind == "Ready");
    ready.into_iter().find_map(|condition| match condition.status.as_str() {
        "True" => Some(Health::current("Resource is Ready")),
        "False" | "Unknown" => {
            Some(Health::in_progress(&condition.reason, condition.message.clone()))
        }
        _ => None,
    })
}
