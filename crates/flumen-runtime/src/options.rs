//! Options of the runtime.

use std::time::Duration;

use crate::{Election, endpoints::Listen, queue::Backoff};

/// How reconcilers are run, whatever their kinds. The defaults are those of Flux, unless Flumen has better ones.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of the metrics for Prometheus.
    pub metrics_at: Listen,
    /// Address of the health and readiness probes.
    pub health_at: Listen,
    /// Namespace of the controllers and their Leases.
    pub runtime_namespace: String,
    /// Leader election; without it every process reconciles.
    pub election: Option<Election>,
    /// Start even if Flux is running on the cluster.
    pub takeover: bool,
    /// Reconciliations that may run at the same time, without those that only wait.
    pub concurrent: usize,
    /// Requeue delay for missing dependencies.
    pub requeue_dependency: Duration,
    /// Spread of intervals in percent.
    pub interval_jitter: u32,
    pub min_retry_delay: Duration,
    pub max_retry_delay: Duration,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Label selector of the objects that are reconciled; what they refer to may have other labels.
    pub selector: Option<String>,
    /// Watch each `ConfigMap` and `Secret` that objects refer to.
    pub watch_references: bool,
    /// Label selector of the `ConfigMap`s and `Secret`s that are watched, or all.
    pub references_selector: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            metrics_at: Listen::Nowhere,
            health_at: Listen::Nowhere,
            runtime_namespace: "flux-system".to_owned(),
            election: None,
            takeover: false,
            concurrent: 8,
            requeue_dependency: Duration::from_secs(30),
            interval_jitter: 5,
            min_retry_delay: Duration::from_millis(750),
            max_retry_delay: Duration::from_mins(15),
            namespace: None,
            selector: None,
            watch_references: true,
            references_selector: Some("reconcile.fluxcd.io/watch=Enabled".to_owned()),
        }
    }
}

impl Options {
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff { first: self.min_retry_delay, longest: self.max_retry_delay }
    }

    /// Returns an interval, a little longer or shorter, so that objects created together drift apart.
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
