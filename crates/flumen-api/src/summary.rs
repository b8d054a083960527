//! One condition that sums up others.

use jiff::Timestamp;

use crate::{Condition, ConditionStatus, Conditions, set_condition};

/// What is summed up, and how.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The condition that is set.
    pub target: &'a str,
    /// The conditions that count; of equally urgent ones the first gives reason and message.
    pub conditions: &'a [&'a str],
    /// Those of them that are bad when they are true.
    pub negative: &'a [&'a str],
}

/// Sets the target from the most urgent of the conditions. Without any of them, nothing is set.
pub fn summarize(object: &mut impl Conditions, summary: Summary<'_>, now: Timestamp) {
    let rank = |condition: &Condition| {
        let negative = summary.negative.contains(&condition.r#type.as_str());
        Urgency::of(condition.status, negative)
    };
    let known = |r#type: &&str| object.conditions().iter().find(|known| known.r#type == *r#type);
    let counted = summary.conditions.iter().filter(|r#type| **r#type != summary.target);
    // `min_by_key` takes the first of equals: the declared order decides.
    let Some(found) = counted.filter_map(known).min_by_key(|condition| rank(condition)).cloned()
    else {
        return;
    };
    let status = match (rank(&found), summary.negative.contains(&summary.target)) {
        (Urgency::Unknown, _) => ConditionStatus::Unknown,
        (Urgency::BadTrue | Urgency::GoodFalse, false)
        | (Urgency::GoodTrue | Urgency::BadFalse, true) => ConditionStatus::False,
        _ => ConditionStatus::True,
    };
    set_condition(object, summary.target, status, &found.reason, &found.message, now);
}

/// How urgent a condition is, the most urgent first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    BadTrue,
    GoodFalse,
    GoodTrue,
    BadFalse,
    Unknown,
}

impl Urgency {
    fn of(status: ConditionStatus, negative: bool) -> Self {
        match (status, negative) {
            (ConditionStatus::True, true) => Self::BadTrue,
            (ConditionStatus::False, false) => Self::GoodFalse,
            (ConditionStatus::True, false) => Self::GoodTrue,
            (ConditionStatus::False, true) => Self::BadFalse,
            (ConditionStatus::Unknown, _) => Self::Unknown,
        }
    }
}
