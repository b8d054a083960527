//! The cases recorded from Flux that some checkouts have beside them.
#![allow(clippy::disallowed_methods, reason = "the corpus is a file")]

use flumen_health::{
    Condition, Health, HealthCheck, HealthExpressions, ReadyExpression, assess, assess_job,
};
use flumen_yaml::Node;
use jiff::Timestamp;
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip(file, "no `../shared` beside the checkout");
        return Vec::new();
    };
    let path = shared.join("corpus/flux").join(file);
    let text = std::fs::read_to_string(path).expect("the corpus has the file");
    let cases: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert!(!cases.is_empty());
    cases
}

fn node(value: &Value) -> Node {
    crate::node(&value.to_string())
}

fn conditions(list: &[Condition]) -> Vec<[&str; 4]> {
    list.iter().map(|it| [&*it.kind, &*it.status, &*it.reason, &*it.message]).collect()
}

fn expected_conditions(case: &Value) -> Vec<[&str; 4]> {
    let Some(list) = case["expect"]["conditions"].as_array() else {
        return Vec::new();
    };
    let fields = ["type", "status", "reason", "message"];
    list.iter().map(|it| fields.map(|field| it[field].as_str().unwrap_or_default())).collect()
}

#[test]
fn objects_are_judged_as_flux_judges_them() {
    for case in cases("kstatus.jsonl") {
        let input = &case["input"];
        let object = node(&input["object"]);
        let now = input["now"].as_str().unwrap_or("2026-01-01T00:00:00Z");
        let now: Timestamp = now.parse().expect("a time");
        let reader = input["reader"].as_str().expect("a reader");
        let health = match reader {
            "kstatus" => assess(&object, now),
            "flux-job" => assess_job(&object, now),
            // Libraries that Flux does not judge by.
            "sigs-kstatus" | "kstatus-augment" => continue,
            other => panic!("no reader {other}"),
        };
        check_health(&case, health);
    }
}

fn check_health(case: &Value, health: Result<Health, flumen_health::Error>) {
    let (id, expect) = (&case["id"], &case["expect"]);
    match (health, expect["error"].as_str()) {
        (Ok(health), None) => {
            assert_eq!(expect["status"], health.status.to_string(), "{id}");
            assert_eq!(expect["message"], health.message, "{id}");
            assert_eq!(conditions(&health.conditions), expected_conditions(case), "{id}");
        }
        (Err(_), Some("*")) => {}
        (Err(error), Some(text)) => assert_eq!(error.to_string(), text, "{id}"),
        (health, error) => panic!("{id}: {health:?}, expected {error:?}"),
    }
}

#[test]
fn expressions_mean_what_they_mean_to_flux() {
    for case in cases("cel.jsonl") {
        let input = &case["input"];
        let answer = match input["readyExpr"].as_str() {
            Some(source) => ready(source, &node(&input["self"]), &node(&input["dep"])),
            None => health(&input["healthCheckExpr"], &node(&input["object"])),
        };
        let (id, expect) = (&case["id"], &case["expect"]);
        match answer {
            Answer::Status(status) => assert_eq!(expect["status"], status, "{id}"),
            Answer::Ready(ready) => assert_eq!(expect["ready"], ready, "{id}"),
            Answer::CompileError(text) => check_text(id, &expect["compileError"], &text),
            Answer::Error(text) => check_text(id, &expect["error"], &text),
        }
    }
}

enum Answer {
    Status(String),
    Ready(bool),
    CompileError(String),
    Error(String),
}

fn check_text(id: &Value, expected: &Value, text: &str) {
    assert!(expected == "*" || expected == text, "{id}: {text}, expected {expected}");
}

fn ready(source: &str, this: &Node, dependency: &Node) -> Answer {
    match ReadyExpression::new(source) {
        Err(error) => Answer::CompileError(error.to_string()),
        Ok(expression) => match expression.is_ready(this, dependency) {
            Ok(ready) => Answer::Ready(ready),
            Err(error) => Answer::Error(error.to_string()),
        },
    }
}

fn health(expressions: &Value, object: &Node) -> Answer {
    let text = |key: &str| expressions[key].as_str().unwrap_or_default().to_owned();
    let check = HealthCheck {
        current: text("current"),
        failed: text("failed"),
        in_progress: text("inProgress"),
        ..HealthCheck::default()
    };
    match HealthExpressions::new(&check) {
        Err(error) => Answer::CompileError(error.to_string()),
        Ok(expressions) => match expressions.assess(object) {
            Ok(health) => Answer::Status(health.status.to_string()),
            Err(error) => Answer::Error(error.to_string()),
        },
    }
}
