//! Where the cells of a column come from.

use serde_json::Value;

use super::{object::Object, selector};

#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Name,
    /// How long ago the object was made.
    Age,
    /// When the object was made.
    Created,
    Text(&'static str),
    /// What is there, or this if there is nothing.
    Or(&'static str, &'static str),
    /// A text, or this if there is none or it is empty.
    Filled(&'static str, &'static str),
    Number(&'static str),
    Flag(&'static str),
    /// How many items or keys there are, in all these places together.
    Count(&'static [&'static str]),
    /// How many are as wished: `1/3`.
    Of(&'static str, &'static str),
    /// Strings with commas between them.
    Joined(&'static str),
    /// A list of containers: their names, and their images.
    Containers(&'static str),
    Labels(&'static str),
    Selector(&'static str),
    With(fn(Object<'_>) -> Value),
    /// More than one cell, because they are found together.
    Many(fn(Object<'_>) -> Vec<Value>),
}

impl Cell {
    pub(super) fn write(self, object: Object<'_>, cells: &mut Vec<Value>) {
        let cell = match self {
            Self::Name => object.text("metadata.name").into(),
            Self::Age => object.age("metadata.creationTimestamp").into(),
            Self::Created => object.text("metadata.creationTimestamp").into(),
            Self::Text(path) => object.text(path).into(),
            Self::Or(path, other) => object.at(path).cloned().unwrap_or_else(|| other.into()),
            Self::Filled(path, other) => match object.text(path) {
                "" => other.into(),
                text => text.into(),
            },
            Self::Number(path) => object.number(path).into(),
            Self::Flag(path) => object.flag(path).into(),
            Self::Count(paths) => paths.iter().map(|path| object.count(path)).sum::<usize>().into(),
            Self::Of(some, all) => format!("{}/{}", object.number(some), object.number(all)).into(),
            Self::Joined(path) => object.joined(path).into(),
            Self::Containers(path) => {
                cells.push(each(object, path, "name").into());
                each(object, path, "image").into()
            }
            Self::Labels(path) => selector::labels(object.map(path)).into(),
            Self::Selector(path) => selector::selector_or_none(object.at(path)).into(),
            Self::With(function) => function(object),
            Self::Many(function) => return cells.extend(function(object)),
        };
        cells.push(cell);
    }
}

fn each(object: Object<'_>, path: &str, field: &str) -> String {
    object.items(path).map(|item| item.text(field)).collect::<Vec<_>>().join(",")
}
