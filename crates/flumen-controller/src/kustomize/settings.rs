//! How a Kustomization is applied and judged, from its spec and the flags of the controller.

use std::sync::Arc;

use flumen_api::{DeletionPolicy, Kustomization, KustomizationSpec};
use flumen_apply::{Owner, Prune, Watched};
use flumen_diff::{IgnoreRule, IgnoreRules, Selector, Takeover};
use flumen_health::{HealthCheck, HealthRules};
use flumen_runtime::{Failure, Key};

use super::{
    GROUP, Kustomize, MANAGER, finalize, late::fails_unknown_kinds, outcome::INVALID_CEL,
    target::Target,
};
use crate::options::KustomizeOptions;

/// Who applies the objects of a Kustomization.
pub fn owner(key: &Key) -> Owner {
    Owner {
        manager: MANAGER.to_owned(),
        group: GROUP.to_owned(),
        name: key.name.clone(),
        namespace: key.namespace.clone(),
    }
}

/// Whose fields become ours: those of kubectl, and of the managers that flags name.
pub(super) fn takeover(options: &KustomizeOptions) -> Takeover {
    let mut takeover = Takeover::default();
    for managers in [&options.override_managers, &options.override_managers_before_dry_run] {
        takeover.managers.extend(Takeover::from_managers(managers).managers);
    }
    takeover
}

/// How the objects of a Kustomization that goes are deleted.
pub(super) fn delete_options(
    kustomize: &Kustomize,
    key: &Key,
    object: &Kustomization,
    target: &Target,
) -> flumen_apply::Options {
    let mut options = common_options(kustomize, key, object, target);
    options.wait = object.spec.deletion_policy == DeletionPolicy::WaitForTermination;
    options
}

/// What holds for applying and deleting alike.
fn common_options(
    kustomize: &Kustomize,
    key: &Key,
    object: &Kustomization,
    target: &Target,
) -> flumen_apply::Options {
    let mut options = flumen_apply::Options::new(owner(key));
    options.timeout = object.spec.timeout();
    options.concurrency = kustomize.options.concurrent_requests;
    options.leave_scaled_replicas = false;
    // A pass has refused what cannot be read, and who goes waits for no kind.
    options.strict_kinds = fails_unknown_kinds(kustomize, object).unwrap_or_default();
    if target.is_ours {
        options.watched = Some(kustomize.owned.clone() as Arc<dyn Watched>);
    }
    options
}

/// How the objects of a Kustomization are applied.
pub(super) fn apply_options(
    kustomize: &Kustomize,
    key: &Key,
    object: &Kustomization,
    target: &Target,
    rules: &Arc<HealthRules>,
    revision: &str,
) -> Result<flumen_apply::Options, Failure> {
    let spec = &object.spec;
    let mut options = common_options(kustomize, key, object, target);
    options.force = spec.force;
    options.prune = match (spec.prune, kustomize.options.prune_guard) {
        (false, _) => Prune::Forget,
        (true, true) if !finalize::allows_large_prune(object, revision) => Prune::Guarded,
        (true, _) => Prune::Unguarded,
    };
    options.takeover = kustomize.takeover.clone();
    options.rescue = Takeover::from_managers(&kustomize.options.override_managers_before_dry_run);
    options.custom_stage.clone_from(&kustomize.options.custom_stage_kinds);
    options.ignore = ignore_rules(spec)
        .map_err(|error| Failure::retried("ReconciliationFailed", error, spec.retry_interval()))?;
    options.health = rules.clone();
    Ok(options)
}

/// The differences that do not count.
fn ignore_rules(spec: &KustomizationSpec) -> Result<IgnoreRules, String> {
    let rules: Vec<IgnoreRule> = spec
        .ignore
        .iter()
        .map(|rule| IgnoreRule {
            paths: rule.paths.clone(),
            target: rule.target.clone().map(|target| Selector {
                group: target.group.unwrap_or_default(),
                version: target.version.unwrap_or_default(),
                kind: target.kind.unwrap_or_default(),
                name: target.name.unwrap_or_default(),
                namespace: target.namespace.unwrap_or_default(),
                label_selector: target.label_selector.unwrap_or_default(),
                annotation_selector: target.annotation_selector.unwrap_or_default(),
            }),
        })
        .collect();
    IgnoreRules::new(&rules).map_err(|error| error.to_string())
}

/// What counts as healthy.
pub(super) fn health_rules(
    object: &Kustomization,
    is_impersonating: bool,
) -> Result<Arc<HealthRules>, Failure> {
    let checks: Vec<HealthCheck> = object
        .spec
        .health_check_exprs
        .iter()
        .map(|check| HealthCheck {
            api_version: check.api_version.clone(),
            kind: check.kind.clone().unwrap_or_default(),
            current: check.current.clone(),
            in_progress: check.in_progress.clone().unwrap_or_default(),
            failed: check.failed.clone().unwrap_or_default(),
        })
        .collect();
    HealthRules::new(&checks, is_impersonating).map(Arc::new).map_err(|error| {
        let why = "Reconciliation failed terminally due to configuration error";
        Failure::stalled(INVALID_CEL, format!("{why}: {error}"))
    })
}
