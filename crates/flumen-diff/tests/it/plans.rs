//! Plans as they are written, packed and judged.

use std::io::Write as _;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use flate2::{Compression, write::GzEncoder};
use flumen_diff::{Change, ChangeType, PlanDocument, PlanError, PlanOperation};
use flumen_yaml::{Node, to_json};

use crate::{corpus, node};

fn check_noop(case: &Node) {
    let text = match case.get("planText").and_then(Node::as_str) {
        Some(text) => text.to_owned(),
        None => to_json(case.get("plan").expect("a plan")).expect("JSON"),
    };
    let is = |key: &str| case.get(key).and_then(Node::as_str) == Some("true");
    match PlanDocument::from_json(&text) {
        Ok(plan) => assert_eq!(plan.is_noop(), is("noop"), "{text}"),
        Err(error) => assert!(is("error"), "{text}: {error}"),
    }
}

const OWN_CASES: &str = r"
- {plan: {}, noop: true}
- {plan: {k8s_content_diff: null}, noop: true}
- {plan: {op: delete, k8s_content_diff: []}, noop: true}
- {plan: {k8s_content_diff: [{type: 0, entries: null}, {name: a}]}, noop: true}
- {plan: {k8s_content_diff: [{type: 0}, {type: 1}]}, noop: false}
- {plan: {k8s_content_diff: [{type: 2}]}, noop: false}
- {plan: {k8s_content_diff: [{type: 3, changes: {a: b}}]}, noop: false}
- {plan: {k8s_content_diff: [{type: 4, error: x}]}, noop: false}
- {plan: {k8s_content_diff: [{type: 5}]}, error: true}
- {plan: {k8s_content_diff: {}}, error: true}
- {plan: {op: destroy}, error: true}
- {planText: '', error: true}
";

#[test]
fn acceptance_43_no_op_plans_are_known() {
    let own = node(OWN_CASES).as_seq().cloned().expect("cases");
    own.iter().chain(&corpus("noop-plans.yaml")).for_each(check_noop);
}

fn plan(op: PlanOperation) -> PlanDocument {
    let change =
        Change { name: "a".to_owned(), change_type: ChangeType::Modified, ..Change::default() };
    let candidates =
        [node("{kind: ConfigMap, data: {a: b}}"), node("{kind: Secret, stringData: {a: canary}}")];
    PlanDocument::new(op, vec![change], &candidates).expect("a plan")
}

#[test]
fn plans_hold_the_changes_as_text_and_the_objects_as_yaml() {
    let apply = plan(PlanOperation::Apply);
    assert_eq!(
        apply.dry_run_output,
        "data:\n  a: b\nkind: ConfigMap\n---\nkind: Secret\nstringData:\n  a: '***'\n"
    );
    let start = "{\n  \"k8s_content_diff\": [\n    {\n      \"_version\": ";
    assert!(apply.plan.starts_with(start), "{}", apply.plan);
    let delete = plan(PlanOperation::Delete);
    assert!(delete.plan.starts_with("{\n  \"diff\": ["), "{}", delete.plan);
    let json = delete.to_json().expect("JSON");
    assert!(json.starts_with(r#"{"op":"delete","plan":"#), "{json}");
    assert_eq!(PlanDocument::from_json(&json).expect("a plan"), delete);
}

#[test]
fn packed_plans_are_read_in_every_spelling_of_base64() {
    let plan = plan(PlanOperation::Apply);
    let packed = plan.pack().expect("packs");
    assert_eq!(packed, plan.pack().expect("packs"), "the same plan packs to the same text");
    let bytes = URL_SAFE.decode(&packed).expect("URL-safe base64");
    assert_eq!(bytes[..2], [0x1f, 0x8b], "gzip");
    for text in [
        packed,
        URL_SAFE_NO_PAD.encode(&bytes),
        STANDARD.encode(&bytes),
        STANDARD_NO_PAD.encode(&bytes) + "\n",
    ] {
        assert_eq!(PlanDocument::unpack(&text).expect("a plan"), plan, "{text}");
    }
}

#[test]
fn what_is_no_packed_plan_is_refused() {
    let gzip = |content: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).expect("memory");
        encoder.finish().expect("memory")
    };
    let unpack = |bytes: &[u8]| PlanDocument::unpack(&URL_SAFE.encode(bytes));
    assert!(matches!(PlanDocument::unpack("not base64!"), Err(PlanError::Base64)));
    assert!(matches!(unpack(b"not gzip"), Err(PlanError::Gzip(_))));
    assert!(matches!(unpack(&gzip(b"not JSON")), Err(PlanError::Json(_))));
    let whole = gzip(b"{}");
    assert!(matches!(unpack(&whole[..whole.len() - 9]), Err(PlanError::Gzip(_))));
}
