//! `flumen events`.

use clap::Args;
use flumen_kinds::table::age;
use flumen_kube::{Cluster as _, Event, ListOptions, Resource, WatchOptions};
use flumen_yaml::Node;
use futures_util::{StreamExt as _, stream::select_all};
use jiff::Timestamp;

use crate::{
    error::CommandError,
    flux::{Kind, Link, Site, SiteArgs, TextTable, kinds::by_name, link, namespace_of, text_at},
    runtime::block_on,
    ui::Ui,
};

const TYPES: [&str; 2] = ["Normal", "Warning"];

/// Show what happened to Flux's objects
///
/// With `--for` and a name, events of the source that the object refers to are shown too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All of a namespace
  flumen events -n apps

  # Those of one object and of its source
  flumen events --for Kustomization/apps

  # What went wrong anywhere
  flumen events -A --types Warning")]
pub(crate) struct EventsArgs {
    /// Events of all namespaces, whatever `-n` says
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Only events of a kind, or of one object
    #[arg(long = "for", value_name = "KIND[/NAME]")]
    subject: Option<String>,

    /// Only events of these types: Normal, Warning
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,

    /// Go on and print what happens
    #[arg(short, long)]
    watch: bool,

    #[command(flatten)]
    site: SiteArgs,
}

pub(crate) fn run(args: &EventsArgs, ui: &Ui) -> Result<(), CommandError> {
    let is_known = |wanted: &&String| !TYPES.iter().any(|known| known.eq_ignore_ascii_case(wanted));
    if let Some(unknown) = args.types.iter().find(is_known) {
        return Err(CommandError::brief(format!(
            "type '{unknown}' not supported. Supported types are Normal, Warning"
        )));
    }
    block_on(async {
        let site = args.site.open(ui).await?;
        let queries = queries(args, &site).await?;
        let own = if args.all_namespaces { None } else { Some(&site.namespace) };
        let with_namespace =
            queries.iter().any(|query| query.namespace.as_ref() != own) || args.all_namespaces;
        let report = Report { args, with_namespace };
        let resource = site.core_resource("Event").await?;
        if args.watch {
            report.watch(&site, &resource, &queries, ui).await
        } else {
            report.list(&site, &resource, &queries, ui).await
        }
    })
}

/// One request for events.
struct Query {
    namespace: Option<String>,
    fields: Option<String>,
}

impl Query {
    fn options(&self) -> ListOptions<'_> {
        ListOptions {
            namespace: self.namespace.as_deref(),
            field_selector: self.fields.as_deref(),
            ..ListOptions::default()
        }
    }
}

/// Flux's kinds of which there are events.
fn kind_with_events(name: &str) -> Option<&'static Kind> {
    by_name(name).filter(|kind| kind.kind != "ExternalArtifact")
}

async fn queries(args: &EventsArgs, site: &Site) -> Result<Vec<Query>, CommandError> {
    let namespace = (!args.all_namespaces).then(|| site.namespace.clone());
    let Some(subject) = args.subject.as_deref().filter(|subject| !subject.is_empty()) else {
        return Ok(vec![Query { namespace, fields: None }]);
    };
    let (kind, name) = match subject.split_once('/') {
        Some((kind, name)) => (kind, name),
        None => (subject, ""),
    };
    if kind.is_empty() {
        return Err(CommandError::brief("--for selector must be of format <kind>[/<name>]"));
    }
    let kind = kind_with_events(kind)
        .ok_or_else(|| CommandError::brief(format!("'{kind}' is not a recognized Flux kind")))?;
    let mut queries = vec![Query { namespace, fields: Some(fields(kind.kind, name)) }];
    if !name.is_empty() {
        queries.extend(references(site, kind, name).await?.into_iter().map(|link| Query {
            fields: Some(fields(&link.kind, &link.name)),
            namespace: Some(link.namespace),
        }));
    }
    Ok(queries)
}

fn fields(kind: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!(",involvedObject.name={name}") };
    format!("involvedObject.kind={kind}{name}")
}

