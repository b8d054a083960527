//! Which values of an object change: path by path, the old one as a removed line, the new one as an
//! added line.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    ops::Range,
};

use flumen_yaml::{Canonical, Map, Node, Scalar, Text, Value, canonical, same_value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{
    change::{ChangeType, Entry},
    digest::canonical_bytes,
    fields::sorted,
    shown::yaml,
};

/// Where the component says in which namespace an object is, not the object.
const IGNORED: &str = "metadata.namespace";

/// The lines for all values in which two states of an object differ, by the names of the fields.
pub(crate) fn changed_values(before: &Node, after: &Node) -> Vec<Entry> {
    let mut changes = Changes::default();
    changes.compare(before, after);
    changes.entries
}

#[derive(Default)]
struct Changes {
    path: String,
    entries: Vec<Entry>,
}

impl Changes {
    fn compare(&mut self, before: &Node, after: &Node) {
        match (&before.value, &after.value) {
            (Value::Map(before), Value::Map(after)) => self.compare_maps(before, after),
            (Value::Seq(before), Value::Seq(after)) => self.compare_lists(before, after),
            _ if same_value(before, after) || self.path == IGNORED => {}
            _ => {
                self.push(ChangeType::Removed, before);
                self.push(ChangeType::Added, after);
            }
        }
    }

    fn compare_maps(&mut self, before: &Map, after: &Map) {
        let (before, after) = (sorted(before), sorted(after));
        let (mut old, mut new) = (before.into_iter().peekable(), after.into_iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.key.cmp(&new.key),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return,
            };
            let old = old.next_if(|_| order.is_le());
            let new = new.next_if(|_| order.is_ge());
            let Some(key) = old.or(new).map(|field| &field.key) else { return };
            let dot = if self.path.is_empty() { "" } else { "." };
            self.below(&format!("{dot}{key}"), |changes| {
                changes.compare_sides(old.map(|field| &field.value), new.map(|field| &field.value));
            });
        }
    }

    fn compare_lists(&mut self, before: &[Node], after: &[Node]) {
        let mut ids = HashMap::new();
        let mut number = |items: &[Node]| -> Vec<usize> {
            let ids = &mut ids;
            items
                .iter()
                .map(|item| {
                    let next = ids.len();
                    *ids.entry(canonical_bytes(item)).or_insert(next)
                })
                .collect()
        };
        let (old, new) = (number(before), number(after));
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            for (old, new) in pairs((before, op.old_range()), (after, op.new_range())) {
                let Some(index) = new.or(old) else { continue };
                let old = old.and_then(|index| before.get(index));
                let new = new.and_then(|index| after.get(index));
                self.below(&format!("[{index}]"), |changes| changes.compare_sides(old, new));
            }
        }
    }

    fn compare_sides(&mut self, before: Option<&Node>, after: Option<&Node>) {
        match (before, after) {
            (Some(before), Some(after)) => self.compare(before, after),
            _ if self.path == IGNORED => {}
            (Some(before), None) => self.push(ChangeType::Removed, before),
            (None, Some(after)) => self.push(ChangeType::Added, after),
            (None, None) => {}
        }
    }

    /// Does something one step further down the path.
    fn below(&mut self, step: &str, act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        act(self);
        self.path.truncate(length);
    }

    fn push(&mut self, change_type: ChangeType, value: &Node) {
        let path = &self.path;
        if let Value::Scalar(scalar) = &value.value {
            self.entries.push(Entry::line(path, change_type, &text(scalar)));
        } else {
            let yaml = yaml(value);
            self.entries.extend(yaml.lines().map(|line| Entry::line(path, change_type, line)));
        }
    }
}

/// The value of a scalar without quotes.
fn text(scalar: &Scalar) -> String {
    match canonical(scalar) {
        Ok(Canonical::Str(text)) => text.into_owned(),
        Ok(Canonical::Bool(bool)) => bool.to_string(),
        Ok(Canonical::Int(int)) => int.to_string(),
        Ok(Canonical::Float(float)) => float.to_string(),
        Ok(Canonical::Null) => "null".to_owned(),
        Err(_) => scalar.text.to_string(),
    }
}

/// Elements of a list and which of them are meant.
type Run<'a> = (&'a [Node], Range<usize>);

