//! Expectations are what kustomize 5.8.1 prints.

use flumen_schema::Schema;
use flumen_yaml::{Budget, Node, Text, emit, read_lenient, read_resource};

use super::{Outcome, Rules, strategic_merge_with};
use crate::Hints;

const POD: &str = "apiVersion: v1\nkind: Pod\n";

fn read(text: &str) -> Node {
    let node = read_resource(&Text::from(text), 1, &Budget::default());
    node.expect("valid YAML").expect("a document")
}

/// Merges two pods and prints what is left, or the error.
fn merged(target: &str, patch: &str) -> String {
    let (target, patch) = (format!("{POD}{target}"), format!("{POD}{patch}"));
    let mut object = read(&target);
    let patch = Text::from(patch);
    let changes = read_lenient(&patch, 1, &Budget::default()).expect("valid YAML");
    let changes = changes.expect("a document");
    let rules = Rules {
        schema: &Schema::builtin(),
        target_hints: &Hints::of_target(&target, 1),
        patch_hints: &Hints::of_patch(&patch, 1, [&changes]),
    };
    match strategic_merge_with(&mut object, &changes, rules) {
        Ok(Outcome::Deleted) => "deleted".to_owned(),
        Ok(Outcome::Kept) => {
            let mut out = Vec::new();
            emit(&object, &mut out).expect("printable");
            let out = String::from_utf8(out).expect("UTF-8");
            out.strip_prefix(POD).expect("still a pod").to_owned()
        }
        Err(error) => format!("{} at {:?}", error, error.pos()),
    }
}

/// `target`, `patch` and the result are the fields of a pod; the result in any style.
#[track_caller]
fn check(target: &str, patch: &str, expected: &str) {
    let found = merged(target, patch);
    let mut printed = Vec::new();
    emit(&read(expected), &mut printed).expect("printable");
    assert_eq!(found, String::from_utf8(printed).expect("UTF-8"), "{target}\n{patch}");
}

#[track_caller]
fn check_text(target: &str, patch: &str, expected: &str) {
    assert_eq!(merged(target, patch), expected, "{target}\n{patch}");
}

#[test]
fn mappings_merge_field_by_field() {
    check("spec: {a: 1, b: {c: 1}}", "spec: {b: {d: 2}}", "spec: {a: 1, b: {c: 1, d: 2}}");
    check("spec: {a: 1}", "spec: {a: null, b: null}", "spec: {}");
    check("spec: {a: {b: 1}}", "spec: {a: {}}", "spec: {a: {b: 1}}");
    check("spec: {a: null}", "spec: {a: {b: 1}}", "spec: {a: {b: 1}}");
    check("spec: {}", "spec: {a: {b: null, c: {}}}", "spec: {a: {c: {}}}");
}

#[test]
fn a_key_without_value_goes_and_an_explicit_null_stays() {
    check(
        "spec:\n  a:\n  b: null\n  c: ~\n  d: {e: , f: 1}",
        "x: 1",
        "spec: {b: null, c: null, d: {f: 1}}\nx: 1",
    );
    check("spec:\n  a: 1\n  b:", "spec: {a: 2}", "spec: {a: 2}");
}

#[test]
fn scalars_keep_the_style_of_what_they_replace() {
    check(
        "spec: {a: \"x\", b: 'y', c: z}",
        "spec: {a: 5, b: true, c: 5}",
        "spec: {a: \"5\", b: \"true\", c: 5}",
    );
    check("spec:\n  a: |-\n    x\n  b: 5", "spec: {a: 5, b: \"7\"}", "spec: {a: \"5\", b: \"7\"}");
    check("spec: {a: null, b: }", "spec: {a: 5, b: 5}", "spec: {a: 5, b: 5}");
}

