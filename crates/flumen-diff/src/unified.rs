//! Differences for people: the YAML of two states of an object, line by line.

use flumen_yaml::Node;
use similar::{ChangeTag, TextDiff};

use crate::shown::{shown, yaml};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A line of a difference, with its sign and without line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: LineKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Which lines follow: `@@ -1,4 +1,5 @@`.
    Header,
    Context,
    Removed,
    Added,
}

/// How two states of an object differ. Values of Secrets are masked; what only the server writes is
/// left out. Nothing, if they do not differ in what is shown.
pub fn unified(before: Option<&Node>, after: Option<&Node>) -> Vec<DiffLine> {
    let (before, after) = shown(before, after);
    let text = |node: Option<Node>| node.map(|node| yaml(&node)).unwrap_or_default();
    let (before, after) = (text(before), text(after));
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(DiffLine { kind: LineKind::Header, text: hunk.header().to_string() });
        lines.extend(hunk.iter_changes().map(|change| {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Context,
                ChangeTag::Delete => LineKind::Removed,
                ChangeTag::Insert => LineKind::Added,
            };
            let line = change.value().trim_end_matches('\n');
            DiffLine { kind, text: format!("{}{line}", change.tag()) }
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::tests::node;

    #[track_caller]
    fn check(before: Option<&str>, after: Option<&str>, expected: &str) {
        let (before, after) = (before.map(node), after.map(node));
        let lines = unified(before.as_ref(), after.as_ref());
        for line in &lines {
            let sign = match line.kind {
                LineKind::Header => "@@",
                LineKind::Context => " ",
                LineKind::Removed => "-",
                LineKind::Added => "+",
            };
            assert!(line.text.starts_with(sign), "{line:?}");
        }
        let found: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(found.join("\n"), expected);
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        check(
            Some("{kind: A, a: 1, b: 2, c: 3, d: 4, e: 5}"),
            Some("{kind: A, a: 1, b: 2, c: 3, d: 4, e: 6}"),
            "@@ -2,5 +2,5 @@\n b: 2\n c: 3\n d: 4\n-e: 5\n+e: 6\n kind: A",
        );
    }

    #[test]
    fn new_and_removed_objects_are_shown_as_a_whole() {
        check(None, Some("{kind: A, a: 1}"), "@@ -0,0 +1,2 @@\n+a: 1\n+kind: A");
        check(Some("{kind: A, a: 1}"), None, "@@ -1,2 +0,0 @@\n-a: 1\n-kind: A");
    }

    #[test]
    fn what_only_the_server_writes_is_no_difference() {
        check(
            Some("{kind: A, metadata: {uid: a, generation: 1}, status: {a: 1}}"),
            Some("{kind: A, metadata: {uid: b, generation: 2}}"),
            "",
        );
    }

    #[test]
    fn values_of_secrets_are_masked() {
        check(
            Some("{kind: Secret, data: {a: b2xk, b: c2FtZQ==}}"),
            Some("{kind: Secret, data: {a: bmV3, b: c2FtZQ==}}"),
            "@@ -1,4 +1,4 @@\n data:\n-  a: '*** (before)'\n+  a: '*** (after)'\n   b: '***'\n kind: Secret",
        );
    }

    #[test]
    fn large_objects_that_have_nothing_in_common_are_compared() {
        let text = |word: &str| {
            let mut text = String::from("{data: {a: [");
            for index in 0..40_000 {
                write!(text, "{word}{index},").expect("a text");
            }
            text + "]}}"
        };
        let (before, after) = (node(&text("old")), node(&text("new")));
        let lines = unified(Some(&before), Some(&after));
        assert_eq!(lines.iter().filter(|line| line.kind == LineKind::Added).count(), 40_000);
    }
}
