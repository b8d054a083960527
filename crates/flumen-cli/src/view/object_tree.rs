//! Objects and what they own, drawn as a tree with their health.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use flumen_health::Status;
use flumen_inspect::{Forest, LiveObject, Owned};

use crate::view::printable::{Lines, printable};

const READY: Style = AnsiColor::Green.on_default();
const BUSY: Style = AnsiColor::Yellow.on_default();
const BROKEN: Style = AnsiColor::Red.on_default();

const MAX_TEXT: usize = 256;

pub(crate) fn render(forest: &Forest) -> String {
    let mut text = String::new();
    for (namespace, objects) in &forest.roots {
        let heading = if namespace.is_empty() { "cluster" } else { namespace };
        let _ = writeln!(text, "{heading}");
        children(&mut text, "", objects, &forest.owned);
    }
    text
}

/// Ends because no object owns itself: each has one place in the tree.
fn children(text: &mut String, indent: &str, objects: &[LiveObject], owned: &Owned) {
    for (place, object) in objects.iter().enumerate() {
        let is_last = place + 1 == objects.len();
        let (knot, beside) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        let style = style(object.status);
        let label = printable(&object.label, Lines::Escape, MAX_TEXT);
        let message = printable(&object.message, Lines::Escape, MAX_TEXT);
        let _ = writeln!(text, "{indent}{knot} {style}●{style:#} {label}  {message}");
        if let Some(below) = owned.get(&object.uid) {
            children(text, &format!("{indent}{beside}"), below, owned);
        }
    }
}

const fn style(status: Status) -> Style {
    match status {
        Status::Current => READY,
        Status::Failed | Status::NotFound => BROKEN,
        _ => BUSY,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn object(uid: &str, label: &str) -> LiveObject {
        let message = "Resource is current".to_owned();
        LiveObject {
            uid: uid.to_owned(),
            label: label.to_owned(),
            status: Status::Current,
            message,
        }
    }

    #[test]
    fn what_is_owned_hangs_below_its_owner() {
        let roots = BTreeMap::from([(
            "shop".to_owned(),
            vec![object("1", "Service/web"), object("2", "Deployment/web")],
        )]);
        let owned = BTreeMap::from([
            ("2".to_owned(), vec![object("3", "ReplicaSet/web-1")]),
            ("3".to_owned(), vec![object("4", "Pod/web-1-a"), object("5", "Pod/web-1-b")]),
        ]);
        let drawn = render(&Forest { roots, owned });
        let plain = anstream::adapter::strip_str(&drawn).to_string();
        assert_eq!(
            plain,
            "shop
├─ ● Service/web  Resource is current
└─ ● Deployment/web  Resource is current
   └─ ● ReplicaSet/web-1  Resource is current
      ├─ ● Pod/web-1-a  Resource is current
      └─ ● Pod/web-1-b  Resource is current
"
        );
    }
}
