//! `flumen resume`.

use clap::{Args, Command};
use flumen_inspect::{
    Site, health,
    kinds::{Control, Kind},
    object::{is_static, name_of},
    readiness, sentence,
};
use flumen_kube::{ObjectName, Resource};
use flumen_yaml::Node;
use futures_util::future::join_all;

use crate::{
    args::{
        flux_site::SiteArgs,
        of_kind::{KindCommand, OfKind, distinct},
        switch::parse_switch,
    },
    error::CommandError,
    runtime::block_on,
    ui::Ui,
};

/// Let suspended objects be reconciled again
///
/// With one name, and with `--wait`, the outcome is waited for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Go on, and wait for the outcome
  flumen resume kustomization apps

  # Several at once, waiting for all of them
  flumen resume source git apps infrastructure --wait

  # All of a namespace
  flumen resume kustomization --all -n apps")]
pub(crate) struct ResumeArgs {
    #[command(subcommand)]
    of_kind: OfKind<KindArgs>,

    /// All of the namespace
    #[arg(long)]
    all: bool,

    /// Wait until they are reconciled; the default is to do so if there is one name
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = parse_switch)]
    wait: Option<bool>,

    #[command(flatten)]
    site: SiteArgs,
}

#[derive(Debug, Args)]
struct KindArgs {
    /// Names of the objects
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl KindCommand for KindArgs {
    fn takes(kind: &Kind) -> bool {
        kind.control >= Control::Suspended
    }

    fn describe(command: Command, kind: &'static Kind) -> Command {
        command.about(format!("Resume objects of kind {}", kind.kind)).after_help(format!(
            "Examples:\n  flumen resume {} app -n apps --timeout 1m",
            kind.words()
        ))
    }
}

pub(crate) fn run(args: &ResumeArgs, ui: &Ui) -> Result<(), CommandError> {
    let kind = args.of_kind.kind()?;
    let names = &args.of_kind.args.names;
    if names.is_empty() && !args.all {
        return Err(CommandError::brief(format!("{} name is required", kind.noun)));
    }
    block_on(async {
        let site = args.site.open(ui).await?;
        let resource = site.resource(kind).await?;
        let resumed = if names.is_empty() {
            let resumed = resume(&site, kind, &resource, None, ui).await;
            resumed.map_err(|error| {
                CommandError::brief(format!("failed patching objects: {}", error.message()))
            })?
        } else {
            let mut resumed = Vec::new();
            for name in distinct(names) {
                resumed.extend(resume(&site, kind, &resource, Some(name), ui).await?);
            }
            resumed
        };
        if args.wait.unwrap_or(names.len() == 1) {
            wait_for_all(&site, kind, &resource, resumed, ui).await?;
        }
        Ok(())
    })
}

/// Resumes one object, or all of the namespace. That there is none is said, and is no failure.
async fn resume(
    site: &Site,
    kind: &Kind,
    resource: &Resource,
    name: Option<&str>,
    ui: &Ui,
) -> Result<Vec<Node>, CommandError> {
    let (noun, namespace) = (kind.noun, site.namespace());
    let objects = site.in_namespace(resource, name).await?;
    if objects.is_empty() {
        let kind = kind.kind;
        ui.failure(&match name {
            Some(name) => format!("{kind} object '{name}' not found in {namespace} namespace"),
            None => format!("no {kind} objects found in {namespace} namespace"),
        });
    }
    for object in &objects {
        ui.step(&format!("resuming {noun} {} in {namespace} namespace", name_of(object)));
        site.suspend(ObjectName { resource, namespace, name: name_of(object) }, false).await?;
        ui.success(&format!("{noun} resumed"));
    }
    Ok(objects)
}

/// Waits for all at the same time, and tells the outcomes in the order of the names.
async fn wait_for_all(
    site: &Site,
    kind: &Kind,
    resource: &Resource,
    mut objects: Vec<Node>,
    ui: &Ui,
) -> Result<(), CommandError> {
    objects.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    let waits = objects.iter().map(|object| {
        ui.waiting(&format!("waiting for {} reconciliation", kind.kind));
        let judge = if is_static(kind, object) { health } else { readiness };
        let name = name_of(object);
        site.follow(ObjectName { resource, namespace: site.namespace(), name }, judge)
    });
    let outcomes = join_all(waits).await;
    let mut failed = 0;
    for (object, outcome) in objects.iter().zip(outcomes) {
        let (kind_name, name) = (kind.kind, name_of(object));
        match outcome {
            Ok(done) => {
                ui.success(&format!("{kind_name} {name} reconciliation completed"));
                ui.success(&sentence(kind, &done));
            }
            Err(reason) => {
                ui.failure(&format!("{kind_name} {name} reconciliation failed: {reason}"));
                failed += 1;
            }
        }
    }
    if failed == 0 {
        return Ok(());
    }
    Err(CommandError::brief(format!("reconciliation failed for {failed} {}(s)", kind.kind)))
}
