//! What the two ways of composing have in common: the tag of a scalar, and limits.

use crate::{
    Budget, Error, Pos, Style, Tag,
    parser::Properties,
    resolve::{resolve, resolve_tagged},
};

/// Nothing at all between the commas of a flow collection is null as long as anybody looks at it, but
/// kustomize writes it with quotes and reads it again before it prints: it ends as an empty string.
/// The style keeps that for [`crate::canonical`].
#[inline]
pub(super) fn written_style(text: &str, tag: Tag, style: Style, flow_depth: usize) -> Style {
    if flow_depth > 0 && tag == Tag::Null && text.is_empty() { Style::SingleQuoted } else { style }
}

#[inline]
pub(super) fn implicit_tag(text: &str, style: Style) -> Tag {
    match style {
        Style::Plain => resolve(text),
        _ => Tag::Str,
    }
}

pub(super) fn explicit_tag(
    text: &str,
    style: Style,
    properties: &Properties,
) -> Result<Tag, String> {
    match properties.tag.as_deref() {
        // `!` only says that there is no tag.
        None | Some("!") => Ok(implicit_tag(text, style)),
        Some(tag) => resolve_tagged(tag, text),
    }
}

#[cold]
pub(super) fn too_deep(pos: Pos, budget: &Budget) -> Error {
    Error::new(format!("the document is nested more than {} levels deep", budget.depth), pos)
}
