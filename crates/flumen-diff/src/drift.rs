//! Whether applying would change anything.
//!
//! The answer of a dry-run is compared with the live object. Of the metadata only what users write
//! counts; the status never does.

use std::{collections::HashSet, iter};

use flumen_yaml::{Entry, Map, Node, Value, same_value, to_json};

use crate::{IgnoredPaths, fields::sorted};

/// What counts of `metadata`. An empty collection is as good as none.
const COMPARED_METADATA: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];
const LEFT_OUT: [&str; 2] = ["metadata", "status"];

/// Whether `live` differs from what a dry-run of applying answered, in a field that is not ignored.
pub fn has_drifted(live: &Node, result: &Node, ignored: &IgnoredPaths) -> bool {
    if is_new(result) {
        return true;
    }
    if ignored.is_empty() {
        return differ(live, result);
    }
    let stripped = |node: &Node| {
        let mut node = node.clone();
        ignored.strip(&mut node);
        node
    };
    differ(&stripped(live), &stripped(result))
}

/// Whether a dry-run answered that it would create the object: there is no revision of it yet.
pub fn is_new(result: &Node) -> bool {
    result.at(&["metadata", "resourceVersion"]).and_then(Node::as_str).is_none_or(str::is_empty)
}

fn differ(live: &Node, result: &Node) -> bool {
    let metadata_differs = COMPARED_METADATA.iter().any(|key| {
        match (live.at(&["metadata", key]), result.at(&["metadata", key])) {
            (Some(live), Some(result)) => !is_same(live, result),
            (Some(only), None) | (None, Some(only)) => !only.is_nil_or_empty(),
            (None, None) => false,
        }
    });
    metadata_differs
        || match (significant(live), significant(result)) {
            (Some(live), Some(result)) => !is_same_map(&live, &result),
            _ => !is_same(live, result),
        }
}

/// The top-level fields that are compared.
fn significant(node: &Node) -> Option<Map> {
    let fields = node.as_map()?.iter().filter(|entry| !LEFT_OUT.contains(&entry.key.as_str()));
    let mut fields: Map = fields.cloned().collect();
    let is_autoscaler =
        fields.get("kind").and_then(Node::as_str) == Some("HorizontalPodAutoscaler");
    if is_autoscaler && fields.get("apiVersion").and_then(Node::as_str) == Some("autoscaling/v2") {
        fields.get_mut("spec").into_iter().for_each(drop_phantom_metrics);
    }
    Some(fields)
}

/// Dry-runs of servers before 1.27 answer with the first metric twice and an empty one at the end.
fn drop_phantom_metrics(spec: &mut Node) {
    let Some(metrics) = spec.get_mut("metrics").and_then(Node::as_seq_mut) else { return };
    let mut seen = HashSet::new();
    metrics.retain(|metric| {
        let has_type =
            metric.get("type").and_then(Node::as_str).is_some_and(|text| !text.is_empty());
        has_type && to_json(metric).map_or(true, |text| seen.insert(text))
    });
}

/// Whether both stand for the same, where null and an empty collection do.
fn is_same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Map(a), Value::Map(b)) => is_same_map(a, b),
        (Value::Seq(a), Value::Seq(b)) => {
            a.len() == b.len() && iter::zip(a, b).all(|(a, b)| is_same(a, b))
        }
        (Value::Scalar(_), Value::Scalar(_)) => same_value(a, b),
        // One of them is null, or they are of different kinds.
        _ => (a.is_null() || b.is_null()) && a.is_nil_or_empty() && b.is_nil_or_empty(),
    }
}