#[test]
fn lists_without_merge_keys_are_replaced_as_they_are() {
    check(
        "spec: {tolerations: [{key: a}]}",
        "spec: {tolerations: [{key: b, x: null}]}",
        "spec: {tolerations: [{key: b, x: null}]}",
    );
    check(
        "spec: {x: [{name: a}]}",
        "spec: {x: [{name: b}, {$patch: replace}]}",
        "spec: {x: [{name: b}, {$patch: replace}]}",
    );
    check("spec: {x: [1]}", "spec: {x: null}", "spec: {}");
}

#[test]
fn elements_of_the_patch_come_first() {
    check(
        "spec: {containers: [{name: a, image: x}, {name: b}]}",
        "spec: {containers: [{name: c}, {name: b, image: y}]}",
        "spec: {containers: [{name: c}, {name: b, image: y}, {name: a, image: x}]}",
    );
    check(
        "spec: {containers: [{name: a}]}",
        "spec: {containers: []}",
        "spec: {containers: [{name: a}]}",
    );
}

#[test]
fn lists_of_scalars_are_joined() {
    check(
        "metadata: {finalizers: [b, c, 5]}",
        "metadata: {finalizers: [a, b, \"5\"]}",
        "metadata: {finalizers: [a, b, 5, c]}",
    );
    check("metadata: {finalizers: [a, null, a]}", "x: 1", "metadata: {finalizers: [a]}\nx: 1");
}

#[test]
fn ports_merge_by_number_and_protocol() {
    let ports = |ports: &str| format!("spec: {{containers: [{{name: a, ports: [{ports}]}}]}}");
    for (target, patch, expected) in [
        (
            "{containerPort: 80}, {containerPort: 81}",
            "{containerPort: 81, name: q}",
            "{containerPort: 81, name: q}, {containerPort: 80}",
        ),
        // Known by two keys, elements of the target stay behind those of the patch in their order.
        (
            "{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}",
            "{containerPort: 80, protocol: UDP, name: q}",
            "{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP, name: q}",
        ),
        // A port that lacks the protocol is the same port, but its changes are lost.
        (
            "{containerPort: 80, protocol: TCP}, {containerPort: 81}",
            "{containerPort: 80, name: q}",
            "{containerPort: 80, protocol: TCP}, {containerPort: 81}",
        ),
        (
            "{containerPort: 80}",
            "{containerPort: 80, protocol: TCP, name: q}",
            "{containerPort: 80}",
        ),
        (
            "{containerPort: 80, protocol: TCP}",
            "{containerPort: 82, name: q}",
            "{containerPort: 82, name: q}, {containerPort: 80, protocol: TCP}",
        ),
    ] {
        check(&ports(target), &ports(patch), &ports(expected));
    }
}

#[test]
fn directives_of_mappings() {
    check("spec: {a: {b: 1, c: 2}}", "spec: {a: {$patch: replace, d: 1}}", "spec: {a: {d: 1}}");
    check("spec: {a: {b: 1, c: 2}}", "spec: {a: {$patch: delete}}", "spec: {}");
    check("spec: {a: {b: 1}}", "spec: {a: {$patch: merge, c: 1}}", "spec: {a: {b: 1, c: 1}}");
    check("spec: {}", "spec: {a: {$patch: delete, b: 1}}", "spec: {}");
    check(
        "spec: {}",
        "spec: {a: {b: {$patch: delete}, c: {$patch: merge, d: 1}}}",
        "spec: {a: {c: {d: 1}}}",
    );
    check_text("spec: {a: 1}", "$patch: delete", "deleted");
    check("spec: {a: 1}", "$patch: replace\nspec: {b: 1}", "spec: {a: 1}");
}

