//! `flumen up`.

mod deliver;
mod detached;
mod examples;
mod flux;
mod live_view;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use flumen_inspect::Forest;
use flumen_kube::Client;
use flumen_local::{
    Bootstrap, CONTEXT, FluxRepository, Home, Instance, InstanceOptions, LocalSource, Place,
    Record, State, context_of, merge_kubeconfig,
};
use flumen_registry::Report;
use flumen_sim::{Controllers, Pace};

use self::{
    deliver::deliver_locally,
    examples::{Example, Unpacked},
    live_view::Pulse,
};
use crate::{
    args::{duration, env, home::HomeArgs},
    error::{CommandError, Failure},
    memory,
    runtime::block_on,
    signals::Signals,
    ui::Ui,
    view::{narrator::Narrator, object_tree},
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
/// the sources and Kustomizations of it. The repository's own source, from which the entry point is built, is answered from
/// DIR: nothing is cloned, and what you save is delivered at once.
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

    /// Add a context to your kubeconfig, and make it the current one: `flumen`, or one named after `--data`
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
    memory::serve();
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
                    Order::Serve => Ok(()),
                    Order::Deliver(directory) => {
                        args.deliver_and_show(directory, &home, &record, ui).await
                    }
                    // The process in the background has begun it.
                    Order::Reconcile(bootstrap) => {
                        let client = place(&home, &record).client().await?;
                        bootstrap.request_reconciliations(&client).await?;
                        let (mut pulse, mut narrator) = (Pulse::Clock, Narrator::default());
                        args.until_ready(&client, bootstrap, &mut pulse, &mut narrator, ui).await
                    }
                }
            }
            (None, home) => args.serve(home, &order, ui).await,
        }
    })
}

fn already_running(home: &Home) -> Result<Option<(Home, Record)>, CommandError> {
    Ok(match home.state()? {
        State::Running(record) => Some((home.clone(), record)),
        _ => None,
    })
}

impl UpArgs {
    /// Runs here until somebody ends it.
    async fn serve(&self, home: Option<Home>, order: &Order, ui: &Ui) -> Result<(), CommandError> {
        let mut signals = Signals::listen()?;
        let instance = Instance::start(InstanceOptions {
            home,
            port: self.port,
            registry_port: self.registry_port,
            controllers: Controllers::All,
            pace: Pace { start: self.startup_time, ..Pace::default() },
            report: Report::to(|failure| Ui::new().warnings(&[failure.to_owned()])),
        })
        .await?;
        greet(instance.home(), instance.record(), ui);
        tokio::spawn(memory::forget_start());
        let outcome = tokio::select! {
            outcome = self.work(order, &instance, ui) => outcome,
            () = signals.wait() => Ok(()),
        };
        instance.shutdown().await;
        ui.success("stopped");
        outcome
    }

    /// Delivers, then shows what runs for as long as it runs.
    async fn work(&self, order: &Order, instance: &Instance, ui: &Ui) -> Result<(), CommandError> {
        let (home, record) = (instance.home(), instance.record());
        let api = instance.server().api();
        self.merge_into_users_own(home, ui)?;
        if let Order::Reconcile(bootstrap) = order {
            return self.reconcile(bootstrap, home, record, Pulse::of(api)?, ui).await;
        }
        if self.once || !live_view::has_screen() {
            if let Order::Deliver(directory) = order {
                self.deliver_and_show(directory, home, record, ui).await?;
            }
            if self.once {
                return Ok(());
            }
            ui.step(UNTIL);
            return std::future::pending().await;
        }
        let delivered = match order {
            Order::Deliver(directory) => {
                deliver_locally(directory, &place(home, record), self.timeout, ui).await
            }
            _ => Ok(Vec::new()),
        };
        // Somebody who sits there may want to look at what went wrong.
        let applied = delivered.unwrap_or_else(|error| {
            error.report(ui);
            Vec::new()
        });
        ui.step(UNTIL);
        let client = place(home, record).client().await?;
        live_view::show(api, &client, &applied).await
    }

    /// Uses a cluster that another process runs.
    async fn use_running(
        &self,
        order: &Order,
        home: &Home,
        record: &Record,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        match order {
            Order::Serve => Ok(()),
            Order::Deliver(directory) => self.deliver_and_show(directory, home, record, ui).await,
            Order::Reconcile(bootstrap) => {
                let mut signals = Signals::listen()?;
                tokio::select! {
                    outcome = self.reconcile(bootstrap, home, record, Pulse::Clock, ui) => outcome,
                    () = signals.wait() => Ok(()),
                }
            }
        }
    }

