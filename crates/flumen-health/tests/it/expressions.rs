//! What expressions mean: values, failures and mistakes in the words that people know.

use flumen_health::{HealthCheck, HealthExpressions, ReadyExpression, Status};

use crate::node;

const OBJECT: &str = "
metadata: {name: w, generation: 2, labels: {tier: db}}
spec: {replicas: 3, ratio: 1.5, text: 'Hello, World', list: [1, 2, 3], none: null, on: true,
  time: '2025-01-02T03:04:05Z', map: {a: 1, b: 2}, words: [a, b]}
status: {phase: Running, conditions: [
  {type: Ready, status: 'True'}, {type: Synced, status: 'False'}]}
";

fn evaluate(source: &str) -> String {
    let check = HealthCheck { current: source.to_owned(), ..HealthCheck::default() };
    let expressions = match HealthExpressions::new(&check) {
        Ok(expressions) => expressions,
        Err(error) => {
            return error.to_string().replace("failed to parse the expression Current: ", "");
        }
    };
    match expressions.assess(&node(OBJECT)) {
        Ok(health) => (health.status == Status::Current).to_string(),
        Err(error) => {
            let prefix = format!("failed to evaluate the CEL expression '{source}': ");
            error.to_string().replace(&prefix, "")
        }
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(evaluate(source), *expected, "{source}");
    }
}

#[track_caller]
fn all_true(sources: &[&str]) {
    for source in sources {
        assert_eq!(evaluate(source), "true", "{source}");
    }
}

#[test]
fn fields_and_elements() {
    all_true(&[
        "spec.replicas == 3",
        "metadata.labels['tier'] == \"db\"",
        "spec.list[0] == 1 && spec.list[2u] == 3 && spec.list[1.0] == 2",
        "has(spec.none) && !has(spec.missing) && !has(spec.text.x)",
        "spec.none == null",
        "{'a': 1}.a == 1 && {1: 'x'}[1] == 'x'",
    ]);
    check(&[
        ("spec.missing", "no such key: missing"),
        ("spec.text.x", "no such key: x"),
        ("spec.list[7] == 1", "index out of bounds: 7"),
        ("spec.list.x == 1", "unsupported index type 'string' in list"),
        ("nothing.x['y'].z == 1", "no such attribute(s): nothing.x.y.z"),
        ("nothing[0].x == 1", "no such attribute(s): nothing"),
        ("has(nothing.x)", "no such attribute(s): nothing.x"),
        ("size(nothing).x", "no such attribute(s): nothing"),
        ("spec.text", "failed to evaluate CEL expression as boolean: 'spec.text'"),
    ]);
}

#[test]
fn numbers_compare_across_their_types() {
    all_true(&[
        "spec.ratio > 1 && 1 == 1.0 && 1u == 1 && -1 < 1u",
        "9223372036854775807 < 9223372036854775808.0",
        "spec.list == [1.0, 2u, 3]",
        "1 != '1' && 5 / 2 == 2 && -5 % 3 == -2",
        "int('42') == 42 && double(1) == 1.0 && string(1.5) == '1.5' && string(1000000.0) == '1e+06'",
    ]);
    check(&[
        ("1 + 1.0 == 2.0", "no such overload"),
        ("9223372036854775807 + 1 == 0", "integer overflow"),
        ("3u - 5u == 0u", "unsigned integer overflow"),
        ("1 / 0 == 0", "division by zero"),
        ("1 % 0 == 0", "modulus by zero"),
        ("spec.list < 1", "no such overload: _<_"),
        ("int(spec.text) == 1", "type conversion error from 'string' to 'int'"),
    ]);
}

#[test]
fn logic_forgives_the_side_that_does_not_matter() {
    all_true(&[
        "spec.missing || spec.on",
        "!(spec.missing && false)",
        "spec.on ? true : spec.missing",
    ]);
    check(&[
        ("spec.missing && spec.on", "no such key: missing"),
        ("spec.text && spec.on", "no such overload"),
        ("spec.text ? true : false", "no such overload"),
        ("!spec.text", "no such overload"),
    ]);
}

#[test]
fn lists_and_mappings_are_walked_in_their_order() {
    all_true(&[
        "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
        "status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')",
        "spec.list.map(e, e * 2) == [2, 4, 6] && spec.list.map(e, e > 1, e) == [2, 3]",
        "spec.list.exists_one(e, e == 2) && !spec.list.exists_one(e, e > 1)",
        "spec.map.map(k, k) == ['a', 'b'] && spec.map.all(k, spec.map[k] > 0)",
        "spec.list.map(e, spec.list.filter(f, f < e)).size() == 3",
        "2 in spec.list && 'a' in spec.map && !('z' in spec.map)",
        "spec.list + [4] == [1, 2, 3, 4]",
        "[].all(e, e.missing)",
    ]);
    check(&[
        ("status.conditions.exists(c, c.kind == 'x')", "no such key: kind"),
        ("status.conditions.exists(c, c.kind == 'x' || c.type == 'Ready')", "true"),
        ("status.conditions.all(c, c.kind == 'x' || c.type == 'none')", "no such key: kind"),
        ("spec.text.all(e, true)", "got 'types.String', expected iterable type"),
        ("1 in spec.text", "no such overload"),
    ]);
}