#[test]
fn directives_of_lists_and_elements() {
    let target = "spec: {containers: [{name: a, image: x}, {name: b}]}";
    for (patch, expected) in [
        ("{$patch: replace}, {name: c}", "spec: {containers: [{name: c}]}"),
        ("{$patch: delete}", "spec: {}"),
        (
            "{$patch: merge}, {name: c}",
            "spec: {containers: [{name: c}, {name: a, image: x}, {name: b}]}",
        ),
        ("{name: a, $patch: delete}", "spec: {containers: [{name: b}]}"),
        ("{name: z, $patch: delete}", target),
        (
            "{name: b, $patch: replace, tty: true}",
            "spec: {containers: [{name: b}, {name: a, image: x}]}",
        ),
        (
            "{name: c, $patch: replace, tty: true}",
            "spec: {containers: [{name: c, tty: true}, {name: a, image: x}, {name: b}]}",
        ),
    ] {
        check(target, &format!("spec: {{containers: [{patch}]}}"), expected);
    }
    // The directive of a list that is new is an element without a key, which costs the others.
    check(
        "spec: {}",
        "spec: {containers: [{$patch: replace}, {name: c}]}",
        "spec: {containers: [{$patch: replace}]}",
    );
}

#[test]
fn unknown_directives() {
    check_text("spec: {a: {}}", "spec: {a: {$patch: boo}}", "unknown patch strategy 'boo' at 3:20");
    check_text("spec: {}", "spec: {a: {b: {$patch: boo}}}", "unknown patch strategy 'boo' at 3:24");
    check("spec: {}", "spec: {a: {$patch: boo}}", "spec: {a: {$patch: boo}}");
}

#[test]
fn directives_of_the_api_server_are_fields() {
    let patch = "spec: {$setElementOrder/containers: [{name: a}], $retainKeys: [a], $deleteFromPrimitiveList/x: [a]}";
    check("spec: {}", patch, patch);
}

#[test]
fn untouched_lists_lose_duplicates_and_more() {
    check(
        "spec: {containers: [{name: a, image: x}, {name: b}, {name: a, image: y}]}",
        "x: 1",
        "spec: {containers: [{name: a, image: y}, {name: b}]}\nx: 1",
    );
    check(
        "spec: {containers: [{name: a}, {image: x}, {name: b}]}",
        "x: 1",
        "spec: {containers: [{image: x}]}\nx: 1",
    );
    check(
        "spec: {containers: [{image: a}, {image: b}]}",
        "x: 1",
        "spec: {containers: [{image: b}]}\nx: 1",
    );
    check(
        "spec: {containers: [{name: a}, null, {}, {name: b}]}",
        "x: 1",
        "spec: {containers: [{name: a}]}\nx: 1",
    );
    check(
        "spec: {containers: [{name: \"\", image: a}, {name: b}]}",
        "x: 1",
        "spec: {containers: [{name: \"\", image: a}, {name: \"\", image: a}, {name: b}]}\nx: 1",
    );
}

#[test]
fn different_kinds_of_nodes_do_not_merge() {
    let clash = |target: &str, patch: &str, expected: &str| {
        check_text(&format!("spec: {{a: {target}}}"), &format!("spec: {{a: {patch}}}"), expected);
    };
    clash("1", "{b: 1}", "wrong node kind: expected ScalarNode but got MappingNode at 3:11");
    clash("{b: 1}", "[1]", "wrong node kind: expected MappingNode but got SequenceNode at 3:11");
    clash("[1]", "x", "wrong node kind: expected SequenceNode but got ScalarNode at 3:11");
    check_text(
        "spec: {containers: [{name: a}, s]}",
        "x: 1",
        "wrong node kind: expected MappingNode but got ScalarNode at 3:32",
    );
    check_text(
        "metadata: {finalizers: [a]}",
        "metadata: {finalizers: [{b: c}]}",
        "wrong node kind: expected ScalarNode but got MappingNode at 3:25",
    );
}

#[test]
fn objects_inside_objects_merge_by_their_own_kind() {
    check(
        "x: {apiVersion: v1, kind: Pod, spec: {containers: [{name: a}]}}",
        "x: {spec: {containers: [{name: b}]}}",
        "x: {apiVersion: v1, kind: Pod, spec: {containers: [{name: b}, {name: a}]}}",
    );
}