    /// Runs the controller, and shows what it does for as long as it runs.
    async fn reconcile(
        &self,
        bootstrap: &Bootstrap,
        home: &Home,
        record: &Record,
        mut pulse: Pulse,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let client = place(home, record).client().await?;
        let mut controller = flux::start(bootstrap, &client, home, self.timeout, ui).await?;
        let follow = async {
            if live_view::has_screen() && !self.once {
                ui.step(UNTIL);
                return flux::show(&client, &mut pulse).await;
            }
            let mut narrator = Narrator::default();
            let ready = self.until_ready(&client, bootstrap, &mut pulse, &mut narrator, ui).await;
            if self.once {
                return ready;
            }
            // What is not ready yet may become so.
            if let Err(error) = ready {
                error.report(ui);
            }
            ui.step(UNTIL);
            flux::narrate(&client, &mut pulse, &mut narrator, ui).await
        };
        tokio::select! {
            outcome = follow => outcome,
            failure = controller.failed() => Err(failure.into()),
        }
    }

    async fn until_ready(
        &self,
        client: &Client,
        bootstrap: &Bootstrap,
        pulse: &mut Pulse,
        narrator: &mut Narrator,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        flux::until_ready(client, bootstrap, pulse, narrator, self.timeout, ui).await
    }

    async fn deliver_and_show(
        &self,
        directory: &Path,
        home: &Home,
        record: &Record,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let place = place(home, record);
        let applied = deliver_locally(directory, &place, self.timeout, ui).await?;
        let forest = Forest::of_applied(&place.client().await?, &applied).await?;
        ui.styled_data(&object_tree::render(&forest))
    }

    /// The name of the context in the user's own file, so that no cluster takes that of another.
    fn context(&self, home: &Home) -> String {
        match &self.home.data {
            // The next one that leaves nothing behind may take its place.
            None if self.ephemeral => format!("{CONTEXT}-ephemeral"),
            None => CONTEXT.to_owned(),
            Some(_) => context_of(home.path()),
        }
    }

    fn merge_into_users_own(&self, home: &Home, ui: &Ui) -> Result<(), CommandError> {
        if self.merge {
            let name = self.context(home);
            let file = env::kubeconfigs().into_iter().next().ok_or_else(|| {
                Failure::new("there is no place for a kubeconfig").hint("set `HOME`")
            })?;
            merge_kubeconfig(&home.kubeconfig(), CONTEXT, &file, &name)?;
            ui.success(&format!("context `{name}` is in {}", file.display()));
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

    /// What is asked for.
    fn order(&self, directory: Option<&Path>, ui: &Ui) -> Result<Order, CommandError> {
        let repository = match directory {
            Some(directory) => FluxRepository::find(directory, self.path.as_deref())?,
            None => None,
        };
        let mut bootstrap = match (&repository, directory) {
            (Some(repository), _) => {
                ui.step(&format!("entry point {}", repository.entry().display()));
                let built = repository.build()?;
                ui.warnings(&built.warnings);
                let bootstrap = repository.bootstrap(built.objects)?;
                if !bootstrap.has_sources() && !self.source.iter().any(LocalSource::is_named) {
                    return Err(repository.unsourced().into());
                }
                bootstrap
            }
            (None, None) if self.source.is_empty() => return Ok(Order::Serve),
            (None, None) => Bootstrap::default(),
            (None, Some(directory)) if self.source.is_empty() => {
                return Ok(Order::Deliver(directory.to_owned()));
            }
            (None, Some(directory)) => {
                let directory = directory.display();
                return Err(Failure::new(format!("`{directory}` is no repository for Flux"))
                    .hint("`--source` goes with such a repository, or stands alone")
                    .into());
            }
        };
        for source in &self.source {
            bootstrap.add(source)?;
        }
        Ok(Order::Reconcile(Box::new(bootstrap)))
    }

    /// The options that concern a process that serves; if it is to reconcile, also what.
    fn of_the_server(&self, order: &Order) -> Vec<OsString> {
        let mut options: Vec<OsString> = vec![
            format!("--port={}", self.port).into(),
            format!("--registry-port={}", self.registry_port).into(),
            format!("--startup-time={}ms", self.startup_time.as_millis()).into(),
        ];
        if matches!(order, Order::Reconcile(_)) {
            options
                .extend(self.example.map(|example| format!("--example={}", example.name()).into()));
            options.extend(self.path.iter().flat_map(|path| ["--path".into(), path.into()]));
            for source in &self.source {
                options.extend(["--source".into(), source.to_string().into()]);
            }
            options.extend(self.directory.iter().map(OsString::from));
        }
        options
    }
}

/// What a cluster is for.
enum Order {
    /// To be there.
    Serve,
    /// A kustomization, or manifests.
    Deliver(PathBuf),
    /// Sources and Kustomizations.
    Reconcile(Box<Bootstrap>),
}

/// Where what is delivered comes from.
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

fn place(home: &Home, record: &Record) -> Place {
    Place { registry: record.registry.clone(), kubeconfig: home.kubeconfig() }
}

fn greet(home: &Home, record: &Record, ui: &Ui) {
    ui.success(&format!(
        "API server at {} (workloads are simulated, no container runs)",
        record.server
    ));
    ui.success(&format!("registry at {}", record.registry));
    ui.step(&format!("export KUBECONFIG={}", home.kubeconfig().display()));
}
