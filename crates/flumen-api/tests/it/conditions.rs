//! How conditions change.

use flumen_api::{
    ConditionStatus, Conditions, ExternalArtifact, Metadata, READY, RECONCILING, STALLED,
    condition, delete_condition, is_ready, is_reconciling, is_stalled, mark_reconciling,
    mark_stalled, set_condition,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::corpus::cases;

fn object(generation: i64) -> ExternalArtifact {
    ExternalArtifact {
        metadata: Metadata { generation, ..Metadata::default() },
        ..ExternalArtifact::default()
    }
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn types(object: &ExternalArtifact) -> Vec<&str> {
    object.conditions().iter().map(|condition| condition.r#type.as_str()).collect()
}

/// Does what a case of the corpus asks for.
fn apply(object: &mut ExternalArtifact, op: &Value, now: Timestamp) {
    let text = |key: &str| op[key].as_str().unwrap_or_default();
    let mut set = |status| {
        set_condition(object, text("type"), status, text("reason"), text("message"), now);
    };
    match text("op") {
        "true" => set(ConditionStatus::True),
        "false" => set(ConditionStatus::False),
        "unknown" => set(ConditionStatus::Unknown),
        "reconciling" => mark_reconciling(object, text("reason"), text("message"), now),
        "stalled" => mark_stalled(object, text("reason"), text("message"), now),
        "delete" => delete_condition(object, text("type")),
        "generation" => object.metadata.generation = op["value"].as_i64().expect("a number"),
        other => panic!("unknown operation {other}"),
    }
}

#[test]
fn conditions_are_those_of_the_reference() {
    for case in cases("conditions.jsonl") {
        let ops = case["input"]["ops"].as_array().expect("operations");
        // No condition of our objects sums up others.
        if ops.iter().any(|op| op["op"] == "summary") {
            continue;
        }
        let mut object = object(case["input"]["generation"].as_i64().expect("a number"));
        for op in ops {
            apply(&mut object, op, second(0));
        }
        let mut found = serde_json::to_value(object.conditions()).expect("JSON");
        for condition in found.as_array_mut().expect("a list") {
            condition.as_object_mut().expect("an object").remove("lastTransitionTime");
        }
        let (id, expect) = (&case["id"], &case["expect"]);
        assert_eq!(found, expect["conditions"], "{id}");
        assert_eq!(is_ready(&object), expect["isReady"], "{id}");
        assert_eq!(is_stalled(&object), expect["isStalled"], "{id}");
        assert_eq!(is_reconciling(&object), expect["isReconciling"], "{id}");
    }
}

#[test]
fn the_time_changes_with_what_is_said() {
    let mut object = object(1);
    let mut check = |status, reason, message, now: Timestamp, expected| {
        set_condition(&mut object, READY, status, reason, message, now);
        let found = condition(&object, READY).expect("the condition was set");
        assert_eq!(found.last_transition_time, second(expected));
    };
    let fraction = Timestamp::from_millisecond(1_700).expect("a time");
    check(ConditionStatus::Unknown, "A", "m", fraction, 1);
    check(ConditionStatus::Unknown, "A", "m", second(2), 1);
    check(ConditionStatus::False, "A", "m", second(3), 3);
    check(ConditionStatus::False, "B", "m", second(4), 4);
    check(ConditionStatus::False, "B", "n", second(5), 5);
    check(ConditionStatus::False, "B", "n", second(6), 5);
}

#[test]
fn a_new_generation_is_noted_and_the_time_kept() {
    let mut object = object(1);
    set_condition(&mut object, READY, ConditionStatus::True, "A", "m", second(1));
    object.metadata.generation = 2;
    set_condition(&mut object, READY, ConditionStatus::True, "A", "m", second(9));
    let found = condition(&object, READY).expect("the condition was set");
    assert_eq!((found.observed_generation, found.last_transition_time), (2, second(1)));
}

#[test]
fn the_important_ones_come_first_and_then_the_newest() {
    let mut object = object(1);
    let mut set = |generation, r#type| {
        object.metadata.generation = generation;
        set_condition(&mut object, r#type, ConditionStatus::True, "A", "m", second(0));
    };
    set(1, "Zebra");
    set(1, "Old");
    set(2, "New");
    set(2, "Ape");
    set(1, READY);
    set(1, RECONCILING);
    set(1, STALLED);
    assert_eq!(types(&object), [STALLED, RECONCILING, READY, "Ape", "New", "Old", "Zebra"]);
}

#[test]
fn nothing_is_worked_on_and_stalled_at_once() {
    let mut object = object(1);
    mark_stalled(&mut object, "A", "m", second(0));
    mark_reconciling(&mut object, "A", "m", second(0));
    assert_eq!(types(&object), [RECONCILING]);
    mark_stalled(&mut object, "A", "m", second(0));
    assert_eq!(types(&object), [STALLED]);
}

#[test]
fn a_long_message_is_cut() {
    let message_of = |message: String| {
        let mut object = object(1);
        set_condition(&mut object, READY, ConditionStatus::False, "A", &message, second(0));
        condition(&object, READY).expect("the condition was set").message.clone()
    };
    assert_eq!(message_of("x".repeat(32_768)), "x".repeat(32_768));
    assert_eq!(message_of("x".repeat(32_769)), format!("{}...", "x".repeat(32_765)));
    // Letters of three bytes: 32765 is not a multiple.
    assert_eq!(message_of("€".repeat(11_000)), format!("{}...", "€".repeat(10_921)));
}
