//! `flumen controller`.

mod accepted;
mod election;
mod gates;
mod logs;
mod values;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgAction, Args};
use flumen_controller::{Listen, Options, RunError};
use flumen_git::SshAlgorithms;
use flumen_local::LocalSource;
use flumen_object::GroupKind;
use flumen_source::Retention;

use self::{
    accepted::AcceptedArgs,
    election::ElectionArgs,
    gates::Effect,
    logs::LogArgs,
    values::{address, default_listen, go_bool, go_duration, listen},
};
use crate::{
    args::{cluster::ClusterArgs, env},
    error::{CommandError, Failure},
    memory,
    runtime::block_on_one_thread,
    signals::Signals,
    ui::Ui,
};

/// Reconcile Flux's sources and Kustomizations
///
/// Serves `OCIRepository`, `GitRepository`, `ExternalArtifact` and `Kustomization` as Flux does, on the cluster of the
/// kubeconfig, or on the one that it runs in. The definitions of these kinds must be there. Logs go to stderr, a line for
/// each outcome. All flags of Flux's source-controller and kustomize-controller are accepted; a note names those that were
/// given and change nothing here.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
// The client needs no namespace of its own, and one that is watched is named elsewhere.
#[command(mut_arg("namespace", |arg| arg.hide(true)))]
#[command(after_help = "\
Examples:
  # Beside a cluster, with its artifacts in a directory
  flumen controller --kubeconfig ~/.kube/config --storage-path ./artifacts

  # As Flux behaves: unknown kinds fail, drift waits for the interval, everything may be pruned
  flumen controller --defer-unknown-kinds=false --correct-drift-at-once=false --prune-guard=off \\
    --feature-gates=ExternalArtifact=false,CancelHealthCheckOnNewRevision=false

  # One of several, of which one works at a time
  RUNTIME_NAMESPACE=flux-system flumen controller --enable-leader-election")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ControllerArgs {
    /// Directory of artifacts; the default is `STORAGE_PATH`, then `/data`
    #[arg(long, visible_alias = "storage", value_name = "DIR")]
    storage_path: Option<PathBuf>,

    /// Address at which artifacts are served to others; the default is `STORAGE_ADDRESS`, then `:9090` in a Pod, and
    /// elsewhere they are not
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    storage_addr: Option<SocketAddr>,

    /// Host and port under which others fetch artifacts; the default is `STORAGE_ADV_ADDR`, then this machine
    #[arg(long, value_name = "ADDRESS")]
    storage_adv_addr: Option<String>,

    /// How long artifacts are kept that are no longer current
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = go_duration)]
    artifact_retention_ttl: Duration,

    /// How many artifacts of a source are kept, the current one included
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    artifact_retention_records: usize,

    /// How often it is tried again to fetch an artifact that somebody else serves
    #[arg(long, value_name = "NUMBER", default_value_t = 9)]
    http_retry: u32,

    /// How keys are exchanged with ssh servers of Git repositories, the best first
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)]
    ssh_kex_algos: Vec<String>,

    /// Keys that such servers are asked for, the best first; among them those that `known_hosts` has
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)]
    ssh_hostkey_algos: Vec<String>,

    /// Address for metrics, `0` for none; the default is `METRICS_ADDR`, then `:8080` in a Pod, and elsewhere
    /// `127.0.0.1:8080` if that is free
    #[arg(long, value_name = "ADDRESS", value_parser = listen)]
    metrics_addr: Option<Listen>,

    /// Address for `/healthz` and `/readyz`, `0` for none; the default is `:9440` in a Pod, and elsewhere
    /// `127.0.0.1:9440` if that is free
    #[arg(long, value_name = "ADDRESS", value_parser = listen)]
    health_addr: Option<Listen>,

    /// Work although Flux's controllers do
    #[arg(long)]
    takeover: bool,

    /// Passes over objects of all kinds that work at the same time; those that only wait do not count
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    concurrent: usize,

    /// Requests of one pass that are under way at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    concurrent_ssa: usize,

    /// Until a source that is not there yet is looked for again
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = go_duration)]
    requeue_dependency: Duration,

    /// How far intervals are spread, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..100))]
    interval_jitter_percentage: u32,

    /// Until something that failed is tried again for the first time
    #[arg(long, value_name = "DURATION", default_value = "750ms", value_parser = go_duration)]
    min_retry_delay: Duration,

    /// The longest time until something that failed is tried again
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = go_duration)]
    max_retry_delay: Duration,

    /// Watch all namespaces; otherwise the one that `RUNTIME_NAMESPACE` names
    #[arg(long, value_name = "BOOL", default_value = "true", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    watch_all_namespaces: bool,

    /// Reconcile only objects with these labels; what they refer to may have others
    #[arg(long, value_name = "SELECTOR")]
    watch_label_selector: Option<String>,

    /// Labels of each `ConfigMap` and `Secret` whose change wakes those that refer to it
    #[arg(long, value_name = "SELECTOR", default_value = "reconcile.fluxcd.io/watch=Enabled")]
    watch_configs_label_selector: String,

    /// Watch every `ConfigMap` and `Secret` that is referred to, not only those with these labels
    #[arg(long)]
    watch_all_references: bool,

    /// Service account that is impersonated where an object names none
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,

    /// Refuse sources of other namespaces
    #[arg(long, value_name = "BOOL", default_value = "false", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    no_cross_namespace_refs: bool,

    /// Refuse bases that are fetched from elsewhere during a build
    #[arg(long, value_name = "BOOL", default_value = "false", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    no_remote_bases: bool,

    /// Manager whose fields are taken over, beside kubectl; can be given more than once
    #[arg(long, value_name = "NAME")]
    override_manager: Vec<String>,

    /// Manager whose fields are taken over at once where the server refuses an object, as they may be why; can be given
    /// more than once
    #[arg(long, value_name = "NAME")]
    override_manager_before_dry_run: Vec<String>,

    /// Kinds that are applied before the rest, after definitions and classes: `group/Kind,Kind`
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    custom_apply_stage_kinds: Vec<GroupKind>,

    /// Wait for kinds that are not served yet; otherwise they fail the Kustomization, as in Flux
    #[arg(long, value_name = "BOOL", default_value = "true", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    defer_unknown_kinds: bool,

    /// Correct drift when it is seen; otherwise at the interval, as in Flux
    #[arg(long, value_name = "BOOL", default_value = "true", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    correct_drift_at_once: bool,

    /// Whether deleting most of what a Kustomization has needs a word; off in Flux
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    prune_guard: String,

    /// Switches of Flux: `Name=true,Other=false`. On here and off in Flux are `ExternalArtifact` and
    /// `CancelHealthCheckOnNewRevision`
    #[arg(long, value_name = "GATES", value_delimiter = ',')]
    feature_gates: Vec<String>,

    /// Answer a source from a directory, `NAMESPACE/NAME=DIR`, and follow what changes in it; can be given more than once
    #[arg(long, value_name = "SOURCE=DIR", value_parser = LocalSource::parse_named)]
    source: Vec<LocalSource>,

    #[command(flatten)]
    election: ElectionArgs,

    #[command(flatten)]
    logs: LogArgs,

    #[command(flatten)]
    accepted: AcceptedArgs,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(crate) fn run(args: &ControllerArgs, ui: &Ui) -> Result<(), CommandError> {
    memory::serve();
    let options = args.options(ui)?;
    args.logs.log_to_stderr();
    block_on_one_thread(async {
        let mut signals = Signals::listen()?;
        let client = args.cluster.connect().await?;
        let stop = signals.wait();
        flumen_controller::run(client, options, stop).await.map_err(|error| failure(&error).into())
    })
}

