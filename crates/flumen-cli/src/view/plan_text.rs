//! Plans as people read them: each change with its lines, then how many there are.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use flumen_apply::{Action, Plan, Planned};
use flumen_diff::{LineKind, unified};

use crate::view::printable::{Lines, printable};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const MODIFIED: Style = AnsiColor::Yellow.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// Longer lines are data.
const MAX_LINE: usize = 4 << 10;

/// Draws the changes of a plan, and a line that counts them.
pub(crate) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for object in plan.objects.iter().filter(|object| object.is_change()) {
        let (sign, style, what) = match (&object.error, object.action) {
            (Some(_), _) => ('!', REMOVED, "would be refused"),
            (None, Action::Deleted) => ('-', REMOVED, "to delete"),
            (None, Action::Created) if object.recreated => {
                ('~', MODIFIED, "to delete and recreate")
            }
            (None, Action::Created) => ('+', ADDED, "to create"),
            (None, Action::Deferred) => ('+', ADDED, "to create when its kind is served"),
            (None, _) => ('~', MODIFIED, "to change"),
        };
        heading(&mut text, sign, style, object, what);
        lines(&mut text, object);
    }
    let _ = writeln!(text, "{}", summary(plan));
    text
}

/// Draws the differences between a cluster and a delivery as kustomizer does, with lines only for objects that have
/// drifted.
pub(crate) fn difference(plan: &Plan) -> String {
    let mut text = String::new();
    for object in plan.objects.iter().filter(|it| it.is_change() && it.error.is_none()) {
        let (style, what) = match object.action {
            Action::Created if object.recreated => (MODIFIED, "drifted"),
            Action::Created | Action::Deferred => (ADDED, "created"),
            Action::Deleted => (REMOVED, "deleted"),
            _ => (MODIFIED, "drifted"),
        };
        heading(&mut text, '►', style, object, what);
        if what == "drifted" {
            lines(&mut text, object);
        }
    }
    text
}

fn heading(text: &mut String, sign: char, style: Style, object: &Planned, what: &str) {
    let id = printable(&object.id.to_string(), Lines::Escape, MAX_LINE);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{style}{sign}{style:#} {id} {what}");
}

fn lines(text: &mut String, object: &Planned) {
    if object.error.is_some() {
        return;
    }
    for line in unified(object.live.as_ref(), object.result.as_ref()) {
        let style = match line.kind {
            LineKind::Header => HUNK,
            LineKind::Context => PLAIN,
            LineKind::Removed => REMOVED,
            LineKind::Added => ADDED,
        };
        let line = printable(&line.text, Lines::Escape, MAX_LINE);
        let _ = writeln!(text, "{style}{line}{style:#}");
    }
}

/// `3 to create, 1 to change, 1 to delete, 12 unchanged`
pub(crate) fn summary(plan: &Plan) -> String {
    let mut counts = [
        (0, "to create"),
        (0, "to recreate"),
        (0, "to change"),
        (0, "to delete"),
        (0, "to create later"),
        (0, "refused"),
        (0, "unchanged"),
        (0, "skipped"),
    ];
    for object in &plan.objects {
        let index = match (&object.error, object.action) {
            (Some(_), _) => 5,
            (None, Action::Created) if object.recreated => 1,
            (None, Action::Created) => 0,
            (None, Action::Configured) => 2,
            (None, Action::Deleted) => 3,
            (None, Action::Deferred) => 4,
            (None, Action::Unchanged) => 6,
            (None, Action::Skipped) => 7,
        };
        counts[index].0 += 1;
    }
    let counted: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if counted.is_empty() { "nothing to do".to_owned() } else { counted.join(", ") }
}

#[cfg(test)]
mod tests {
    use flumen_object::{Gvk, ObjectId};
    use flumen_yaml::{Budget, Node, Text, read};

    use super::*;

    fn node(text: &str) -> Node {
        read(&Text::from(text), 1, &Budget::default()).expect("YAML").remove(0)
    }

    fn object(name: &str, action: Action, live: Option<&str>, result: Option<&str>) -> Planned {
        Planned {
            id: ObjectId {
                gvk: Gvk { group: Text::default(), version: "v1".into(), kind: "Secret".into() },
                namespace: "apps".into(),
                name: name.into(),
            },
            resource: "secrets".to_owned(),
            action,
            recreated: false,
            live: live.map(node),
            result: result.map(node),
            error: None,
        }
    }

    fn example() -> Plan {
        let (old, new) = ("{kind: Secret, data: {k: b2xk}}", "{kind: Secret, data: {k: bmV3}}");
        Plan {
            objects: vec![
                object("a", Action::Created, None, Some(new)),
                object("b", Action::Configured, Some(old), Some(new)),
                object("c", Action::Unchanged, None, None),
                object("d", Action::Deleted, Some(old), None),
            ],
        }
    }

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn changes_are_shown_and_counted() {
        let expected = "\
+ Secret/apps/a to create
@@ -0,0 +1,3 @@
+data:
+  k: '***'
+kind: Secret
~ Secret/apps/b to change
@@ -1,3 +1,3 @@
 data:
-  k: '*** (before)'
+  k: '*** (after)'
 kind: Secret
- Secret/apps/d to delete
@@ -1,3 +0,0 @@
-data:
-  k: '***'
-kind: Secret
1 to create, 1 to change, 1 to delete, 1 unchanged
";
        assert_eq!(plain(&plan(&example())), expected);
        assert_eq!(plain(&plan(&Plan::default())), "nothing to do\n");
    }

    #[test]
    fn differences_have_lines_for_drift_alone() {
        let expected = "\
► Secret/apps/a created
► Secret/apps/b drifted
@@ -1,3 +1,3 @@
 data:
-  k: '*** (before)'
+  k: '*** (after)'
 kind: Secret
► Secret/apps/d deleted
";
        assert_eq!(plain(&difference(&example())), expected);
    }
}
