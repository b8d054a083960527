//! `flumen suspend`.

use clap::{Args, Command};
use flumen_inspect::{
    Site,
    kinds::{Control, Kind},
    object::name_of,
};
use flumen_kube::{ObjectName, Resource};
use flumen_yaml::Node;

use crate::{
    args::{
        flux_site::SiteArgs,
        of_kind::{KindCommand, OfKind, distinct},
    },
    error::CommandError,
    runtime::block_on,
    ui::Ui,
};

/// Keep objects from being reconciled until they are resumed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Work by hand on what a Kustomization has applied
  flumen suspend kustomization apps

  # Several, or all of a namespace
  flumen suspend source git apps infrastructure
  flumen suspend kustomization --all -n apps")]
pub(crate) struct SuspendArgs {
    #[command(subcommand)]
    of_kind: OfKind<KindArgs>,

    /// All of the namespace
    #[arg(long)]
    all: bool,

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
        command
            .about(format!("Suspend objects of kind {}", kind.kind))
            .after_help(format!("Examples:\n  flumen suspend {} app -n apps", kind.words()))
    }
}

pub(crate) fn run(args: &SuspendArgs, ui: &Ui) -> Result<(), CommandError> {
    let kind = args.of_kind.kind()?;
    let names = &args.of_kind.args.names;
    if names.is_empty() && !args.all {
        return Err(CommandError::brief(format!("{} name is required", kind.noun)));
    }
    block_on(async {
        let site = args.site.open(ui).await?;
        let resource = site.resource(kind).await?;
        if names.is_empty() {
            let objects = site.in_namespace(&resource, None).await?;
            if objects.is_empty() {
                return Err(CommandError::brief("no objects found"));
            }
            return suspend(&site, kind, &resource, &objects, ui).await;
        }
        for name in distinct(names) {
            let namespace = site.namespace();
            // One that cannot be suspended does not keep the others from it, and is no failure.
            let suspended = match site.in_namespace(&resource, Some(name)).await {
                Ok(objects) if objects.is_empty() => {
                    ui.failure(&format!("{} {name} not found in {namespace} namespace", kind.kind));
                    continue;
                }
                Ok(objects) => suspend(&site, kind, &resource, &objects, ui).await,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = suspended {
                ui.failure(&format!(
                    "failed suspending {} {name} in {namespace} namespace: {}",
                    kind.kind,
                    error.message()
                ));
            }
        }
        Ok(())
    })
}

async fn suspend(
    site: &Site,
    kind: &Kind,
    resource: &Resource,
    objects: &[Node],
    ui: &Ui,
) -> Result<(), CommandError> {
    for object in objects {
        let (noun, name, namespace) = (kind.noun, name_of(object), site.namespace());
        ui.step(&format!("suspending {noun} {name} in {namespace} namespace"));
        site.suspend(ObjectName { resource, namespace, name }, true).await?;
        ui.success(&format!("{noun} suspended"));
    }
    Ok(())
}