#[test]
fn comments_may_hold_the_schema_of_a_field() {
    let schema = r#"{"type":"array","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"id"}"#;
    let target = format!("spec:\n  x: # {schema}\n  - {{id: 1}}");
    check(&target, "spec: {x: [{id: 2}]}", "spec: {x: [{id: 2}, {id: 1}]}");
    check("spec:\n  x: # no schema\n  - {id: 1}", "spec: {x: [{id: 2}]}", "spec: {x: [{id: 2}]}");
    let marked = "spec:\n  containers: # {\"$imagepolicy\": \"a:b\"}\n  - {name: a}";
    check(marked, "spec: {containers: [{name: b}]}", "spec: {containers: [{name: b}]}");
    let empty = "spec:\n  containers: # {}\n  - {name: a}";
    check(empty, "spec: {containers: [{name: b}]}", "spec: {containers: [{name: b}, {name: a}]}");
    let patch = format!("spec:\n  x: # {schema}\n  - {{id: 2}}");
    check("spec: {x: [{id: 1}]}", &patch, "spec: {x: [{id: 2}, {id: 1}]}");
    let reference = "spec:\n  x: # {\"$ref\": \"#/definitions/io.k8s.api.core.v1.PodSpec\"}\n    containers: [{name: a}]";
    check(
        reference,
        "spec: {x: {containers: [{name: b}]}}",
        "spec: {x: {containers: [{name: b}, {name: a}]}}",
    );
}

#[test]
fn comments_above_an_element_are_its_schema() {
    let target = |comment: &str| {
        format!("spec:\n  containers:\n  {comment}\n  - name: a\n    env:\n    - name: q")
    };
    let patch = "spec: {containers: [{name: a, env: [{name: z}]}]}";
    check(&target("# {\"x\": \"y\"}"), patch, "spec: {containers: [{name: a, env: [{name: z}]}]}");
    let merged = "spec: {containers: [{name: a, env: [{name: z}, {name: q}]}]}";
    check(&target("# {x: y}"), patch, merged);
}

#[test]
fn keys_that_are_no_strings_may_find_but_not_add() {
    check("spec: {'6443': a}", "spec: {6443: b}", "spec: {'6443': b}");
    check("spec: {a: b}", "true: c", "spec: {a: b}\n'true': c");
    let refused = |at: &str| {
        format!("mapping key 9110 has an unsupported type: it is no string, quote it at {at}")
    };
    check_text("spec: {'6443': a}", "spec: {6443: b, 9110: c}", &refused("3:17"));
    check_text("spec: {}", "spec: {x: [{9110: c}]}", &refused("3:13"));
    check_text("spec: {}", "spec: {x: {y: {9110: c}}}", &refused("3:16"));
    check("spec: {}", "spec: {'9110': c}", "spec: {'9110': c}");
}

#[test]
fn long_lists_merge_as_short_ones_do() {
    let list = |range: std::ops::Range<usize>, value: &str| -> String {
        range.map(|n| format!("{{name: e{n}, value: {value}}}")).collect::<Vec<_>>().join(", ")
    };
    let env = |list: &str| format!("spec: {{containers: [{{name: a, env: [{list}]}}]}}");
    check(
        &env(&list(0..3000, "old")),
        &env(&list(2000..4000, "new")),
        &env(&format!("{}, {}", list(2000..4000, "new"), list(0..2000, "old"))),
    );
    let keys = |range: std::ops::Range<usize>, value: &str| -> String {
        let fields = range.map(|n| format!("  k{n}: {value}")).collect::<Vec<_>>().join("\n");
        format!("spec:\n{fields}\n")
    };
    let both = keys(0..1000, "old") + keys(1000..3000, "new").trim_start_matches("spec:\n");
    check(&keys(0..2000, "old"), &keys(1000..3000, "new"), &both);
}
