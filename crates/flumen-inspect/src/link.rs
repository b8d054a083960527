//! References from one object to another.

use std::fmt;

use flumen_yaml::Node;

use crate::{
    kinds::Kind,
    object::{name_of, namespace_of, text_at},
};

/// A reference to another object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// Reads a field with `kind`, `name` and an optional `namespace`, whose default is the object's own.
pub(crate) fn link(object: &Node, field: &[&str]) -> Option<Link> {
    let reference = object.at(field)?;
    let namespace = match text_at(reference, &["namespace"]) {
        "" => namespace_of(object),
        namespace => namespace,
    };
    Some(Link {
        kind: text_at(reference, &["kind"]).to_owned(),
        namespace: namespace.to_owned(),
        name: text_at(reference, &["name"]).to_owned(),
    })
}

const CHART_REFERENCE: [&str; 2] = ["spec", "chartRef"];

/// Returns the source of an object.
pub(crate) fn source(kind: &Kind, object: &Node) -> Option<Link> {
    let field = kind.reference.as_ref()?.field;
    link(object, &CHART_REFERENCE).or_else(|| link(object, field))
}

/// Returns the object that has to be reconciled first, so that this one gets the latest content.
pub fn source_to_reconcile(kind: &Kind, object: &Node) -> Option<Link> {
    let field = kind.reference.as_ref()?.field;
    if kind.kind != "HelmRelease" {
        return link(object, field);
    }
    // A release without a reference has a chart of its own beside the source of the chart.
    link(object, &CHART_REFERENCE).or_else(|| {
        let source = link(object, field);
        Some(Link {
            kind: "HelmChart".to_owned(),
            namespace: source
                .map_or_else(|| namespace_of(object).to_owned(), |link| link.namespace),
            name: format!("{}-{}", namespace_of(object), name_of(object)),
        })
    })
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}
