//! Which object an object depends on.

use flumen_yaml::Node;

use super::{
    Kind,
    object::{name_of, namespace_of, text_at},
};

/// A reference to another object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Follows a field with `kind`, `name` and perhaps `namespace`; without one it is that of the object.
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

/// Where the content of an object comes from, as `--show-source` shows it.
pub(crate) fn shown_source(kind: &Kind, object: &Node) -> Option<Link> {
    let field = kind.reference.as_ref()?.field;
    link(object, &CHART_REFERENCE).or_else(|| link(object, field))
}

/// What has to be reconciled before the object so that it sees the latest.
pub(crate) fn source_to_reconcile(kind: &Kind, object: &Node) -> Option<Link> {
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

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}