/// Which elements of one run have become which of another: those of the same name if all have names,
/// otherwise those at the same place. What has no partner was removed or added.
fn pairs(before: Run<'_>, after: Run<'_>) -> Vec<(Option<usize>, Option<usize>)> {
    let names = |(items, range): &Run<'_>| -> Option<Vec<Text>> {
        range.clone().map(|index| items.get(index)?.get("name")?.text().cloned()).collect()
    };
    let (Some(old_names), Some(new_names)) = (names(&before), names(&after)) else {
        let length = before.1.len().max(after.1.len());
        let (mut old, mut new) = (before.1, after.1);
        return (0..length).map(|_| (old.next(), new.next())).collect();
    };
    let mut places: HashMap<&Text, usize> = HashMap::new();
    for (name, index) in new_names.iter().zip(after.1.clone()) {
        places.entry(name).or_insert(index);
    }
    let old = old_names.iter().zip(before.1);
    let mut pairs: Vec<_> = old.map(|(name, index)| (Some(index), places.remove(name))).collect();
    let taken: HashSet<usize> = pairs.iter().filter_map(|(_, new)| *new).collect();
    let added = after.1.filter(|index| !taken.contains(index));
    pairs.extend(added.map(|index| (None, Some(index))));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    /// The lines of a change as `path: -old` and `path: +new`.
    #[track_caller]
    fn check(before: &str, after: &str, expected: &[&str]) {
        let found: Vec<String> = changed_values(&node(before), &node(after))
            .iter()
            .map(|entry| {
                let payload = entry.payload.as_deref().expect("every line has a payload");
                format!("{}: {}{payload}", entry.path, entry.change_type.symbol())
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn values_are_found_by_their_path() {
        check("{a: {b: 1}}", "{a: {b: 1.0}}", &[]);
        check("{a: {b: 1, c: x}}", "{a: {c: x, b: 2}}", &["a.b: -1", "a.b: +2"]);
        check("{a: {b: true}}", "{a: {c: null}}", &["a.b: -true", "a.c: +null"]);
        check("{a: x}", "{a: ''}", &["a: -x", "a: +"]);
        check("{a: \"x\\ny\"}", "{a: z}", &["a: -x\ny", "a: +z"]);
    }

    #[test]
    fn fields_come_in_alphabetical_order() {
        check(
            "{spec: {b: 1, a: 1}, data: {x: 1}}",
            "{data: {x: 2}, spec: {a: 2, b: 2}, apiVersion: v1}",
            &[
                "apiVersion: +v1",
                "data.x: -1",
                "data.x: +2",
                "spec.a: -1",
                "spec.a: +2",
                "spec.b: -1",
                "spec.b: +2",
            ],
        );
    }

    #[test]
    fn collections_are_shown_line_by_line() {
        check("{}", "{a: {b: 1, c: [x]}}", &["a: +b: 1", "a: +c:", "a: +- x"]);
        check("{a: {b: 1}}", "{a: x}", &["a: -b: 1", "a: +x"]);
        check("{a: {}}", "{a: []}", &["a: -{}", "a: +[]"]);
    }

    #[test]
    fn list_elements_are_found_by_their_place() {
        check("{a: [x, y]}", "{a: [x, z, w]}", &["a[1]: -y", "a[1]: +z", "a[2]: +w"]);
        check("{a: [x, y, z]}", "{a: [y, z]}", &["a[0]: -x"]);
        check("{a: [y]}", "{a: [x, y]}", &["a[0]: +x"]);
        check("{a: [[1], [2]]}", "{a: [[1], [3]]}", &["a[1][0]: -2", "a[1][0]: +3"]);
        check(
            "{c: [{name: a, image: 1}]}",
            "{c: [{name: a, image: 2}]}",
            &["c[0].image: -1", "c[0].image: +2"],
        );
    }

    #[test]
    fn elements_with_names_are_compared_with_those_of_the_same_name() {
        check(
            "{c: [{name: a, v: 1}, {name: b, v: 1}]}",
            "{c: [{name: b, v: 2}]}",
            &["c[0]: -name: a", "c[0]: -v: 1", "c[0].v: -1", "c[0].v: +2"],
        );
        check(
            "{c: [{name: a, v: 1}]}",
            "{c: [{name: x}, {name: a, v: 2}]}",
            &["c[1].v: -1", "c[1].v: +2", "c[0]: +name: x"],
        );
    }

    #[test]
    fn the_namespace_does_not_count() {
        check("{metadata: {name: a, namespace: b}}", "{metadata: {name: a}}", &[]);
        check("{metadata: {namespace: a}}", "{metadata: {namespace: b}}", &[]);
        check(
            "{spec: {namespace: a}}",
            "{spec: {namespace: b}}",
            &["spec.namespace: -a", "spec.namespace: +b"],
        );
    }
}