/// The objects whose events belong to those of an object.
async fn references(site: &Site, kind: &Kind, name: &str) -> Result<Vec<Link>, CommandError> {
    let Some(reference) = &kind.reference else { return Ok(Vec::new()) };
    let object = site.find(kind, &site.namespace, name).await?;
    let missing = |field: &str| {
        let path = reference.field.join(".");
        let namespace = &site.namespace;
        CommandError::brief(format!("field '{path}.{field}' for '{namespace}/{name}' not found"))
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
        source.namespace.clone_from(&site.namespace);
    }
    let mut links = vec![source];
    if kind.kind == "HelmRelease" {
        links.push(Link {
            kind: "HelmChart".to_owned(),
            namespace: links[0].namespace.clone(),
            name: format!("{}-{name}", site.namespace),
        });
    }
    Ok(links)
}

struct Report<'a> {
    args: &'a EventsArgs,
    with_namespace: bool,
}

impl Report<'_> {
    async fn list(
        &self,
        site: &Site,
        resource: &Resource,
        queries: &[Query],
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let mut events = Vec::new();
        for query in queries {
            events.extend(site.list(resource, query.options()).await?);
        }
        events.retain(|event| self.is_shown(event));
        events.sort_by_key(last_seen);
        if events.is_empty() {
            let namespace = &site.namespace;
            ui.failure(&if self.args.all_namespaces {
                "No events found.".to_owned()
            } else {
                format!("No events found in {namespace} namespace.")
            });
            return Ok(());
        }
        let rows = events.iter().map(|event| self.row(event)).collect();
        ui.data(TextTable { headings: self.headings(), rows }.render().as_bytes())
    }

    /// Prints each event as a table of its own, until the time is over.
    async fn watch(
        &self,
        site: &Site,
        resource: &Resource,
        queries: &[Query],
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let mut headings = self.headings();
        let mut print = |event: &Node| {
            if !self.is_shown(event) {
                return Ok(());
            }
            let rows = vec![self.row(event)];
            let headings = std::mem::take(&mut headings);
            ui.data(TextTable { headings, rows }.render().as_bytes())
        };
        let watching = async {
            let mut streams = Vec::new();
            for query in queries {
                let options = query.options();
                let list =
                    site.client.list(resource, options).await.map_err(CommandError::request)?;
                for event in &list.items {
                    print(event)?;
                }
                let from = WatchOptions { list: options, resource_version: &list.resource_version };
                let stream =
                    site.client.watch(resource, from).await.map_err(CommandError::request)?;
                streams.push(stream);
            }
            let mut events = select_all(streams);
            while let Some(event) = events.next().await {
                if let Event::Applied(event) = event.map_err(CommandError::request)? {
                    print(&event)?;
                }
            }
            Ok(())
        };
        tokio::time::timeout_at(site.deadline, watching).await.unwrap_or(Ok(()))
    }

    fn is_shown(&self, event: &Node) -> bool {
        let kind = text_at(event, &["type"]);
        let types = &self.args.types;
        kind_with_events(text_at(event, &["involvedObject", "kind"])).is_some()
            && (types.is_empty() || types.iter().any(|wanted| wanted.eq_ignore_ascii_case(kind)))
    }

    fn headings(&self) -> Vec<&'static str> {
        let namespace = self.with_namespace.then_some("NAMESPACE");
        namespace.into_iter().chain(["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]).collect()
    }

    fn row(&self, event: &Node) -> Vec<String> {
        let namespace = self.with_namespace.then(|| namespace_of(event).to_owned());
        let object = format!(
            "{}/{}",
            text_at(event, &["involvedObject", "kind"]),
            text_at(event, &["involvedObject", "name"])
        );
        let text = |field: &str| text_at(event, &[field]).to_owned();
        namespace
            .into_iter()
            .chain([
                times(event, Timestamp::now()),
                text("type"),
                text("reason"),
                object,
                text("message"),
            ])
            .collect()
    }
}

fn time(event: &Node, path: &[&str]) -> Option<Timestamp> {
    text_at(event, path).parse().ok()
}

/// When an event was last seen.
fn last_seen(event: &Node) -> Option<Timestamp> {
    time(event, &["series", "lastObservedTime"])
        .or_else(|| time(event, &["lastTimestamp"]))
        .or_else(|| time(event, &["eventTime"]))
}

/// How long ago an event was seen and, of one that is seen again and again, how often.
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
