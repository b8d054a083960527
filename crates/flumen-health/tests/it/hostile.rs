//! Expressions that are meant to do harm.

use flumen_health::{EvaluationError, HealthCheck, HealthExpressions, ReadyExpression};
use flumen_yaml::Node;

use crate::node;

/// Half of what a worker of the runtime has.
const STACK: usize = 1024 * 1024;

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("no panic");
}

fn evaluate(source: &str, object: &Node) -> Result<bool, String> {
    let check = HealthCheck { current: source.to_owned(), ..HealthCheck::default() };
    let expressions = HealthExpressions::new(&check).map_err(|error| error.to_string())?;
    match expressions.assess(object) {
        Ok(_) => Ok(true),
        Err(EvaluationError::Failed { problem, .. }) => Err(problem),
        Err(error @ EvaluationError::NotBool { .. }) => Err(error.to_string()),
    }
}

#[test]
fn depth_is_refused_or_survived() {
    on_a_small_stack(|| {
        let object = node("{a: {a: 1}, l: [1]}");
        for size in [45, 60, 290, 400, 20_000] {
            for (open, middle, close) in [
                ("(", "a", ")"),
                ("[", "a", "]"),
                ("{1: ", "a", "}"),
                ("!", "a", ""),
                ("-", "a", ""),
                ("a ? a : ", "a", ""),
                ("f(", "a", ")"),
                ("a.f(", "a", ")"),
                ("l.all(x, ", "true", ")"),
                ("l.map(x, ", "x", ")"),
                ("", "a", ".a"),
                ("", "a", "[0]"),
                ("", "a", ".?a"),
                ("", "1", " + 1"),
                ("", "true", " && true"),
                ("", "'a'", ".trim()"),
                ("(", "", ""),
                ("'", "", ""),
                ("a.", "", ""),
            ] {
                let source = [open.repeat(size).as_str(), middle, &close.repeat(size)].concat();
                // Any answer will do, as long as there is one.
                let _ = evaluate(&source, &object);
                let _ = ReadyExpression::new(&source);
            }
        }
    });
}

#[test]
fn what_is_too_large_is_said_to_be() {
    for (source, expected) in [
        ("x".repeat(20_000), "the expression is longer than 16384 bytes"),
        ("1+".repeat(600) + "1", "the expression has more than 1000 words and signs"),
        ("(".repeat(51), "the expression is nested more than 50 levels deep"),
        ("1+".repeat(400) + "1", "the expression has chains of more than 300 parts"),
    ] {
        let error = ReadyExpression::new(&source).expect_err("too large");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn work_without_end_is_cancelled() {
    let numbers: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let object = node(&format!("{{l: [{}], s: {}}}", numbers.join(","), "a".repeat(10_000)));
    let cancelled = Err("operation cancelled: actual cost limit exceeded".to_owned());
    for source in [
        "l.all(a, l.all(b, l.all(c, l.all(d, true))))",
        "l.map(a, l.map(b, l.map(c, l))).size() == 1",
        // Errors are forgiven on one side of a sign, but not this one.
        "l.all(a, l.all(b, l.all(c, l.all(d, true)))) || true",
        "s.replace('a', s).replace('a', s).size() == 1",
        "l.map(a, s + s).map(b, l.map(c, b + b)).size() == 1",
        "l.all(a, s.matches('(a{1,5}){1,5}b') || true)",
        "l.all(a, l.all(b, l.map(c, l) == l.map(c, l)))",
    ] {
        assert_eq!(evaluate(source, &object), cancelled, "{source}");
    }
    assert_eq!(evaluate("l.map(a, l.filter(b, b < a)).size() == 100", &object), Ok(true));
}

#[test]
fn long_lists_cost_what_they_are_long() {
    let items: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let object = node(&format!("{{l: [{}]}}", items.join(",")));
    assert_eq!(evaluate("l.map(e, e + 1).filter(e, e > 5).size() == 19995", &object), Ok(true));
}