fn failure(error: &RunError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

impl ControllerArgs {
    fn options(&self, ui: &Ui) -> Result<Options, CommandError> {
        let runtime_namespace = env::runtime_namespace();
        if !self.watch_all_namespaces && runtime_namespace.is_none() {
            let message = "`--watch-all-namespaces=false` needs RUNTIME_NAMESPACE to name one";
            return Err(Failure::new(message).into());
        }
        let defaults = Options::default();
        let is_in_pod = env::is_in_pod();
        let serve_at = match (self.storage_addr, env::storage_address()) {
            (Some(address), _) => Some(address),
            (None, Some(text)) => Some(address(&text).map_err(|error| {
                Failure::new(format!("STORAGE_ADDRESS: `{text}` is no address: {error}"))
            })?),
            (None, None) => is_in_pod.then(|| ([0, 0, 0, 0], 9090).into()),
        };
        let metrics_at = match (self.metrics_addr, env::metrics_address()) {
            (Some(place), _) => place,
            (None, Some(text)) => listen(&text).map_err(|error| {
                Failure::new(format!("METRICS_ADDR: `{text}` is no address: {error}"))
            })?,
            (None, None) => default_listen(8080, is_in_pod),
        };
        let mut options = Options {
            storage: self
                .storage_path
                .clone()
                .or_else(env::storage_path)
                .unwrap_or(defaults.storage),
            serve_at,
            advertised_host: self.advertised_host(serve_at),
            retention: Retention {
                records: self.artifact_retention_records,
                ttl: self.artifact_retention_ttl,
            },
            http_retries: self.http_retry,
            ssh_algorithms: self.ssh_algorithms()?,
            metrics_at,
            health_at: self.health_addr.unwrap_or_else(|| default_listen(9440, is_in_pod)),
            election: self.election.election()?,
            takeover: self.takeover,
            namespace: runtime_namespace.clone().filter(|_| !self.watch_all_namespaces),
            runtime_namespace: runtime_namespace.unwrap_or(defaults.runtime_namespace),
            concurrent: self.concurrent,
            concurrent_requests: self.concurrent_ssa.max(1),
            requeue_dependency: self.requeue_dependency,
            interval_jitter: self.interval_jitter_percentage,
            min_retry_delay: self.min_retry_delay,
            max_retry_delay: self.max_retry_delay,
            selector: self.watch_label_selector.clone().filter(|selector| !selector.is_empty()),
            references_selector: self.references_selector(),
            default_service_account: self
                .default_service_account
                .clone()
                .filter(|name| !name.is_empty()),
            no_cross_namespace_refs: self.no_cross_namespace_refs,
            no_remote_bases: self.no_remote_bases,
            override_managers: self.override_manager.clone(),
            override_managers_before_dry_run: self.override_manager_before_dry_run.clone(),
            custom_stage_kinds: self.custom_apply_stage_kinds.iter().cloned().collect(),
            defer_unknown_kinds: self.defer_unknown_kinds,
            correct_drift_at_once: self.correct_drift_at_once,
            prune_guard: self.prune_guard == "on",
            ..Options::default()
        };
        let mut without_meaning = self.accepted.without_meaning();
        let mut unsupported = self.accepted.unsupported();
        for gate in self.feature_gates.iter().filter(|gate| !gate.is_empty()) {
            match gates::set(&mut options, gate)? {
                Effect::Set => {}
                Effect::WithoutMeaning(gate) => without_meaning.push(gate),
                Effect::Unsupported(gate) => unsupported.push(gate),
            }
        }
        for source in &self.source {
            source.add_to(&mut options.local_sources)?;
        }
        note(ui, "has no meaning here", &without_meaning);
        note(ui, "is not supported yet", &unsupported);
        Ok(options)
    }

    /// What is offered to ssh servers. A name that is not known could only be left out, and nobody would notice.
    fn ssh_algorithms(&self) -> Result<SshAlgorithms, CommandError> {
        let (algorithms, unknown) =
            SshAlgorithms::new(&self.ssh_kex_algos, &self.ssh_hostkey_algos);
        if unknown.is_empty() {
            return Ok(algorithms);
        }
        let names = unknown.join("`, `");
        let message = format!("no algorithms for ssh are known as `{names}`");
        let hint = "leave them out of `--ssh-kex-algos` and `--ssh-hostkey-algos`";
        Err(Failure::new(message).hint(hint).into())
    }

    /// Where others find what is served here.
    fn advertised_host(&self, serve_at: Option<SocketAddr>) -> String {
        let named = self.storage_adv_addr.clone().or_else(env::storage_advertised_address);
        let derived = || match serve_at {
            Some(address) if address.ip().is_unspecified() => {
                format!("localhost:{}", address.port())
            }
            Some(address) => address.to_string(),
            None => Options::default().advertised_host,
        };
        named.filter(|host| !host.is_empty()).unwrap_or_else(derived)
    }

    /// Which of what objects refer to is watched; `None` for all of it.
    fn references_selector(&self) -> Option<String> {
        let selector = self.watch_configs_label_selector.clone();
        Some(selector).filter(|selector| !self.watch_all_references && !selector.is_empty())
    }
}

/// Says once of all flags that are accepted why they change nothing.
fn note(ui: &Ui, why: &str, flags: &[String]) {
    if !flags.is_empty() {
        ui.talk(&format!("note: {why}, and is ignored: {}\n", flags.join(", ")));
    }
}
