//! Health checks of a reconciliation.

use std::sync::Arc;

use flumen_api::{
    ConditionStatus, GoDuration, Kustomization, condition, delete_condition, set_condition,
};
use flumen_apply::{Change, WaitOptions, Waited, Watched, until_healthy};
use flumen_health::HealthRules;
use flumen_kube::Cluster as _;
use flumen_object::{Gvk, ObjectId};
use flumen_runtime::{Failure, Severity};
use flumen_yaml::Text;
use tokio::time::Instant;

use super::{
    outcome::{PROGRESSING, step_message},
    target::Target,
    unserved::InVain,
    work::Work,
};

/// Condition that reports health checks.
pub(super) const HEALTHY: &str = "Healthy";

impl Work<'_> {
    /// Waits until what was applied is healthy, as far as the Kustomization asks for that.
    pub(super) async fn check_health(
        &self,
        object: &Kustomization,
        target: &Target,
        rules: Arc<HealthRules>,
        applied: &[Waited],
        changes: &[Change],
        revision: &str,
    ) -> Result<(), Failure> {
        let spec = &object.spec;
        let mut waited =
            if spec.wait { applied.to_vec() } else { named_checks(target, object).await? };
        // It would wait for itself.
        waited.retain(|one| {
            one.id.gvk.kind != "Kustomization"
                || one.id.name != *self.key().name
                || one.id.namespace != *self.key().namespace
        });
        if waited.is_empty() {
            self.run.with(|object| delete_condition(object, HEALTHY));
            return Ok(());
        }
        self.step("Running health checks", revision);
        let running = step_message("Running health checks", revision, object);
        let clock = &self.kustomize.runtime.clock;
        let now = clock.now();
        self.run.with(|object| {
            let unknown = ConditionStatus::Unknown;
            set_condition(object, HEALTHY, unknown, PROGRESSING, &running, now);
        });
        let options = &self.kustomize.options;
        let (fail_fast, can_be_superseded) = (options.fail_fast, options.cancel_health_checks);
        let started = Instant::now();
        let options = WaitOptions {
            selector: None,
            rules,
            fail_fast,
            deadline: started + spec.timeout(),
            watched: target.is_ours.then(|| self.kustomize.owned.clone() as Arc<dyn Watched>),
        };
        self.wait("Health checks", "HealthCheckCanceled", can_be_superseded);
        let in_vain = InVain::new(*self, running);
        let outcome = until_healthy(&target.client, &waited, &options, &in_vain).await;
        self.kustomize.owned.forget_followers(waited.into_iter().map(|one| one.id));
        let took = GoDuration(started.elapsed());
        let now = clock.now();
        let was_healthy = {
            let before = condition(object, HEALTHY).map(|healthy| healthy.status);
            before == Some(ConditionStatus::True)
        };
        match outcome {
            Ok(_) => {
                let message = format!("Health check passed in {took}");
                let healthy = ConditionStatus::True;
                let reason = "Succeeded";
                self.run.with(|object| {
                    set_condition(object, HEALTHY, healthy, reason, &message, now);
                });
                let is_new = object.status.last_applied_revision.as_deref() != Some(revision);
                if !was_healthy || is_new && changes.iter().any(Change::is_write) {
                    self.post(Severity::Info, PROGRESSING, &message);
                }
                Ok(())
            }
            Err(error) => {
                let reason = "HealthCheckFailed";
                let unhealthy = ConditionStatus::False;
                let cause = match in_vain.reason() {
                    Some(reason) => format!("{error}; {reason}"),
                    None => error.to_string(),
                };
                self.run.with(|object| {
                    set_condition(object, HEALTHY, unhealthy, reason, &cause, now);
                });
                let message = format!("health check failed after {took}: {cause}");
                Err(Failure::retried(reason, message, spec.retry_interval()))
            }
        }
    }
}

/// The objects that `healthChecks` names.
async fn named_checks(target: &Target, object: &Kustomization) -> Result<Vec<Waited>, Failure> {
    let mut waited = Vec::new();
    for check in &object.spec.health_checks {
        let api_version = check.api_version.clone().unwrap_or_else(|| "apps/v1".to_owned());
        let gvk = Gvk::new(&Text::from(api_version), Text::from(check.kind.as_str()));
        let served = target.client.preferred_resource(&gvk.group, &gvk.kind).await;
        let resource = served.map_err(|error| {
            let retry = object.spec.retry_interval();
            Failure::retried("HealthCheckFailed", error.to_string(), retry)
        })?;
        let gvk = resource.as_ref().map_or(gvk, |resource| resource.gvk.clone());
        let namespace = Text::from(check.namespace.clone().unwrap_or_default());
        let id = ObjectId { gvk, namespace, name: Text::from(check.name.as_str()) };
        waited.push(Waited { id, resource, vanishes: false });
    }
    Ok(waited)
}
