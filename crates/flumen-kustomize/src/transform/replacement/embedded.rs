//! Writing into YAML or JSON that stands in a text, such as a file in a config map.

use flumen_yaml::{Node, Tag, Text};

use super::{
    matches::{Created, Matches, read_embedded, set_value},
    restyle,
};
use crate::field_path::{follow, follow_mut, locate};

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
    let (length, place, text, mut embedded) = (1..path.len()).find_map(|length| {
        let place = locate(root, path.get(..length)?).ok()??;
        let text = follow(root, &place)?.text()?.clone();
        let embedded = read_embedded(&text).ok()?;
        Some((length, place, text, embedded))
    })?;
    let matches = Matches::find(&mut embedded, path.get(length..)?, create).ok()?;
    if matches.is_empty() {
        return None;
    }
    let is_json = text.trim_start().starts_with(['{', '[']);
    for found in &matches.places {
        let field = follow_mut(&mut embedded, &found.place)?;
        set_value(field, found.is_new, value, value.text().cloned().unwrap_or_default()).ok()?;
        // Nothing is a null in a block, but an empty string in braces.
        if is_json
            && found.is_new
            && let Some(scalar) = field.as_scalar_mut()
            && scalar.text.is_empty()
        {
            scalar.tag = Tag::Str;
        }
    }
    let written = if is_json { json(&embedded, &text)? } else { restyle::print(&embedded, &text)? };
    follow_mut(root, &place)?.as_scalar_mut()?.text = Text::from(written);
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
