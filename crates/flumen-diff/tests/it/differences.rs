//! From a live object and the answer of a dry-run to the lines of a plan.

use flumen_diff::{Change, ChangeSubject, ChangeType, Entry, PlanOperation};
use flumen_object::{Object, ObjectId, Origin};
use flumen_yaml::{Node, emit};

use crate::{corpus, node};

fn id(object: &Node) -> ObjectId {
    Object { node: object.clone(), origin: Origin::default() }.id()
}

fn change(live: Option<&Node>, result: Option<&Node>) -> Change {
    let id = id(live.or(result).expect("one side"));
    Change::between(ChangeSubject { id: &id, resource: "things" }, live, result)
}

/// Path, type and payload of a line.
type Line = (String, u8, Option<String>);

fn lines(entries: &[Entry]) -> Vec<Line> {
    let line =
        |entry: &Entry| (entry.path.clone(), u8::from(entry.change_type), entry.payload.clone());
    entries.iter().map(line).collect()
}

/// A header and one line for each of the YAML of an object.
fn whole(object: &Node, change_type: u8) -> Vec<Line> {
    let mut yaml = Vec::new();
    emit(object, &mut yaml).expect("YAML");
    let yaml = String::from_utf8(yaml).expect("text");
    let lines = yaml.lines().map(|line| (String::new(), change_type, Some(line.to_owned())));
    std::iter::once((String::new(), change_type, None)).chain(lines).collect()
}

fn check(case: &Node) {
    let side = |key: &str| case.get(key).filter(|node| !node.is_null());
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
    let number = |node: &Node| text(node, "type").and_then(|text| text.parse().ok());
    let name = text(case, "name");
    let expected_type: u8 = number(case).expect("a type");
    let expected = match case.get("entries").and_then(Node::as_seq) {
        Some(entries) => entries
            .iter()
            .map(|entry| {
                let path = text(entry, "path").unwrap_or_default();
                (path, number(entry).expect("a type"), text(entry, "payload"))
            })
            .collect(),
        // The words stand for all lines of the object.
        None => whole(side("result").or(side("live")).expect("one side"), expected_type),
    };
    let change = change(side("live"), side("result"));
    assert_eq!(u8::from(change.change_type), expected_type, "{name:?}");
    assert_eq!(lines(&change.entries), expected, "{name:?}");
}

const OWN_CASES: &str = r#"
- name: one of several values
  live: {kind: ConfigMap, metadata: {name: a, labels: {x: "1"}}, data: {a: "1", b: "2"}}
  result: {kind: ConfigMap, metadata: {name: a, labels: {x: "2"}}, data: {a: "1", b: "3"}}
  type: 3
  entries:
  - {path: data.b, type: 1, payload: "2"}
  - {path: data.b, type: 2, payload: "3"}
  - {path: metadata.labels.x, type: 1, payload: "1"}
  - {path: metadata.labels.x, type: 2, payload: "2"}
- name: in a list
  live: {kind: Pod, spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}
  result: {kind: Pod, spec: {containers: [{name: a, image: x}, {name: b, image: z}]}}
  type: 3
  entries:
  - {path: "spec.containers[1].image", type: 1, payload: "y"}
  - {path: "spec.containers[1].image", type: 2, payload: z}
- name: only what the server writes
  live: {kind: A, metadata: {creationTimestamp: x, resourceVersion: "1", generation: 1, namespace: a, uid: b, managedFields: [a]}, status: {a: 1}}
  result: {kind: A, metadata: {creationTimestamp: y, resourceVersion: "2", generation: 2, uid: c, managedFields: [b]}}
  type: 0
  entries: []
- name: new
  live: null
  result: {apiVersion: v1, kind: ConfigMap, metadata: {name: n, namespace: m}, data: {a: "1\n\n2\n"}}
  type: 2
  entries: all lines
- name: removed
  live: {apiVersion: v1, kind: ConfigMap, metadata: {name: n}, data: {a: "1"}}
  result: null
  type: 1
  entries: all lines
"#;

#[test]
fn acceptance_44_changes_have_the_stated_entries() {
    let own = node(OWN_CASES).as_seq().cloned().expect("cases");
    own.iter().chain(&corpus("diff-cases.yaml")).for_each(check);
}

#[test]
fn changes_are_written_with_the_names_that_tools_read() {
    let live = node(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {x: 1}}",
    );
    let result = node(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {x: 2}}",
    );
    let id = id(&live);
    let subject = ChangeSubject { id: &id, resource: "deployments" };
    let written = |change: &Change| serde_json::to_string(change).expect("JSON");
    let head = r#"{"_version":"2","name":"a","namespace":"b","kind":"Deployment","api":"apps/v1","resource":"deployments","#;
    assert_eq!(
        written(&Change::between(subject, Some(&live), Some(&result))),
        format!(
            r#"{head}"op":"apply","type":3,"dry_run":true,"entries":[{{"path":"spec.x","type":1,"payload":"1"}},{{"path":"spec.x","type":2,"payload":"2"}}]}}"#
        )
    );
    let removed = Change::between(subject, Some(&live), None);
    assert_eq!(removed.op, PlanOperation::Delete);
    assert!(
        written(&removed)
            .contains(r#""entries":[{"type":1},{"type":1,"payload":"apiVersion: apps/v1"}"#)
    );
    assert_eq!(
        written(&Change::failed(subject, "forbidden".to_owned())),
        format!(r#"{head}"op":"apply","type":4,"error":"forbidden","dry_run":true,"entries":[]}}"#)
    );
    for change in [removed, Change::failed(subject, "forbidden".to_owned())] {
        assert_eq!(serde_json::from_str::<Change>(&written(&change)).expect("a change"), change);
    }
}

#[test]
fn the_core_group_has_an_empty_name() {
    let config_map = node("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    assert_eq!(change(None, Some(&config_map)).api, "/v1");
}

#[test]
fn values_of_secrets_are_in_no_change() {
    let secret = |value: &str| {
        node(&format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: a, annotations: \
             {{kubectl.kubernetes.io/last-applied-configuration: 'canary-{value}'}}}}, \
             data: {{a: canary-{value}, b: canary}}}}"
        ))
    };
    let (old, new) = (secret("old"), secret("new"));
    let modified = change(Some(&old), Some(&new));
    let entries: Vec<Line> = lines(&modified.entries);
    assert_eq!(
        entries[..2],
        [
            ("data.a".to_owned(), 1, Some("*** (before)".to_owned())),
            ("data.a".to_owned(), 2, Some("*** (after)".to_owned())),
        ]
    );
    for change in [modified, change(None, Some(&new)), change(Some(&old), None)] {
        assert_ne!(change.change_type, ChangeType::Unchanged);
        let written = serde_json::to_string(&change).expect("JSON");
        assert!(!written.contains("canary"), "{written}");
    }
}
