//! Conditions of a status, and the rules by which they change.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Kind, omitempty::is_default};

/// A kind whose status has conditions.
pub trait Conditions: Kind {
    fn conditions(&self) -> &[Condition];
    fn conditions_mut(&mut self) -> &mut Vec<Condition>;
}

/// Whether the object is as its spec asks.
pub const READY: &str = "Ready";
/// Somebody works on it.
pub const RECONCILING: &str = "Reconciling";
/// Nobody will work on it until its spec changes.
pub const STALLED: &str = "Stalled";

/// The conditions that come first, in this order.
const FIRST: [&str; 3] = [STALLED, RECONCILING, READY];

/// The longest message that a server takes.
const LONGEST_MESSAGE: usize = 32_768;
const CUT: &str = "...";

/// One aspect of the state of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Which aspect, such as `Ready`.
    #[cfg_attr(
        feature = "schema",
        schemars(
            length(max = 316),
            regex(
                pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
            )
        )
    )]
    pub r#type: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// The generation of the object that this is said of.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub observed_generation: i64,
    /// When status, reason or message changed last.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::DateTime"))]
    pub last_transition_time: Timestamp,
    /// Why, for programs.
    #[cfg_attr(
        feature = "schema",
        schemars(
            length(min = 1, max = 1024),
            regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
        )
    )]
    pub reason: String,
    /// Why, for people.
    #[cfg_attr(feature = "schema", schemars(length(max = 32_768)))]
    pub message: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

/// The condition of this type, if the object has it.
pub fn condition<'a>(object: &'a impl Conditions, r#type: &str) -> Option<&'a Condition> {
    object.conditions().iter().find(|condition| condition.r#type == r#type)
}

fn is_true(object: &impl Conditions, r#type: &str) -> bool {
    condition(object, r#type).is_some_and(|found| found.status == ConditionStatus::True)
}

/// Whether the object is ready, and nobody works on it or has given up.
pub fn is_ready(object: &impl Conditions) -> bool {
    is_true(object, READY) && !is_stalled(object) && !is_reconciling(object)
}

pub fn is_reconciling(object: &impl Conditions) -> bool {
    is_true(object, RECONCILING)
}

pub fn is_stalled(object: &impl Conditions) -> bool {
    is_true(object, STALLED)
}

/// Sets a condition for the present generation of the object. Its time stays as it was unless what it says changed.
pub fn set_condition(
    object: &mut impl Conditions,
    r#type: &str,
    status: ConditionStatus,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let mut condition = Condition {
        r#type: r#type.to_owned(),
        status,
        observed_generation: object.metadata().generation,
        last_transition_time: whole_seconds(now),
        reason: reason.to_owned(),
        message: cut(message),
    };
    let conditions = object.conditions_mut();
    match conditions.iter_mut().find(|known| known.r#type == condition.r#type) {
        Some(known) => {
            if says_the_same(known, &condition) {
                condition.last_transition_time = known.last_transition_time;
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
    conditions.sort_by(|a, b| order(a).cmp(&order(b)));
}

/// Says that somebody works on the object, and that it is therefore not stalled.
pub fn mark_reconciling(object: &mut impl Conditions, reason: &str, message: &str, now: Timestamp) {
    delete_condition(object, STALLED);
    set_condition(object, RECONCILING, ConditionStatus::True, reason, message, now);
}

/// Says that nobody works on the object until its spec changes.
pub fn mark_stalled(object: &mut impl Conditions, reason: &str, message: &str, now: Timestamp) {
    delete_condition(object, RECONCILING);
    set_condition(object, STALLED, ConditionStatus::True, reason, message, now);
}

pub fn delete_condition(object: &mut impl Conditions, r#type: &str) {
    object.conditions_mut().retain(|condition| condition.r#type != r#type);
}

fn says_the_same(a: &Condition, b: &Condition) -> bool {
    (a.status, &a.reason, &a.message) == (b.status, &b.reason, &b.message)
}

/// The first ones by rank; others by how new they are, then by name.
fn order(condition: &Condition) -> (usize, Reverse<i64>, &str) {
    match FIRST.iter().position(|first| *first == condition.r#type) {
        Some(rank) => (rank, Reverse(0), ""),
        None => (FIRST.len(), Reverse(condition.observed_generation), &condition.r#type),
    }
}

/// A message that a server takes.
fn cut(message: &str) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(LONGEST_MESSAGE - CUT.len());
    format!("{}{CUT}", &message[..end])
}

/// Times in a status have no fractions.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
