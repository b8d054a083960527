//! `flumen controller`.

use std::{
    net::{AddrParseError, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{ArgAction, Args};
use flumen_controller::Options;

use crate::{
    cluster_args::ClusterArgs,
    duration, env,
    error::{CommandError, Failure},
    local_sources::LocalSource,
    memory,
    runtime::block_on,
    signals::Signals,
    ui::Ui,
};

/// Reconcile Flux's sources and Kustomizations
///
/// Serves `OCIRepository`, `GitRepository`, `ExternalArtifact` and `Kustomization` as Flux does, on the cluster of the
/// kubeconfig, or on the one that it runs in. The definitions of these kinds must be there. Logs go to stderr, a line of
/// JSON each.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Beside a cluster, with its artifacts in a directory
  flumen controller --kubeconfig ~/.kube/config --storage-path ./artifacts

  # As Flux behaves: unknown kinds fail, drift waits for the interval, everything may be pruned
  flumen controller --defer-unknown-kinds=false --correct-drift-at-once=false --prune-guard=off")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ControllerArgs {
    /// Directory of artifacts
    #[arg(long, visible_alias = "storage", value_name = "DIR", default_value = "/data")]
    storage_path: PathBuf,

    /// Address at which artifacts are served to others, such as `:9090`; without it they are not
    #[arg(long, value_name = "ADDRESS", value_parser = listening_address)]
    storage_addr: Option<SocketAddr>,

    /// Host and port under which others fetch artifacts
    #[arg(long, value_name = "ADDRESS", default_value = "localhost")]
    storage_adv_addr: String,

    /// Passes that work at the same time; those that only wait do not count
    #[arg(long, value_name = "NUMBER", default_value_t = 16)]
    concurrent: usize,

    /// Requests of one pass that are under way at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    concurrent_ssa: usize,

    /// Until a source that is not there yet is looked for again
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    requeue_dependency: Duration,

    /// How far intervals are spread, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5)]
    interval_jitter_percentage: u32,

    /// Until something that failed is tried again for the first time
    #[arg(long, value_name = "DURATION", default_value = "750ms", value_parser = duration::parse)]
    min_retry_delay: Duration,

    /// The longest time until something that failed is tried again
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = duration::parse)]
    max_retry_delay: Duration,

    /// Watch all namespaces; otherwise the one that `RUNTIME_NAMESPACE` names
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    watch_all_namespaces: bool,

    /// Only objects with these labels
    #[arg(long, value_name = "SELECTOR")]
    watch_label_selector: Option<String>,

    /// Watch every `ConfigMap` and `Secret` that is referred to, not only those with `reconcile.fluxcd.io/watch: Enabled`
    #[arg(long)]
    watch_all_references: bool,

    /// Service account that is impersonated where an object names none
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,

    /// Refuse sources of other namespaces
    #[arg(long, value_name = "BOOL", default_value_t = false, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    no_cross_namespace_refs: bool,

    /// Refuse bases that are fetched from elsewhere during a build
    #[arg(long, value_name = "BOOL", default_value_t = false, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    no_remote_bases: bool,

    /// Managers whose fields are taken over, beside kubectl
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    override_manager: Vec<String>,

    /// Wait for kinds that are not served yet; otherwise they fail the Kustomization, as in Flux
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    defer_unknown_kinds: bool,

    /// Correct drift when it is seen; otherwise at the interval, as in Flux
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    correct_drift_at_once: bool,

    /// Whether deleting most of what a Kustomization has needs a word; off in Flux
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    prune_guard: String,

    /// Switches of Flux: `Name=true,Other=false`
    #[arg(long, value_name = "GATES", value_delimiter = ',')]
    feature_gates: Vec<String>,

    /// Answer a source from a directory, `NAMESPACE/NAME=DIR`, and follow what changes in it
    #[arg(long, value_name = "SOURCE=DIR", value_parser = LocalSource::parse_named)]
    source: Vec<LocalSource>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(crate) fn run(args: &ControllerArgs, ui: &Ui) -> Result<(), CommandError> {
    memory::return_at_once();
    let options = args.options(ui)?;
    log_to_stderr();
    block_on(async {
        let mut signals = Signals::listen()?;
        let client = args.cluster.connect().await?;
        let stop = signals.wait();
        flumen_controller::run(client, options, stop)
            .await
            .map_err(|error| Failure::new(error.to_string()).into())
    })
}

/// A line of JSON for each outcome.
fn log_to_stderr() {
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .try_init();
}

impl ControllerArgs {
    fn options(&self, ui: &Ui) -> Result<Options, CommandError> {
        let namespace = if self.watch_all_namespaces { None } else { env::runtime_namespace() };
        if !self.watch_all_namespaces && namespace.is_none() {
            let message = "`--watch-all-namespaces=false` needs RUNTIME_NAMESPACE to name one";
            return Err(Failure::new(message).into());
        }
        let mut options = Options {
            storage: self.storage_path.clone(),
            serve_at: self.storage_addr,
            advertised_host: self.storage_adv_addr.clone(),
            concurrent: self.concurrent,
            concurrent_requests: self.concurrent_ssa.max(1),
            requeue_dependency: self.requeue_dependency,
            interval_jitter: self.interval_jitter_percentage,
            min_retry_delay: self.min_retry_delay,
            max_retry_delay: self.max_retry_delay,
            namespace,
            selector: self.watch_label_selector.clone(),
            default_service_account: self.default_service_account.clone(),
            no_cross_namespace_refs: self.no_cross_namespace_refs,
            no_remote_bases: self.no_remote_bases,
            override_managers: self.override_manager.clone(),
            defer_unknown_kinds: self.defer_unknown_kinds,
            correct_drift_at_once: self.correct_drift_at_once,
            prune_guard: self.prune_guard == "on",
            watch_all_references: self.watch_all_references,
            ..Options::default()
        };
        for gate in &self.feature_gates {
            set_gate(&mut options, gate, ui)?;
        }
        for source in &self.source {
            source.add_to(&mut options.local_sources)?;
        }
        Ok(options)
    }
}

/// Sets what one of Flux's switches stands for. Those without meaning here are told and passed over.
fn set_gate(options: &mut Options, gate: &str, ui: &Ui) -> Result<(), CommandError> {
    let (name, value) = gate.split_once('=').unwrap_or((gate, "true"));
    let is_on: bool = value.trim().parse().map_err(|_| {
        let message = format!("`--feature-gates {gate}`: expected `{name}=true` or `{name}=false`");
        Failure::new(message)
    })?;
    match name.trim() {
        "StrictPostBuildSubstitutions" => options.strict_substitutions = is_on,
        "ExternalArtifact" => options.external_artifacts = is_on,
        "CancelHealthCheckOnNewRevision" => options.cancel_health_checks = is_on,
        other => ui.talk(&format!("note: the feature gate `{other}` has no meaning here\n")),
    }
    Ok(())
}

/// Reads an address; without a host it is that of every interface, as Flux writes it.
fn listening_address(text: &str) -> Result<SocketAddr, AddrParseError> {
    if text.starts_with(':') { format!("0.0.0.0{text}").parse() } else { text.parse() }
}
