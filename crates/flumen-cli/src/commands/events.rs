//! `flumen events`.

use clap::Args;
use flumen_inspect::{
    EventQuery, EventRow, Site,
    events::{is_of_flux, last_seen},
    object::text_at,
};
use flumen_kube::{Cluster as _, Event, Resource, WatchOptions};
use flumen_yaml::Node;
use futures_util::{StreamExt as _, stream::select_all};
use jiff::Timestamp;

use crate::{
    args::flux_site::SiteArgs, error::CommandError, runtime::block_on, ui::Ui,
    view::text_table::TextTable,
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
        let own = (!args.all_namespaces).then_some(site.namespace());
        let with_namespace =
            queries.iter().any(|query| query.namespace.as_deref() != own) || args.all_namespaces;
        let report = Report { args, with_namespace };
        let resource = site.core_resource("Event").await?;
        if args.watch {
            report.watch(&site, &resource, &queries, ui).await
        } else {
            report.list(&site, &resource, &queries, ui).await
        }
    })
}

async fn queries(args: &EventsArgs, site: &Site) -> Result<Vec<EventQuery>, CommandError> {
    let namespace = (!args.all_namespaces).then(|| site.namespace().to_owned());
    let Some(subject) = args.subject.as_deref().filter(|subject| !subject.is_empty()) else {
        return Ok(vec![EventQuery::all(namespace)]);
    };
    let (kind, name) = subject.split_once('/').unwrap_or((subject, ""));
    if kind.is_empty() {
        return Err(CommandError::brief("--for selector must be of format <kind>[/<name>]"));
    }
    Ok(site.event_queries(kind, name, namespace).await?)
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
        queries: &[EventQuery],
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let mut events = Vec::new();
        for query in queries {
            events.extend(site.list(resource, query.options()).await?);
        }
        events.retain(|event| self.is_shown(event));
        events.sort_by_key(last_seen);
        if events.is_empty() {
            let namespace = site.namespace();
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
        queries: &[EventQuery],
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
                    site.client().list(resource, options).await.map_err(CommandError::request)?;
                for event in &list.items {
                    print(event)?;
                }
                let from = WatchOptions { list: options, resource_version: &list.resource_version };
                let stream =
                    site.client().watch(resource, from).await.map_err(CommandError::request)?;
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
        tokio::time::timeout_at(site.deadline(), watching).await.unwrap_or(Ok(()))
    }

    fn is_shown(&self, event: &Node) -> bool {
        let kind = text_at(event, &["type"]);
        let types = &self.args.types;
        is_of_flux(event)
            && (types.is_empty() || types.iter().any(|wanted| wanted.eq_ignore_ascii_case(kind)))
    }

    fn headings(&self) -> Vec<&'static str> {
        let namespace = self.with_namespace.then_some("NAMESPACE");
        namespace.into_iter().chain(["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]).collect()
    }

    fn row(&self, event: &Node) -> Vec<String> {
        let row = EventRow::of(event, Timestamp::now());
        let namespace = self.with_namespace.then_some(row.namespace);
        let cells = [row.last_seen, row.r#type, row.reason, row.object, row.message];
        namespace.into_iter().chain(cells).collect()
    }
}
