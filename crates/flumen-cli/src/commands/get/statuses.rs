//! `flumen get KIND`: Flux's objects and whether they are ready.

use clap::{Args, Command};
use flumen_inspect::{
    Row, Selection, Site,
    kinds::{Family, KINDS, Kind},
};
use flumen_kube::{Cluster as _, Event, Resource, WatchOptions};
use flumen_yaml::Node;
use futures_util::StreamExt as _;

use super::GetArgs;
use crate::{
    args::of_kind::{Chosen, KindCommand, OfKind},
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
    view::text_table::TextTable,
};

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Name of an object; all if absent
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Show where the content comes from
    #[arg(long)]
    show_source: bool,
}

/// Which objects are listed, and how.
#[derive(Debug, Args)]
pub(super) struct ListingArgs {
    /// Those of all namespaces, whatever `-n` says
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Print no headings
    #[arg(long)]
    no_header: bool,

    /// Go on and print what changes
    #[arg(short, long)]
    watch: bool,

    /// Only those with this condition, such as `ready=false` or `ready!=true`
    #[arg(long, value_name = "TYPE=STATUS")]
    status_selector: Option<String>,

    /// Only those with these labels
    #[arg(short, long, value_name = "SELECTOR")]
    label_selector: Option<String>,
}

impl ListingArgs {
    /// For what is not of Flux, and has only the namespaces in common.
    pub(super) fn refuse_any(&self) -> Result<(), CommandError> {
        let given = [
            (self.no_header, "--no-header"),
            (self.watch, "--watch"),
            (self.status_selector.is_some(), "--status-selector"),
            (self.label_selector.is_some(), "--label-selector"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            Some((_, name)) => Err(Failure::new(format!("`{name}` is for Flux's kinds")).into()),
            None => Ok(()),
        }
    }
}

impl KindCommand for StatusArgs {
    const IS_GET: bool = true;

    fn takes(_kind: &Kind) -> bool {
        true
    }

    fn describe(command: Command, kind: &'static Kind) -> Command {
        let family = kind.family.map(|family| format!("{} ", family.get_word()));
        let words = format!("{}{}", family.unwrap_or_default(), kind.get_word);
        command
            .about(format!("List objects of kind {} and whether they are ready", kind.kind))
            .after_help(format!(
                "Examples:\n  # Those of a namespace\n  flumen get {words} -n apps\n\n  \
                 # Those of all namespaces that are not ready\n  flumen get {words} -A --status-selector ready=false"
            ))
            .mut_arg("show_source", |arg| arg.hide(!has_source(kind)))
    }

    fn describe_all(command: Command, family: Option<Family>) -> Command {
        let word = family.map_or_else(String::new, |family| format!("{} ", family.get_word()));
        command
            .about(format!(
                "List all {}objects of Flux and whether they are ready",
                family_name(family)
            ))
            .after_help(format!(
                "Examples:\n  # Those of all namespaces\n  flumen get {word}all -A"
            ))
            .mut_arg("show_source", |arg| arg.hide(true))
    }
}

const fn family_name(family: Option<Family>) -> &'static str {
    match family {
        None => "",
        Some(Family::Source) => "source ",
        Some(Family::Image) => "image ",
        Some(Family::Artifact) => "artifact ",
    }
}

pub(super) fn run(
    of_kind: &OfKind<StatusArgs>,
    GetArgs { listing: args, site, .. }: &GetArgs,
    ui: &Ui,
) -> Result<(), CommandError> {
    let own = &of_kind.args;
    match of_kind.chosen {
        Chosen::All(_) if args.watch => {
            return Err(CommandError::brief("expected a single resource type, but found all"));
        }
        Chosen::One(kind) if has_source(kind) => {}
        _ if own.show_source => return Err(CommandError::brief("unknown flag: --show-source")),
        _ => {}
    }
    block_on(async {
        let site = site.open(ui).await?;
        let listing = Listing::new(own, args, &site)?;
        match of_kind.chosen {
            Chosen::One(kind) if args.watch => listing.watch(kind, ui).await,
            Chosen::One(kind) => listing.one(kind, ui).await,
            Chosen::All(family) => {
                listing.all(family, ui).await;
                Ok(())
            }
        }
    })
}

/// Whether objects of a kind name the source of what they apply.
fn has_source(kind: &Kind) -> bool {
    matches!(kind.kind, "Kustomization" | "HelmRelease")
}

