//! Writing into YAML or JSON that stands in a text, such as a file in a ConfigMap.

use flumen_yaml::{Node, Text};

use super::{
    matches::{Created, Matches, read_embedded, set_value},
    restyle,
};
use crate::field_path::{lookup, lookup_mut};

/// Writes a value into a text on the way of the path. False if there is no such text, or if the
/// path does not lead on in it; nothing has changed then.
pub(super) fn write(
    root: &mut Node,
    value: &Node,
    path: &[String],
    create: Option<Created>,
) -> bool {
    try_write(root, value, path, create).is_some()
}

fn try_write(
    root: &mut Node,
    value: &Node,
    path: &[String],
    create: Option<Created>,
) -> Option<()> {
    let (length, text, mut embedded) = (1..path.len()).find_map(|length| {
        let node = lookup(root, path.get(..length)?).ok()??;
        let text = node.text()?.clone();
        let embedded = read_embedded(&text).ok()?;
        Some((length, text, embedded))
    })?;
    let matches = Matches::find(&mut embedded, path.get(length..)?, create).ok()?;
    if matches.is_empty() {
        return None;
    }
    for place in &matches.places {
        let field = place.node(&mut embedded)?;
        set_value(field, place.is_new, value, value.text().cloned().unwrap_or_default()).ok()?;
    }
    let written = if text.trim_start().starts_with(['{', '[']) {
        json(&embedded, &text)?
    } else {
        restyle::print(&embedded, &text)?
    };
    let node = lookup_mut(root, path.get(..length)?).ok()??;
    node.as_scalar_mut()?.text = Text::from(written);
    Some(())
}

/// The tree as JSON, indented if the text was.
fn json(node: &Node, before: &str) -> Option<String> {
    let compact = flumen_yaml::to_json(node).ok()?;
    let is_indented = before.contains('\n') && before.contains("  ");
    Some(if is_indented { indent(&compact) } else { compact })
}

/// Spreads compact JSON over lines.
fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut is_quoted = false;
    let mut chars = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    while let Some(char) = chars.next() {
        match char {
            '\\' if is_quoted => {
                out.push(char);
                out.extend(chars.next());
            }
            '"' => {
                is_quoted = !is_quoted;
                out.push(char);
            }
            _ if is_quoted => out.push(char),
            '{' | '[' => {
                out.push(char);
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(char);
            }
            ',' => {
                out.push(char);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(char),
        }
    }
    out
}