#[test]
fn optional_values() {
    all_true(&[
        "status.?phase.orValue('none') == 'Running' && status.?missing.orValue(1) == 1",
        "metadata.labels[?'zone'].orValue('none') == 'none' && spec.list[?9].orValue(0) == 0",
        "status.?missing.deeper.orValue(1) == 1 && !status.?missing.hasValue()",
        "optional.none().or(optional.of(3)).value() == 3",
        "optional.of(1).orValue(spec.missing) == 1",
        "spec.?map.optMap(m, m.a + 1).value() == 2",
        "spec.?map.optFlatMap(m, m.?z).orValue(7) == 7",
        "[?status.?missing, 1] == [1] && {?'a': status.?missing} == {}",
        "!optional.ofNonZeroValue('').hasValue()",
    ]);
    check(&[("status.?missing.value() == 1", "optional.none() dereference")]);
}

#[test]
fn text() {
    all_true(&[
        "spec.text.startsWith('Hello') && spec.text.endsWith('World') && spec.text.contains(', ')",
        "spec.text.lowerAscii() == 'hello, world' && 'ü'.size() == 1",
        "spec.text.split(', ') == ['Hello', 'World'] && 'abc'.split('', 2) == ['a', 'bc']",
        "spec.text.substring(7) == 'World' && spec.text.substring(0, 5) == 'Hello'",
        "spec.text.indexOf('o') == 4 && spec.text.lastIndexOf('o') == 8 && 'üo'.indexOf('o') == 1",
        "spec.text.replace('l', 'L', 1) == 'HeLlo, World' && spec.text.charAt(1) == 'e'",
        "spec.words.join('-') == 'a-b' && ' a '.trim() == 'a' && 'ab'.reverse() == 'ba'",
        "spec.text.matches('^H.*d$') && !spec.text.matches('^h')",
        "strings.quote('a\"b') == '\"a\\\\\"b\"'",
        "string(base64.decode('aGk=')) == 'hi' && base64.encode(b'hi') == 'aGk='",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1]) && !sets.intersects([1], [2])",
    ]);
    check(&[
        ("spec.text.substring(5, 2) == ''", "invalid substring range. start: 5, end: 2"),
        ("spec.text.charAt(99) == ''", "index out of range: 99"),
        ("spec.replicas.lowerAscii() == ''", "no such overload: lowerAscii(int)"),
        ("base64.decode('!') == b''", "illegal base64 data at input byte 0"),
        ("quantity('1') == 1", "no such overload"),
        ("spec.list.sort() == []", "no such overload: sort"),
    ]);
}

#[test]
fn values_in_a_text() {
    all_true(&[
        "'%s is %d%%'.format(['a', 1]) == 'a is 1%'",
        "'%s %s'.format([spec.list, {'b': null, 'a': 1.0}]) == '[1, 2, 3] {a: 1, b: null}'",
        "'%.2f %.1f %e'.format([1.5, 2, 0.00012]) == '1.50 2.0 1.200000e-04'",
        "'%x %X %o %b %b'.format([-255, 'hi', 8, 5, true]) == '-ff 6869 10 101 1'",
    ]);
    check(&[
        ("'%s'.format([]) == ''", "index 0 out of range"),
        ("'%'.format([1]) == ''", "unexpected end of string"),
        (
            "'%z'.format([1]) == ''",
            "could not parse formatting clause: unrecognized formatting clause \"z\"",
        ),
        (
            "'%d'.format(['a']) == ''",
            "error during formatting: decimal clause can only be used on ints, uints, and doubles, \
             was given string",
        ),
        ("'%s'.format(1) == ''", "no such overload: format(string, int)"),
    ]);
}

