//! Options of the controller. Their defaults stand here and in [`flumen_runtime::Options`], and nowhere else.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};

use flumen_git::SshAlgorithms;
use flumen_object::GroupKind;
use flumen_runtime::Key;
use flumen_source::{Retention, import::ImportOptions};

/// How the controller works. The defaults are Flux's, unless Flumen has better ones.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub runtime: flumen_runtime::Options,
    pub source: SourceOptions,
    pub kustomize: KustomizeOptions,
}

/// How sources are reconciled.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Directory of the artifacts.
    pub storage: PathBuf,
    /// Address at which artifacts are served to others, if at all.
    pub serve_at: Option<SocketAddr>,
    /// Host and port under which others fetch artifacts.
    pub advertised_host: String,
    /// How long artifacts are kept that are no longer current.
    pub retention: Retention,
    /// Retries when fetching an external artifact.
    pub http_retries: u32,
    /// Algorithms offered to ssh servers.
    pub ssh_algorithms: SshAlgorithms,
    /// Sources that are served from a local directory, whose changes are followed. Nothing of them is fetched.
    pub local_sources: BTreeMap<Key, PathBuf>,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            storage: PathBuf::from("/data"),
            serve_at: None,
            advertised_host: "localhost".to_owned(),
            retention: Retention::default(),
            http_retries: ImportOptions::default().retries,
            ssh_algorithms: SshAlgorithms::default(),
            local_sources: BTreeMap::new(),
        }
    }
}

/// How Kustomizations are reconciled.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct KustomizeOptions {
    /// Requests of one reconciliation that may be sent at the same time.
    pub concurrent_requests: usize,
    /// Service account to impersonate for objects that name none.
    pub default_service_account: Option<String>,
    /// Refuse sources in other namespaces.
    pub no_cross_namespace_refs: bool,
    pub no_remote_bases: bool,
    /// Field managers whose fields are taken over, beside kubectl.
    pub override_managers: Vec<String>,
    /// Further ones, whose fields are taken over even where they keep an object from being applied.
    pub override_managers_before_dry_run: Vec<String>,
    /// Kinds that are applied before the rest.
    pub custom_stage_kinds: BTreeSet<GroupKind>,
    /// Fail on variables that are not set.
    pub strict_substitutions: bool,
    /// Wait for kinds that are not installed instead of failing.
    pub defer_unknown_kinds: bool,
    /// Hold a build that would delete most of the inventory until the user approves it.
    pub prune_guard: bool,
    /// Correct drift when it is seen, not only at the next interval.
    pub correct_drift_at_once: bool,
    /// Accept an `ExternalArtifact` as source.
    pub external_artifacts: bool,
    /// End health checks when a newer revision arrives.
    pub cancel_health_checks: bool,
    /// End health checks when an object has failed for good.
    pub fail_fast: bool,
    /// Apply the usual rules to dependencies with an expression, too.
    pub additive_dependency_checks: bool,
}

impl Default for KustomizeOptions {
    fn default() -> Self {
        Self {
            concurrent_requests: 4,
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
        }
    }
}
