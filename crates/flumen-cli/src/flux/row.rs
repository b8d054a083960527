//! An object as a line of a table.

use flumen_yaml::Node;

use super::{
    kinds::{Cell, Kind},
    object::{
        is_suspended, name_of, namespace_of, readiness, release_revision, shorten_hashes, text_at,
    },
    source::shown_source,
};

/// What a table shows beside what it always shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Show {
    pub(crate) namespace: bool,
    /// Before the name, as in `gitrepository/app`.
    pub(crate) kind: bool,
    pub(crate) source: bool,
}

/// Whether objects of a kind name the source of what they apply.
pub(crate) fn has_source(kind: &Kind) -> bool {
    matches!(kind.kind, "Kustomization" | "HelmRelease")
}

pub(crate) fn headings(kind: &Kind, show: Show) -> Vec<&'static str> {
    let mut headings = Vec::new();
    headings.extend(show.namespace.then_some("NAMESPACE"));
    headings.push("NAME");
    headings.extend(show.source.then_some("SOURCE"));
    headings.extend(kind.columns.iter().map(|column| column.heading));
    headings.extend(["READY", "MESSAGE"]);
    headings
}

pub(crate) fn cells(kind: &Kind, object: &Node, show: Show) -> Vec<String> {
    let mut cells = Vec::new();
    cells.extend(show.namespace.then(|| namespace_of(object).to_owned()));
    let name = name_of(object);
    cells.push(if show.kind {
        format!("{}/{name}", kind.kind.to_ascii_lowercase())
    } else {
        name.to_owned()
    });
    if show.source {
        cells.push(shown_source(kind, object).map_or_else(String::new, |link| link.to_string()));
    }
    cells.extend(kind.columns.iter().map(|column| cell(&column.cell, object)));
    let (ready, message) = readiness(kind, object);
    let message = if kind.shortens { shorten_hashes(message) } else { message.to_owned() };
    cells.extend([ready.to_owned(), message]);
    cells
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