#[test]
fn times() {
    all_true(&[
        "timestamp(spec.time) < timestamp('2026-01-01T00:00:00Z')",
        "timestamp(spec.time) + duration('1h30m') == timestamp('2025-01-02T04:34:05Z')",
        "timestamp(spec.time).getHours() == 3 && timestamp(spec.time).getHours('+02:00') == 5",
        "timestamp(spec.time).getDayOfWeek() == 4 && timestamp(spec.time).getMonth() == 0",
        "duration('90m').getHours() == 1 && string(duration('1.5s')) == '1.5s'",
        "duration('-1.5h') < duration('0') && type(duration('1s')) == google.protobuf.Duration",
    ]);
    check(&[
        (
            "timestamp(spec.text) == timestamp(spec.time)",
            "type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
        ("timestamp(spec.time).getHours('Mars') == 1", "unknown time zone Mars"),
    ]);
}

#[test]
fn mistakes_are_found_before_an_object_is() {
    let expecting = "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, \
                     NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    let unfinished = format!(
        "failed to parse the CEL expression 'status.x ==': ERROR: <input>:1:12: Syntax error: \
         mismatched input '<EOF>' {expecting}\n | status.x ==\n | ...........^"
    );
    check(&[
        ("status.x ==", &unfinished),
        (
            "has(status)",
            "failed to parse the CEL expression 'has(status)': ERROR: <input>:1:5: \
             invalid argument to has() macro\n | has(status)\n | ....^",
        ),
        (
            "true && if",
            "failed to parse the CEL expression 'true && if': ERROR: <input>:1:9: \
             reserved identifier: if\n | true && if\n | ........^",
        ),
        (
            "duration('soon') == spec.x",
            "failed to create CEL program: type conversion error from 'string' to \
             'google.protobuf.Duration'",
        ),
    ]);
}

#[test]
fn questions_are_asked_in_order() {
    let check = HealthCheck {
        current: "true".to_owned(),
        failed: "status.phase == 'Broken'".to_owned(),
        in_progress: "status.phase == 'Busy'".to_owned(),
        ..HealthCheck::default()
    };
    let expressions = HealthExpressions::new(&check).expect("expressions");
    for (object, expected) in [
        ("status: {phase: Busy}", Status::InProgress),
        ("status: {phase: Broken}", Status::Failed),
        ("status: {phase: Done}", Status::Current),
        (
            "{metadata: {generation: 2}, status: {observedGeneration: 1, phase: Done}}",
            Status::InProgress,
        ),
    ] {
        assert_eq!(
            expressions.assess(&node(object)).expect("a verdict").status,
            expected,
            "{object}"
        );
    }
}

fn ready(source: &str) -> String {
    let this = node("{metadata: {labels: {version: '1'}}, spec: {wave: 2}}");
    let dependency = node("{metadata: {labels: {version: '1'}}, status: {wave: 1}}");
    match ReadyExpression::new(source) {
        Err(error) => error.to_string(),
        Ok(expression) => match expression.is_ready(&this, &dependency) {
            Ok(ready) => ready.to_string(),
            Err(error) => error.to_string(),
        },
    }
}

#[test]
fn readiness_is_a_question_by_its_type() {
    let mismatch = "CEL expression output type mismatch: expected bool, got";
    for (source, expected) in [
        ("dep.metadata.labels['version'] == self.metadata.labels['version']", "true"),
        ("dep.status.wave >= self.spec.wave", "false"),
        ("has(dep.status.missing)", "false"),
        ("dep.status.?list.orValue([]).all(e, e.ok)", "true"),
        (
            "dep.status.x == 1",
            "failed to evaluate the CEL expression 'dep.status.x == 1': no such key: x",
        ),
        ("dep.status.ok", &format!("{mismatch} dyn")),
        ("self", &format!("{mismatch} map(string, dyn)")),
        ("self.spec.list.map(e, e + 1)", &format!("{mismatch} list(int)")),
        ("timestamp(self.x)", &format!("{mismatch} google.protobuf.Timestamp")),
    ] {
        assert_eq!(ready(source), expected, "{source}");
    }
}

#[test]
fn mistakes_in_types_are_pointed_at() {
    let at = |place: &str, message: &str| format!("ERROR: <input>:{place}: {message}");
    let overload = |name: &str, args: &str| {
        format!("found no matching overload for '{name}' applied to '{args}'")
    };
    for (source, expected) in [
        ("other == 1", at("1:1", "undeclared reference to 'other' (in container '')")),
        ("self.x == 1 &&\n nope", at("2:2", "undeclared reference to 'nope' (in container '')")),
        ("self.x.foo(1)", at("1:11", "undeclared reference to 'foo' (in container '')")),
        ("1 == 'a'", at("1:3", &overload("_==_", "(int, string)"))),
        ("-'a' == 1", at("1:1", &overload("-_", "(string)"))),
        ("'a'.startsWith(1)", at("1:15", &overload("startsWith", "string.(int)"))),
        ("self.list.all(e, 1)", at("1:18", "expected type 'bool' but found 'int'")),
        (
            "self.l.filter(e, 1) == []",
            at("1:14", &overload("_?_:_", "(int, list(dyn), list(dyn))")),
        ),
        ("[1, self.x] == [1]", at("1:9", "expected type 'int' but found 'dyn'")),
        ("has([1].a)", at("1:4", "type 'list(int)' does not support field selection")),
        (
            "'abc'.all(e, true)",
            at(
                "1:1",
                "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
            ),
        ),
    ] {
        let error = ready(source);
        let (_, issue) = error.split_once("': ").expect("an issue");
        assert_eq!(issue.lines().next(), Some(expected.as_str()), "{source}");
    }
}