/// What was asked for, ready to be listed.
struct Listing<'a> {
    own: &'a StatusArgs,
    args: &'a ListingArgs,
    site: &'a Site,
    selection: Selection<'a>,
}

impl<'a> Listing<'a> {
    fn new(
        own: &'a StatusArgs,
        args: &'a ListingArgs,
        site: &'a Site,
    ) -> Result<Self, CommandError> {
        let selection = Selection::all((!args.all_namespaces).then_some(site.namespace()))
            .labelled(args.label_selector.as_deref())?
            .with_status(args.status_selector.as_deref())?
            .named(own.names.first().map(String::as_str));
        Ok(Self { own, args, site, selection })
    }

    async fn one(&self, kind: &Kind, ui: &Ui) -> Result<(), CommandError> {
        let rows = self.site.rows(kind, &self.selection).await?;
        ui.data(self.table(kind, rows, false).render().as_bytes())
    }

    /// Kinds that cannot be listed do not keep others from being shown.
    async fn all(&self, family: Option<Family>, ui: &Ui) {
        let is_shown = |kind: &&Kind| match family {
            Some(family) => kind.family == Some(family),
            None => kind.family != Some(Family::Artifact),
        };
        for kind in KINDS.iter().filter(is_shown) {
            if let Err(error) = self.one_of_all(kind, ui).await {
                ui.failure(&error.message());
            }
        }
    }

    async fn one_of_all(&self, kind: &Kind, ui: &Ui) -> Result<(), CommandError> {
        let rows = self.site.rows_if_any(kind, &self.selection).await?;
        if rows.is_empty() {
            return Ok(());
        }
        ui.data(format!("{}\n", self.table(kind, rows, true).render()).as_bytes())
    }

    /// With kinds, they stand before the names, as in `gitrepository/app`.
    fn table(&self, kind: &Kind, rows: Vec<Row>, with_kinds: bool) -> TextTable {
        TextTable {
            headings: if self.args.no_header { Vec::new() } else { self.headings(kind) },
            rows: rows.into_iter().map(|row| self.cells(kind, row, with_kinds)).collect(),
        }
    }

    fn headings(&self, kind: &Kind) -> Vec<&'static str> {
        let mut headings = Vec::new();
        headings.extend(self.args.all_namespaces.then_some("NAMESPACE"));
        headings.push("NAME");
        headings.extend(self.own.show_source.then_some("SOURCE"));
        headings.extend(kind.columns.iter().map(|column| column.heading));
        headings.extend(["READY", "MESSAGE"]);
        headings
    }

    fn cells(&self, kind: &Kind, row: Row, with_kind: bool) -> Vec<String> {
        let mut cells = Vec::new();
        cells.extend(self.args.all_namespaces.then_some(row.namespace));
        cells.push(if with_kind {
            format!("{}/{}", kind.kind.to_ascii_lowercase(), row.name)
        } else {
            row.name
        });
        if self.own.show_source {
            cells.push(row.source.map_or_else(String::new, |link| link.to_string()));
        }
        cells.extend(row.columns);
        cells.extend([row.ready, row.message]);
        cells
    }

    /// Prints objects as they are and whenever they change, each as a table of its own.
    async fn watch(&self, kind: &Kind, ui: &Ui) -> Result<(), CommandError> {
        let resource = self.site.resource(kind).await?;
        let mut is_first = true;
        let mut print = |object: Node| {
            let mut table = self.table(kind, self.selection.rows(kind, &[object]), false);
            if !std::mem::take(&mut is_first) {
                table.headings.clear();
            }
            ui.data(table.render().as_bytes())
        };
        let watching = self.events(&resource, &mut print);
        match tokio::time::timeout_at(self.site.deadline(), watching).await {
            Ok(ended) => ended,
            Err(_) => Err(CommandError::brief("timed out waiting for the condition")),
        }
    }

    async fn events(
        &self,
        resource: &Resource,
        print: &mut impl FnMut(Node) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let (client, options) = (self.site.client(), self.selection.options());
        let list = client.list(resource, options).await.map_err(CommandError::request)?;
        for object in list.items {
            print(object)?;
        }
        let from = WatchOptions { list: options, resource_version: &list.resource_version };
        let mut events = client.watch(resource, from).await.map_err(CommandError::request)?;
        while let Some(event) = events.next().await {
            match event.map_err(CommandError::request)? {
                Event::Applied(object) | Event::Deleted(object) => print(object)?,
                Event::Bookmark { .. } => {}
            }
        }
        Ok(())
    }
}
