//! The values of the merge keys of all elements of a list.
//!
//! With several keys, an element that lacks one of them stands for any element that agrees in the
//! others: a port `80` without a protocol is taken to be the port `80/TCP` of the other side.

use std::collections::{HashMap, HashSet};

use flumen_yaml::{Node, Text};

use super::keyed::ITSELF;

/// Up to this number of tuples, each is compared with each.
const SCAN_LIMIT: usize = 16;

/// Tuples of the same length, one after the other.
#[derive(Debug)]
pub(super) struct Tuples {
    width: usize,
    values: Vec<Text>,
}

impl Tuples {
    /// The distinct tuples of `elements`, in their order.
    pub(super) fn of<'n>(keys: &[&str], elements: impl Iterator<Item = &'n Node>) -> Self {
        let width = keys.len();
        let mut values: Vec<Text> = Vec::new();
        for element in elements {
            values.extend(keys.iter().map(|key| value(element, key)));
        }
        let all: Vec<&[Text]> = values.chunks(width.max(1)).collect();
        let is_first: Vec<bool> = if all.len() <= SCAN_LIMIT {
            all.iter().enumerate().map(|(at, tuple)| !all[..at].contains(tuple)).collect()
        } else {
            let mut seen = HashSet::with_capacity(all.len());
            all.iter().map(|tuple| seen.insert(*tuple)).collect()
        };
        let mut position = 0;
        values.retain(|_| {
            position += 1;
            is_first[(position - 1) / width]
        });
        let mut tuples = Self { width, values };
        if width > 1 {
            tuples.complete();
        }
        tuples
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Text]> {
        self.values.chunks(self.width.max(1))
    }

    /// For each key whether any tuple has a value of it; all keys if none has.
    pub(super) fn used_keys(&self) -> Vec<bool> {
        let has_value = |key: usize| self.iter().any(|tuple| !tuple[key].is_empty());
        let used: Vec<bool> = (0..self.width).map(has_value).collect();
        if used.contains(&true) { used } else { vec![true; self.width] }
    }

    /// Fills gaps from tuples that agree otherwise, pair by pair in order.
    fn complete(&mut self) {
        let count = self.values.len() / self.width;
        let candidates = Candidates::new(self, count);
        for this in 0..count {
            let tuple = self.tuple(this).to_vec();
            for that in candidates.of(&tuple) {
                if let Some(joined) = join(&tuple, self.tuple(that)) {
                    self.write(this, &joined);
                    self.write(that, &joined);
                }
            }
        }
    }

    fn tuple(&self, at: usize) -> &[Text] {
        &self.values[at * self.width..(at + 1) * self.width]
    }

    fn write(&mut self, at: usize, tuple: &[Text]) {
        self.values[at * self.width..(at + 1) * self.width].clone_from_slice(tuple);
    }
}

/// The value of a key: empty if it is absent or null.
fn value(element: &Node, key: &str) -> Text {
    let value = match key {
        ITSELF => Some(element),
        key => element.get(key).filter(|value| !value.is_null()),
    };
    value.and_then(Node::text).cloned().unwrap_or_default()
}

/// Joins two tuples that agree in at least one place and differ only where one has a gap.
fn join(one: &[Text], other: &[Text]) -> Option<Vec<Text>> {
    let mut agree = false;
    let mut joined = Vec::with_capacity(one.len());
    for (one, other) in one.iter().zip(other) {
        agree |= one == other;
        if one != other && !one.is_empty() && !other.is_empty() {
            return None;
        }
        joined.push(if one.is_empty() { other.clone() } else { one.clone() });
    }
    agree.then_some(joined)
}

/// Which tuples can join with a given one, without comparing all pairs.
///
/// A value that is there never changes, gaps only fill. So a tuple can join at most with those that
/// had the same value or a gap at the start.
enum Candidates {
    All(usize),
    /// For each key, the tuples by their value.
    Index {
        count: usize,
        by_value: Vec<HashMap<Text, Vec<usize>>>,
    },
}

impl Candidates {
    fn new(tuples: &Tuples, count: usize) -> Self {
        if count <= SCAN_LIMIT {
            return Self::All(count);
        }
        let mut by_value: Vec<HashMap<Text, Vec<usize>>> = vec![HashMap::new(); tuples.width];
        for (at, tuple) in tuples.iter().enumerate() {
            for (index, value) in by_value.iter_mut().zip(tuple) {
                index.entry(value.clone()).or_default().push(at);
            }
        }
        Self::Index { count, by_value }
    }

    /// In ascending order.
    fn of(&self, tuple: &[Text]) -> Vec<usize> {
        let (count, by_value) = match self {
            Self::All(count) => return (0..*count).collect(),
            Self::Index { count, by_value } => (*count, by_value),
        };
        let at = |index: &HashMap<Text, Vec<usize>>, value: &str| {
            index.get(value).cloned().unwrap_or_default()
        };
        let choices = by_value.iter().zip(tuple).filter(|(_, value)| !value.is_empty());
        let size = |index: &HashMap<Text, Vec<usize>>, value: &str| {
            index.get(value).map_or(0, Vec::len) + index.get("").map_or(0, Vec::len)
        };
        let Some((index, value)) = choices.min_by_key(|(index, value)| size(index, value)) else {
            return (0..count).collect();
        };
        let mut found = at(index, value);
        found.extend(at(index, ""));
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Entry, Node};

    use super::{SCAN_LIMIT, Tuples};

    /// Elements with the keys `a` and `b`; a dash leaves a key out.
    fn elements(list: &str) -> Vec<Node> {
        let element = |text: &str| {
            let values = text.split('/').zip(["a", "b"]).filter(|(value, _)| *value != "-");
            let mut node = Node::map();
            let map = node.as_map_mut().expect("a mapping");
            values.for_each(|(value, key)| map.push(Entry::new(key, Node::string(value))));
            node
        };
        list.split_whitespace().map(element).collect()
    }

    fn tuples(elements: &[Node]) -> String {
        let tuples = Tuples::of(&["a", "b"], elements.iter());
        let texts: Vec<String> = tuples.iter().map(|tuple| tuple.join("/")).collect();
        texts.join(" ")
    }

    #[track_caller]
    fn check(list: &str, expected: &str) {
        assert_eq!(tuples(&elements(list)), expected, "{list}");
    }

    #[test]
    fn gaps_are_filled_by_agreeing_tuples() {
        check("80/TCP 81/UDP 80/TCP", "80/TCP 81/UDP");
        check("80/- 80/TCP", "80/TCP 80/TCP");
        check("80/TCP 80/UDP 80/-", "80/TCP 80/UDP 80/TCP");
        check("80/- 80/TCP 80/UDP", "80/UDP 80/TCP 80/UDP");
        check("80/- 81/-", "80/ 81/");
        check("-/- 80/-", "80/ 80/");
    }

    #[test]
    fn long_lists_give_what_short_ones_do() {
        // Far away values, so that only the length differs.
        let filler: Vec<String> = (0..SCAN_LIMIT).map(|n| format!("9{n}/X{n}")).collect();
        let filler = filler.join(" ");
        for list in ["80/- 80/TCP 81/-", "80/TCP 80/UDP 80/-", "-/TCP 80/TCP -/UDP 80/-"] {
            let short = tuples(&elements(list));
            let long = tuples(&elements(&format!("{list} {filler}")));
            assert!(long.starts_with(&format!("{short} ")), "{list}: {short} against {long}");
        }
    }
}
