//! An object as a row of a table.

use flumen_yaml::Node;

use crate::{
    kinds::{Cell, Kind},
    link::{Link, source},
    object::{
        is_suspended, name_of, namespace_of, readiness, release_revision, shorten_hashes, text_at,
    },
};

/// Names, source, columns and readiness of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub namespace: String,
    pub name: String,
    pub source: Option<Link>,
    /// Texts of [`Kind::columns`].
    pub columns: Vec<String>,
    /// `True`, `False` or `Unknown`.
    pub ready: String,
    pub message: String,
}

impl Row {
    pub fn of(kind: &Kind, object: &Node) -> Self {
        let (ready, message) = readiness(kind, object);
        Self {
            namespace: namespace_of(object).to_owned(),
            name: name_of(object).to_owned(),
            source: source(kind, object),
            columns: kind.columns.iter().map(|column| cell(&column.cell, object)).collect(),
            ready: ready.to_owned(),
            message: if kind.shortens { shorten_hashes(message) } else { message.to_owned() },
        }
    }
}

fn cell(cell: &Cell, object: &Node) -> String {
    match cell {
        Cell::Field(path) => text_at(object, path).to_owned(),
        Cell::Hashes(path) => shorten_hashes(text_at(object, path)),
        Cell::Suspended => (if is_suspended(object) { "True" } else { "False" }).to_owned(),
        Cell::ReleaseRevision => release_revision(object).to_owned(),
        Cell::SourceName => {
            let Some(source) = object.at(&["spec", "sourceRef"]) else { return String::new() };
            ["kind", "namespace", "name"].map(|field| text_at(source, &[field])).join("/")
        }
    }
}
