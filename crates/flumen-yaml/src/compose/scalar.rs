//! What the two ways of composing have in common: the tag of a scalar, and limits.

use crate::{
    Budget, Error, Pos, Scalar, Style, Tag,
    parser::Properties,
    resolve::{resolve, resolve_tagged},
};

/// The style that a scalar has in the tree, which matters for null. Nothing at all, not even a tag,
/// between the commas of a flow collection is null as long as anybody looks at it, but kustomize
/// writes it with quotes and reads it again before it prints: it ends as an empty string. Quotes keep
/// that for [`crate::canonical`], so no other null may have them.
#[inline]
pub(super) fn tree_style(scalar: &Scalar, is_tagged: bool, flow_depth: usize) -> Style {
    match scalar.tag {
        Tag::Null if flow_depth > 0 && !is_tagged && scalar.text.is_empty() => Style::SingleQuoted,
        Tag::Null => Style::Plain,
        _ => scalar.style,
    }
}

#[inline]
pub(super) fn implicit_tag(text: &str, style: Style) -> Tag {
    match style {
        Style::Plain => resolve(text),
        _ => Tag::Str,
    }
}

/// Whether a tag is written that says something; `!` only says that there is none.
pub(super) fn has_tag(properties: &Properties) -> bool {
    properties.tag.as_deref().is_some_and(|tag| tag != "!")
}

pub(super) fn explicit_tag(
    text: &str,
    style: Style,
    properties: &Properties,
) -> Result<Tag, String> {
    match properties.tag.as_deref() {
        None | Some("!") => Ok(implicit_tag(text, style)),
        Some(tag) => resolve_tagged(tag, text),
    }
}

#[cold]
pub(super) fn too_deep(pos: Pos, budget: &Budget) -> Error {
    Error::new(format!("the document is nested more than {} levels deep", budget.depth), pos)
}
