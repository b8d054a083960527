//! `flumen up`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use flumen_local::{CONTEXT, Home, Instance, InstanceOptions, Record, State};
use flumen_object::ObjectId;
use flumen_registry::Report;
use flumen_sim::{Controllers, Pace};

use crate::{
    detached, duration,
    error::{CommandError, Failure},
    examples::{Example, Unpacked},
    home_args::HomeArgs,
    live_view,
    local_delivery::{Place, deliver_locally},
    memory, merged_kubeconfig,
    runtime::block_on,
    signals::Signals,
    tree_view,
    ui::Ui,
};

/// Said when there is nothing left to do but to serve.
const UNTIL: &str = "running until Ctrl-C";

/// Run a cluster on this machine: an API server, controllers and a registry
///
/// No container runs in it. Workloads are simulated: their pods become ready after a moment without ever
/// doing anything, so that deliveries, waits and rollouts can be tried as on a real cluster.
///
/// With DIR, that kustomization (or those manifests) is built, packed into an artifact in the registry, planned
/// and applied; then it is shown what runs, on a terminal for as long as it runs. When a cluster runs already, DIR goes to that one.
///
/// If DIR is a repository for Flux (it has `flux-system/gotk-sync.yaml` somewhere), the controller runs as well and reconciles
/// the sources and Kustomizations of it. The repository's own source is answered from DIR: nothing is cloned, and what you
/// save is delivered at once.
///
/// Runs until Ctrl-C. What it holds is kept, and the next `up` goes on with it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # A cluster, and something in it
  flumen up examples/quickstart

  # In the background, for scripts
  flumen up --detach && export KUBECONFIG=$(flumen status -o json | jq -r .kubeconfig)

  # One that leaves nothing behind
  flumen up --ephemeral --example quickstart

  # A repository for Flux, with the files as they are in the directory
  flumen up examples/flux-repo
  flumen up ~/src/fleet --path clusters/staging --source apps/podinfo=../podinfo")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that users know by its name")]
pub(crate) struct UpArgs {
    /// Directory to deliver: a kustomization, manifests, or a repository for Flux
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Deliver an example that comes with the program
    #[arg(long, value_enum, value_name = "NAME", conflicts_with = "directory")]
    example: Option<Example>,

    /// Which cluster of a repository for Flux, if it has several: the directory, from DIR
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,

    /// Answer a source from a directory, and follow what changes in it. `DIR` makes a `GitRepository` of that
    /// name in flux-system; `NAMESPACE/NAME=DIR` stands for one that the repository has
    #[arg(long, value_name = "DIR", value_parser = LocalSource::parse)]
    source: Vec<LocalSource>,

    #[command(flatten)]
    home: HomeArgs,

    /// Keep everything in memory, and forget it at the end
    #[arg(long, conflicts_with_all = ["data", "detach"])]
    ephemeral: bool,

    /// Go on in the background; `flumen down` ends it
    #[arg(long)]
    detach: bool,

    /// End when the delivery is done and everything is ready
    #[arg(long, conflicts_with = "detach")]
    once: bool,

    /// Add the context `flumen` to your kubeconfig, and make it the current one
    #[arg(long)]
    merge: bool,

    /// Port of the API server; 0 takes that of the last time, or a free one
    #[arg(long, value_name = "PORT", default_value = "0")]
    port: u16,

    /// Port of the registry; 0 takes that of the last time, or a free one
    #[arg(long, value_name = "PORT", default_value = "0")]
    registry_port: u16,

    /// How long simulated pods take to become ready
    #[arg(long, value_name = "DURATION", default_value = "300ms", value_parser = duration::parse)]
    startup_time: Duration,

    /// How long the delivery may take
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    timeout: Duration,
}

pub(crate) fn run(args: &UpArgs, ui: &Ui) -> Result<(), CommandError> {
    let source = args.source()?;
    let directory = source.as_ref().map(Source::path);
    let order = args.order(directory.as_deref(), ui)?;
    memory::return_at_once();
    block_on(async {
        let home = (!args.ephemeral).then(|| args.home.home()).transpose()?;
        let running = match &home {
            Some(home) => already_running(home)?,
            None => None,
        };
        match (running, home) {
            (Some((home, record)), _) => {
                greet(&home, &record, ui);
                args.merge_into_users_own(&home, ui)?;
                args.use_running(&order, &home, &record, ui).await
            }
            (None, Some(home)) if args.detach => {
                let record = detached::start(&home, &args.of_the_server(&order)).await?;
                greet(&home, &record, ui);
                args.merge_into_users_own(&home, ui)?;
                match &order {
                    Order::Reconcile(bootstrap) => {
                        let client = args.place(&home, &record).client().await?;
                        flux_up::until_ready(&client, bootstrap, Pulse::Clock, args.timeout, ui).await
                    }
                    _ => args.deliver_and_show(order.directory(), &home, &record, ui).await,
                }
            }
            (None, home) => args.serve(home, &order, ui).await,
        }
    })
}
    async fn deliver_and_show(
        &self,
        source: Option<&Path>,
        home: &Home,
        record: &Record,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let applied = self.deliver(source, home, record, ui).await?;
        if applied.is_empty() {
            return Ok(());
        }
        let client = self.place(home, record).client().await?;
        ui.styled_data(&tree_view::of(&client, &applied).await?)
    }

    async fn deliver(
        &self,
        source: Option<&Path>,
        home: &Home,
        record: &Record,
        ui: &Ui,
    ) -> Result<Vec<ObjectId>, CommandError> {
        match source {
            Some(source) => deliver_locally(source, &self.place(home, record), ui).await,
            None => Ok(Vec::new()),
        }
    }

    fn place(&self, home: &Home, record: &Record) -> Place {
        Place {
            registry: record.registry.clone(),
            kubeconfig: home.kubeconfig(),
            timeout: self.timeout,
        }
    }

    fn merge_into_users_own(&self, home: &Home, ui: &Ui) -> Result<(), CommandError> {
        if self.merge {
            let file = merged_kubeconfig::merge(&home.kubeconfig(), CONTEXT)?;
            ui.success(&format!("context `{CONTEXT}` is in {}", file.display()));
        }
        Ok(())
    }

    fn source(&self) -> Result<Option<Source>, CommandError> {
        match (&self.directory, self.example) {
            (Some(directory), _) if !directory.is_dir() => {
                Err(Failure::new(format!("`{}` is no directory", directory.display()))
                    .hint("name a directory with a kustomization or with manifests")
                    .into())
            }
            (Some(directory), _) => Ok(Some(Source::Directory(directory.clone()))),
            (None, Some(example)) => Ok(Some(Source::Example(example.unpack()?))),
            (None, None) => Ok(None),
        }
    }

    /// The options that concern a process that only serves.
    fn of_the_server(&self) -> Vec<String> {
        vec![
            format!("--port={}", self.port),
            format!("--registry-port={}", self.registry_port),
            format!("--startup-time={}ms", self.startup_time.as_millis()),
        ]
    }
}

/// What is delivered.
enum Source {
    Directory(PathBuf),
    Example(Unpacked),
}

impl Source {
    fn path(&self) -> PathBuf {
        match self {
            Self::Directory(path) => path.clone(),
            Self::Example(example) => example.path(),
        }
    }
}

fn greet(home: &Home, record: &Record, ui: &Ui) {
    ui.success(&format!(
        "API server at {} (workloads are simulated, no container runs)",
        record.server
    ));
    ui.success(&format!("registry at {}", record.registry));
    ui.step(&format!("export KUBECONFIG={}", home.kubeconfig().display()));
}
