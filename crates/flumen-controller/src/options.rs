//! What the flags of the controller decide.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
    time::Duration,
};

use flumen_git::SshAlgorithms;
use flumen_object::GroupKind;
use flumen_source::{Retention, import::ImportOptions};

use crate::{Election, Key, Listen, queue::Backoff};

/// How the controller works. The defaults are Flux's, except where Flumen is better by default.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Where artifacts are kept.
    pub storage: PathBuf,
    /// Where artifacts are served to others; nowhere if not given.
    pub serve_at: Option<SocketAddr>,
    /// The host under which others fetch artifacts from us.
    pub advertised_host: String,
    /// How long artifacts are kept that are no longer current.
    pub retention: Retention,
    /// How often it is tried again to fetch an artifact that somebody else serves.
    pub http_retries: u32,
    /// What is offered to ssh servers.
    pub ssh_algorithms: SshAlgorithms,
    /// Where Prometheus asks for metrics.
    pub metrics_at: Listen,
    /// Where it is asked whether the controller is well.
    pub health_at: Listen,
    /// The namespace of a controller, and of Flux's: where Leases are.
    pub runtime_namespace: String,
    /// How one of several controllers is chosen; without it everyone works.
    pub election: Option<Election>,
    /// Work although Flux does.
    pub takeover: bool,
    /// Passes that work at the same time; those that only wait do not count.
    pub concurrent: usize,
    /// Requests of one pass that are under way at the same time.
    pub concurrent_requests: usize,
    /// Until something that is not there yet is looked for again.
    pub requeue_dependency: Duration,
    /// How far intervals are spread, in percent.
    pub interval_jitter: u32,
    pub min_retry_delay: Duration,
    pub max_retry_delay: Duration,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Only objects with these labels are reconciled; what they refer to may have others.
    pub selector: Option<String>,
    /// Whose rights are used where an object names no service account.
    pub default_service_account: Option<String>,
    /// Sources of other namespaces are refused.
    pub no_cross_namespace_refs: bool,
    pub no_remote_bases: bool,
    /// Managers whose fields are taken over, beside kubectl.
    pub override_managers: Vec<String>,
    /// Others whose fields are taken over even where they keep an object from being applied.
    pub override_managers_before_dry_run: Vec<String>,
    /// Kinds that are applied before the rest.
    pub custom_stage_kinds: BTreeSet<GroupKind>,
    /// Variables that nobody sets are errors.
    pub strict_substitutions: bool,
    /// Objects of kinds that are not served yet are waited for; otherwise they fail the pass.
    pub defer_unknown_kinds: bool,
    /// A build that would delete most of what there is waits for a word.
    pub prune_guard: bool,
    /// Drift is corrected when it is seen, not only at the next interval.
    pub correct_drift_at_once: bool,
    /// An `ExternalArtifact` may be a source.
    pub external_artifacts: bool,
    /// A newer revision ends the wait for the health of an older one.
    pub cancel_health_checks: bool,
    /// A wait for health ends when something has failed for good.
    pub fail_fast: bool,
    /// A dependency with an expression must be ready by the usual rules, too.
    pub additive_dependency_checks: bool,
    /// Each `ConfigMap` and `Secret` that is referred to is watched.
    pub watch_references: bool,
    /// Only those with these labels, or all.
    pub references_selector: Option<String>,
    /// Sources that are answered from a directory of this machine, which is followed. Nothing of them is fetched.
    pub local_sources: BTreeMap<Key, PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            storage: PathBuf::from("/data"),
            serve_at: None,
            advertised_host: "localhost".to_owned(),
            retention: Retention::default(),
            http_retries: ImportOptions::default().retries,
            ssh_algorithms: SshAlgorithms::default(),
            metrics_at: Listen::Nowhere,
            health_at: Listen::Nowhere,
            runtime_namespace: "flux-system".to_owned(),
            election: None,
            takeover: false,
            concurrent: 8,
            concurrent_requests: 4,
            requeue_dependency: Duration::from_secs(30),
            interval_jitter: 5,
            min_retry_delay: Duration::from_millis(750),
            max_retry_delay: Duration::from_mins(15),
            namespace: None,
            selector: None,
            default_service_account: None,
            no_cross_namespace_refs: false,
            no_remote_bases: false,
            override_managers: Vec::new(),
            override_managers_before_dry_run: Vec::new(),
            custom_stage_kinds: BTreeSet::new(),
            strict_substitutions: true,
            defer_unknown_kinds: true,
            prune_guard: true,
            correct_drift_at_once: true,
            external_artifacts: true,
            cancel_health_checks: true,
            fail_fast: true,
            additive_dependency_checks: false,
            watch_references: true,
            references_selector: Some("reconcile.fluxcd.io/watch=Enabled".to_owned()),
            local_sources: BTreeMap::new(),
        }
    }
}

impl Options {
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff { first: self.min_retry_delay, longest: self.max_retry_delay }
    }

    /// An interval, a little longer or shorter, so that what began together does not go on together.
    pub(crate) fn jittered(&self, interval: Duration) -> Duration {
        let percent = self.interval_jitter.min(100);
        if percent == 0 {
            return interval;
        }
        // A fraction between -1 and 1 from the bits of a new identity; nothing depends on its quality.
        let bits = uuid::Uuid::new_v4().as_fields().0;
        let fraction = f64::from(bits) / f64::from(u32::MAX) * 2.0 - 1.0;
        interval.mul_f64(1.0 + fraction * f64::from(percent) / 100.0)
    }
}
