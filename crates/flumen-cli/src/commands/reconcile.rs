//! `flumen reconcile`.

use clap::{Args, Command};
use flumen_inspect::{
    Link, REQUESTED_AT, Site, Verdict, health,
    kinds::{Control, Kind, by_name},
    object::{
        Conditions, handled_request, is_static, is_suspended, name_of, namespace_of, text_at,
    },
    sentence, source_to_reconcile,
};
use flumen_kube::ObjectName;
use flumen_yaml::Node;

use crate::{
    args::{
        flux_site::SiteArgs,
        of_kind::{KindCommand, OfKind},
    },
    error::CommandError,
    runtime::block_on,
    ui::Ui,
};

const FORCE: &str = "reconcile.fluxcd.io/forceAt";
const RESET: &str = "reconcile.fluxcd.io/resetAt";

/// Reconcile an object now, and wait for the outcome
///
/// An object that fails is tried again and again, so that the wait ends with `--timeout`; `flumen get` shows why it fails.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Apply what the source has
  flumen reconcile kustomization apps

  # Fetch the source first
  flumen reconcile kustomization apps --with-source

  # Fetch only
  flumen reconcile source git apps")]
pub(crate) struct ReconcileArgs {
    #[command(subcommand)]
    of_kind: OfKind<KindArgs>,

    #[command(flatten)]
    site: SiteArgs,
}

#[derive(Debug, Args)]
struct KindArgs {
    /// Name of the object
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Reconcile its source first
    #[arg(long)]
    with_source: bool,

    /// Install or upgrade the release even if nothing has changed
    #[arg(long)]
    force: bool,

    /// Forget how often the release has failed
    #[arg(long)]
    reset: bool,
}

/// Whether objects of a kind have a source that can be reconciled first.
fn has_source(kind: &Kind) -> bool {
    matches!(kind.kind, "Kustomization" | "HelmRelease" | "HelmChart")
}

fn is_release(kind: &Kind) -> bool {
    kind.kind == "HelmRelease"
}

impl KindCommand for KindArgs {
    fn takes(kind: &Kind) -> bool {
        kind.control == Control::Reconciled
    }

    fn describe(command: Command, kind: &'static Kind) -> Command {
        command
            .about(format!("Reconcile an object of kind {} now", kind.kind))
            .after_help(format!(
                "Examples:\n  flumen reconcile {} app -n apps --timeout 1m",
                kind.words()
            ))
            .mut_arg("with_source", |arg| arg.hide(!has_source(kind)))
            .mut_arg("force", |arg| arg.hide(!is_release(kind)))
            .mut_arg("reset", |arg| arg.hide(!is_release(kind)))
    }
}

pub(crate) fn run(
    ReconcileArgs { of_kind, site }: &ReconcileArgs,
    ui: &Ui,
) -> Result<(), CommandError> {
    let (kind, args) = (of_kind.kind()?, &of_kind.args);
    for (is_given, is_known, name) in [
        (args.with_source, has_source(kind), "--with-source"),
        (args.force, is_release(kind), "--force"),
        (args.reset, is_release(kind), "--reset"),
    ] {
        if is_given && !is_known {
            return Err(CommandError::brief(format!("unknown flag: {name}")));
        }
    }
    let Some(name) = args.names.first() else {
        return Err(CommandError::brief(format!("{} name is required", kind.kind)));
    };
    block_on(async {
        let site = site.open(ui).await?;
        let chain = chain(&site, kind, name, args.with_source).await?;
        for (step, (kind, object)) in chain.iter().enumerate().rev() {
            let mut requests = vec![REQUESTED_AT];
            if step == 0 {
                requests.extend(args.force.then_some(FORCE));
                requests.extend(args.reset.then_some(RESET));
            }
            reconcile(&site, kind, object, &requests, ui).await?;
        }
        Ok(())
    })
}

/// The object and, if asked, where its content comes from: all that is reconciled, the last first.
async fn chain(
    site: &Site,
    kind: &'static Kind,
    name: &str,
    with_source: bool,
) -> Result<Vec<(&'static Kind, Node)>, CommandError> {
    let mut chain = Vec::new();
    let mut kind = kind;
    let (mut namespace, mut name) = (site.namespace().to_owned(), name.to_owned());
    loop {
        let object = site.find(kind, &namespace, &name).await?;
        if !is_static(kind, &object) && is_suspended(&object) {
            return Err(CommandError::brief("resource is suspended"));
        }
        // The source of a chart always comes with the chart.
        let has_source = with_source && (chain.is_empty() || kind.kind == "HelmChart");
        let source = source_to_reconcile(kind, &object).filter(|_| has_source);
        chain.push((kind, object));
        let Some(source) = source else { return Ok(chain) };
        let found = by_name(&source.kind).filter(|kind| kind.control == Control::Reconciled);
        kind = found.ok_or_else(|| {
            CommandError::brief(format!("cannot reconcile source of kind {}", source.kind))
        })?;
        Link { namespace, name, .. } = source;
    }
}

/// Asks the controller of an object to work now, and waits for the outcome.
async fn reconcile(
    site: &Site,
    kind: &Kind,
    object: &Node,
    requests: &[&str],
    ui: &Ui,
) -> Result<(), CommandError> {
    if is_static(kind, object) {
        ui.success("reconciliation not supported by the object");
        return Ok(());
    }
    let (namespace, name) = (namespace_of(object), name_of(object));
    let resource = site.resource(kind).await?;
    let target = ObjectName { resource: &resource, namespace, name };
    ui.step(&format!("annotating {} {name} in {namespace} namespace", kind.kind));
    site.request(target, requests).await?;
    ui.success(&format!("{} annotated", kind.kind));
    ui.waiting(&format!("waiting for {} reconciliation", kind.kind));
    let before = handled_request(object);
    let judge = |now: &Node| {
        if handled_request(now) == before { Verdict::NotYet } else { health(now) }
    };
    let done = site.follow(target, judge).await?;
    let Some(ready) = Conditions::of(&done).ready() else {
        return Err(CommandError::brief("status can't be determined"));
    };
    if text_at(ready, &["status"]) != "True" {
        let message = text_at(ready, &["message"]);
        return Err(CommandError::brief(format!("{} reconciliation failed: {message}", kind.kind)));
    }
    ui.success(&sentence(kind, &done));
    Ok(())
}