fn is_same_map(a: &Map, b: &Map) -> bool {
    let is_same_entry = |(a, b): (&Entry, &Entry)| a.key == b.key && is_same(&a.value, &b.value);
    if a.len() != b.len() {
        return false;
    }
    // Servers answer with sorted keys.
    if iter::zip(a, b).all(|(a, b)| a.key == b.key) {
        return iter::zip(a, b).all(is_same_entry);
    }
    iter::zip(sorted(a), sorted(b)).all(is_same_entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    /// Compares two objects that have a revision.
    #[track_caller]
    fn check(live: &str, result: &str, drifted: bool) {
        let object = |fields: &str| {
            let mut object = node(fields);
            let root = object.as_map_mut().expect("an object");
            if !root.contains("metadata") {
                root.set("metadata", Node::map());
            }
            let metadata = root.get_mut("metadata").and_then(Node::as_map_mut).expect("metadata");
            metadata.set("resourceVersion", Node::string("1"));
            object
        };
        let (live, result) = (object(live), object(result));
        let none = IgnoredPaths::default();
        assert_eq!(has_drifted(&live, &result, &none), drifted, "{live:?} {result:?}");
        assert_eq!(has_drifted(&result, &live, &none), drifted, "{result:?} {live:?}");
    }

    #[test]
    fn an_object_without_revision_is_new() {
        let none = IgnoredPaths::default();
        assert!(has_drifted(&node("{kind: A}"), &node("{kind: A}"), &none));
        let empty = node("{kind: A, metadata: {resourceVersion: ''}}");
        assert!(has_drifted(&empty, &empty, &none));
    }

    #[test]
    fn every_field_counts_but_metadata_and_status() {
        check("{kind: A}", "{kind: A}", false);
        check("{spec: {a: 1, b: 2}}", "{spec: {b: 2, a: 1}}", false);
        check("{spec: {a: 1}}", "{spec: {a: 2}}", true);
        check("{rules: [a, b]}", "{rules: [b, a]}", true);
        check("{data: {a: b}}", "{data: {a: b, c: d}}", true);
        check("{status: {a: 1}}", "{status: {a: 2}}", false);
        check("{metadata: {generation: 1, uid: a}}", "{metadata: {managedFields: [{}]}}", false);
    }

    #[test]
    fn what_users_write_into_metadata_counts() {
        for key in COMPARED_METADATA {
            let (one, other) = match key {
                "labels" | "annotations" => ("{a: b}", "{a: c}"),
                _ => ("[a]", "[b]"),
            };
            check(
                &format!("{{metadata: {{{key}: {one}}}}}"),
                &format!("{{metadata: {{{key}: {other}}}}}"),
                true,
            );
            check(&format!("{{metadata: {{{key}: {one}}}}}"), "{}", true);
            check(&format!("{{metadata: {{{key}: {{}}}}}}"), "{}", false);
            check(&format!("{{metadata: {{{key}: null}}}}"), "{}", false);
        }
    }

    #[test]
    fn null_and_empty_collections_are_the_same_but_being_there_is_not() {
        check("{spec: {a: null}}", "{spec: {a: []}}", false);
        check("{spec: {a: {}}}", "{spec: {a: null}}", false);
        check("{spec: {a: {}}}", "{spec: {a: []}}", true);
        check("{spec: {a: null}}", "{spec: {a: ''}}", true);
        // `emptyDir: {}` is a volume.
        check("{spec: {emptyDir: {}}}", "{spec: {}}", true);
    }

    #[test]
    fn metrics_that_old_servers_make_up_are_not_seen() {
        let autoscaler = |version: &str, metrics: &str| {
            format!(
                "{{apiVersion: autoscaling/{version}, kind: HorizontalPodAutoscaler, spec: \
                 {{metrics: [{metrics}]}}}}"
            )
        };
        let (cpu, memory) = (
            "{type: Resource, resource: {name: cpu}}",
            "{type: Resource, resource: {name: memory}}",
        );
        let made_up = format!("{cpu}, {cpu}, {memory}, {{type: ''}}");
        let real = format!("{cpu}, {memory}");
        check(&autoscaler("v2", &real), &autoscaler("v2", &made_up), false);
        check(&autoscaler("v2", &real), &autoscaler("v2", cpu), true);
        check(&autoscaler("v1", &real), &autoscaler("v1", &made_up), true);
    }
}
