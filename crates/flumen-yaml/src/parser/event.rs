//! What the parser hands to the composer.

use std::collections::HashMap;

use crate::{Pos, Style, Text, scanner::Tag};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub pos: Pos,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    StreamStart,
    StreamEnd,
    DocumentStart { explicit: bool },
    DocumentEnd { explicit: bool },
    Alias { anchor: Text },
    Scalar { value: Text, style: Style, properties: Option<Box<Properties>> },
    SequenceStart { flow: bool, properties: Option<Box<Properties>> },
    SequenceEnd,
    MappingStart { flow: bool, properties: Option<Box<Properties>> },
    MappingEnd,
}

/// What may stand before a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    pub anchor: Option<Text>,
    /// The whole tag, such as `tag:yaml.org,2002:int` for `!!int`.
    pub tag: Option<Text>,
}

/// The `%TAG` directives of the current document.
#[derive(Debug, Default)]
pub(super) struct Directives(HashMap<String, String>);

impl Directives {
    /// Adds a directive; false if its handle has one already.
    pub(super) fn add(&mut self, handle: &str, prefix: &str) -> bool {
        self.0.insert(handle.to_owned(), prefix.to_owned()).is_none()
    }

    pub(super) fn end_document(&mut self) {
        self.0.clear();
    }

    fn prefix(&self, handle: &str) -> Option<&str> {
        let own = self.0.get(handle).map(String::as_str);
        own.or(match handle {
            "!" => Some("!"),
            "!!" => Some("tag:yaml.org,2002:"),
            _ => None,
        })
    }
}

/// The tag that a handle and a suffix stand for; `None` if the handle is unknown.
pub(super) fn expand_tag(directives: &Directives, tag: &Tag) -> Option<Text> {
    if tag.handle.is_empty() {
        return Some(Text::from(tag.suffix.as_str()));
    }
    let prefix = directives.prefix(&tag.handle)?;
    Some(Text::from(format!("{prefix}{}", tag.suffix))).filter(|tag| !tag.is_empty())
}
