//! Events of Flux's objects.

use flumen_kinds::table::age;
use flumen_kube::ListOptions;
use flumen_yaml::Node;
use jiff::Timestamp;

use crate::{
    Error, Link, Site,
    kinds::{Kind, by_name},
    link::link,
    object::{namespace_of, text_at},
};

/// One request for events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventQuery {
    /// `None` for all namespaces.
    pub namespace: Option<String>,
    field_selector: Option<String>,
}

impl EventQuery {
    /// All events.
    pub const fn all(namespace: Option<String>) -> Self {
        Self { namespace, field_selector: None }
    }

    /// Events of a kind, or of one object if `name` is not empty.
    fn of(kind: &str, name: &str, namespace: Option<String>) -> Self {
        let name =
            if name.is_empty() { String::new() } else { format!(",involvedObject.name={name}") };
        Self { namespace, field_selector: Some(format!("involvedObject.kind={kind}{name}")) }
    }

    pub fn options(&self) -> ListOptions<'_> {
        ListOptions {
            namespace: self.namespace.as_deref(),
            field_selector: self.field_selector.as_deref(),
            ..ListOptions::default()
        }
    }
}

/// An event as a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub namespace: String,
    /// Age, and of a series also how often.
    pub last_seen: String,
    /// `Normal` or `Warning`.
    pub r#type: String,
    pub reason: String,
    /// `Kind/name`
    pub object: String,
    pub message: String,
}

impl EventRow {
    pub fn of(event: &Node, now: Timestamp) -> Self {
        let text = |field: &str| text_at(event, &[field]).to_owned();
        let involved = |field: &str| text_at(event, &["involvedObject", field]);
        Self {
            namespace: namespace_of(event).to_owned(),
            last_seen: times(event, now),
            r#type: text("type"),
            reason: text("reason"),
            object: format!("{}/{}", involved("kind"), involved("name")),
            message: text("message"),
        }
    }
}

/// Returns the kind of this name, if its objects have events.
fn kind_with_events(name: &str) -> Option<&'static Kind> {
    by_name(name).filter(|kind| kind.kind != "ExternalArtifact")
}

/// Whether it is an event of one of Flux's objects.
pub fn is_of_flux(event: &Node) -> bool {
    kind_with_events(text_at(event, &["involvedObject", "kind"])).is_some()
}

/// Returns when an event was last seen.
pub fn last_seen(event: &Node) -> Option<Timestamp> {
    time(event, &["series", "lastObservedTime"])
        .or_else(|| time(event, &["lastTimestamp"]))
        .or_else(|| time(event, &["eventTime"]))
}

fn time(event: &Node, path: &[&str]) -> Option<Timestamp> {
    text_at(event, path).parse().ok()
}

/// The age of an event and, if it was seen more than once, how often.
fn times(event: &Node, now: Timestamp) -> String {
    let first = time(event, &["eventTime"]).or_else(|| time(event, &["firstTimestamp"]));
    let first = age(first, now);
    let series = event.get("series").filter(|series| series.is_map());
    let (last, count) = match series {
        Some(series) => (time(series, &["lastObservedTime"]), text_at(series, &["count"])),
        None => (time(event, &["lastTimestamp"]), text_at(event, &["count"])),
    };
    if series.is_none() && count.parse::<u64>().unwrap_or(0) <= 1 {
        return first;
    }
    format!("{} (x{count} over {first})", age(last, now))
}

impl Site {
    /// Returns the requests for the events of a kind in a namespace, or, with a name, of one object and the objects that
    /// its content comes from.
    pub async fn event_queries(
        &self,
        kind: &str,
        name: &str,
        namespace: Option<String>,
    ) -> Result<Vec<EventQuery>, Error> {
        let kind = kind_with_events(kind).ok_or_else(|| Error::UnknownKind(kind.to_owned()))?;
        let mut queries = vec![EventQuery::of(kind.kind, name, namespace)];
        if !name.is_empty() {
            let references = self.references(kind, name).await?.into_iter();
            queries.extend(
                references.map(|link| EventQuery::of(&link.kind, &link.name, Some(link.namespace))),
            );
        }
        Ok(queries)
    }

    /// The objects that the content of an object comes from.
    async fn references(&self, kind: &Kind, name: &str) -> Result<Vec<Link>, Error> {
        let Some(reference) = &kind.reference else { return Ok(Vec::new()) };
        let object = self.find(kind, self.namespace(), name).await?;
        let missing = |field: &str| Error::NoField {
            field: format!("{}.{field}", reference.field.join(".")),
            namespace: self.namespace().to_owned(),
            name: name.to_owned(),
        };
        let mut source = link(&object, reference.field).ok_or_else(|| missing("kind"))?;
        if let Some(kind) = reference.kind {
            kind.clone_into(&mut source.kind);
        }
        if source.kind.is_empty() {
            return Err(missing("kind"));
        }
        if source.name.is_empty() {
            return Err(missing("name"));
        }
        if !reference.crosses_namespaces {
            self.namespace().clone_into(&mut source.namespace);
        }
        let mut links = vec![source];
        if kind.kind == "HelmRelease" {
            links.push(Link {
                kind: "HelmChart".to_owned(),
                namespace: links[0].namespace.clone(),
                name: format!("{}-{name}", self.namespace()),
            });
        }
        Ok(links)
    }
}
