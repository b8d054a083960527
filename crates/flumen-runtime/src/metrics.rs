//! Metrics for Prometheus, under the names that dashboards for Flux expect.

mod process;

use std::{
    collections::HashMap,
    sync::atomic::{AtomicI64, AtomicU64},
    time::Duration,
};

use flumen_kube::Client;
use parking_lot::{Mutex, MutexGuard};
use prometheus_client::{
    encoding::text::encode,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets, exponential_buckets_range},
    },
    registry::{Metric, Registry},
};
use tokio::time::Instant;

use self::process::Process;
use crate::{
    Key, KindInfo,
    queue::{Queue, Requeue},
};

/// Media type of the text format of `OpenMetrics`.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Buckets of reconciliation times: those of the library that Flux's controllers are made with.
const RECONCILE_SECONDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0,
];

type Labels<const N: usize> = [(&'static str, String); N];
type Counters<const N: usize> = Family<Labels<N>, Counter>;
type Gauges<const N: usize> = Family<Labels<N>, Gauge<i64, AtomicI64>>;
type Seconds<const N: usize> = Family<Labels<N>, Gauge<f64, AtomicU64>>;
type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

#[derive(Debug)]
pub(crate) struct Metrics {
    /// Kinds that are reconciled.
    kinds: Vec<&'static KindInfo>,
    registry: Registry,
    durations: Histograms<3>,
    outcomes: Counters<2>,
    errors: Counters<1>,
    times: Histograms<1>,
    active: Gauges<1>,
    depth: Gauges<3>,
    adds: Counters<2>,
    retries: Counters<2>,
    waits: Histograms<2>,
    work: Histograms<2>,
    unfinished: Seconds<2>,
    longest: Seconds<2>,
    leader: Gauges<1>,
    requests: Counters<3>,
    process: Process,
    /// Start of each reconciliation that is running.
    running: Mutex<HashMap<Key, Instant>>,
}

impl Metrics {
    pub(crate) fn new(kinds: Vec<&'static KindInfo>, concurrent: usize) -> Self {
        let reconcile_seconds: fn() -> Histogram = || Histogram::new(RECONCILE_SECONDS);
        let queue_seconds: fn() -> Histogram =
            || Histogram::new(exponential_buckets(1e-8, 10.0, 12));
        let object_seconds: fn() -> Histogram =
            || Histogram::new(exponential_buckets_range(0.01, 1800.0, 10));
        let mut registry = Registry::default();
        let mut new = Named(&mut registry);
        let most: Gauges<1> = new.family(
            "controller_runtime_max_concurrent_reconciles",
            "Reconciliations that may run at the same time",
        );
        let metrics = Self {
            durations: new.histograms(
                "gotk_reconcile_duration_seconds",
                "Duration of the reconciliations of one object",
                object_seconds,
            ),
            outcomes: new
                .family("controller_runtime_reconcile", "Reconciliations by their outcome"),
            errors: new.family(
                "controller_runtime_reconcile_errors",
                "Reconciliations that failed and are retried",
            ),
            times: new.histograms(
                "controller_runtime_reconcile_time_seconds",
                "Duration of reconciliations",
                reconcile_seconds,
            ),
            active: new.family(
                "controller_runtime_active_workers",
                "Running reconciliations, including those that only wait",
            ),
            depth: new.family("workqueue_depth", "Objects in the work queue"),
            adds: new.family("workqueue_adds", "Objects that were added to the work queue"),
            retries: new.family("workqueue_retries", "Objects that were requeued for later"),
            waits: new.histograms(
                "workqueue_queue_duration_seconds",
                "Time that objects spend in the work queue",
                queue_seconds,
            ),
            work: new.histograms(
                "workqueue_work_duration_seconds",
                "Time that reconciliations take",
                queue_seconds,
            ),
            unfinished: new.family(
                "workqueue_unfinished_work_seconds",
                "Time that all running reconciliations have taken",
            ),
            longest: new.family(
                "workqueue_longest_running_processor_seconds",
                "Time that the longest running reconciliation has taken",
            ),
            leader: new.family(
                "leader_election_master_status",
                "Whether this process holds the lease: 1 if it does",
            ),
            requests: new.family("rest_client_requests", "Requests to the API server"),
            process: Process::new(&mut new),
            running: Mutex::default(),
            registry,
            kinds,
        };
        // A series that starts with its first error hides it.
        for kind in &metrics.kinds {
            for result in ["success", "error", "requeue", "requeue_after"] {
                drop(metrics.outcomes.get_or_create(&of_outcome(kind, result)));
            }
            drop(metrics.errors.get_or_create(&of_controller(kind)));
            drop(metrics.adds.get_or_create(&of_queue(kind)));
            drop(metrics.retries.get_or_create(&of_queue(kind)));
            let concurrent = i64::try_from(concurrent).unwrap_or(i64::MAX);
            most.get_or_create(&of_controller(kind)).set(concurrent);
        }
        metrics
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Key, Instant>> {
        self.running.lock()
    }

    /// Notes the start of a reconciliation, and how long its object was in the queue.
    pub(crate) fn started(&self, key: &Key, waited: Duration) {
        let queue = of_queue(key.kind);
        self.adds.get_or_create(&queue).inc();
        self.waits.get_or_create(&queue).observe(waited.as_secs_f64());
        self.running().insert(key.clone(), Instant::now());
    }

    /// Notes the end of a reconciliation, counted as Flux's controllers do: a failure with a fixed time for the retry is
    /// no error.
    pub(crate) fn ended(&self, key: &Key, requeue: Requeue) {
        let Some(started) = self.running().remove(key) else { return };
        let took = started.elapsed().as_secs_f64();
        self.durations.get_or_create(&of_object(key)).observe(took);
        self.times.get_or_create(&of_controller(key.kind)).observe(took);
        self.work.get_or_create(&of_queue(key.kind)).observe(took);
        let result = match requeue {
            Requeue::Never => "success",
            Requeue::After(_) => "requeue_after",
            Requeue::Backoff => "error",
            Requeue::Now => "requeue",
        };
        self.outcomes.get_or_create(&of_outcome(key.kind, result)).inc();
        if requeue == Requeue::Backoff {
            self.errors.get_or_create(&of_controller(key.kind)).inc();
        }
        if matches!(requeue, Requeue::After(_) | Requeue::Backoff) {
            self.retries.get_or_create(&of_queue(key.kind)).inc();
        }
    }

    /// Removes the series of a deleted object.
    pub(crate) fn forget(&self, key: &Key) {
        self.durations.remove(&of_object(key));
    }

    /// Sets whether this process holds a Lease.
    pub(crate) fn leads(&self, lease: &str, is_ours: bool) {
        let labels = [("name", lease.to_owned())];
        self.leader.get_or_create(&labels).set(i64::from(is_ours));
    }

    /// Returns all metrics as text.
    pub(crate) fn text(&self, queue: &Queue, client: &Client) -> String {
        self.sample(queue);
        self.count_requests(client);
        self.process.sample();
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        in_order(&text)
    }

    /// Sets the counters to those of the client.
    fn count_requests(&self, client: &Client) {
        let address = client.address();
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        for (asked, count) in client.account() {
            let code = asked.code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
            let counter = self.requests.get_or_create_owned(&[
                ("code", code),
                ("host", host.to_owned()),
                ("method", asked.method.to_owned()),
            ]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// Samples the values that no event changes.
    fn sample(&self, queue: &Queue) {
        let ready = queue.ready();
        let running = self.running();
        for kind in self.kinds.iter().copied() {
            let depth = ready.get(&kind).copied().unwrap_or_default();
            let lasted: Vec<f64> = running
                .iter()
                .filter(|(key, _)| key.kind == kind)
                .map(|(_, started)| started.elapsed().as_secs_f64())
                .collect();
            let [name, controller] = of_queue(kind);
            let lane = [name, controller, ("priority", "0".to_owned())];
            self.depth.get_or_create(&lane).set(i64::try_from(depth).unwrap_or(i64::MAX));
            let active = i64::try_from(lasted.len()).unwrap_or(i64::MAX);
            self.active.get_or_create(&of_controller(kind)).set(active);
            self.unfinished.get_or_create(&of_queue(kind)).set(lasted.iter().sum());
            let longest = lasted.into_iter().fold(0.0, f64::max);
            self.longest.get_or_create(&of_queue(kind)).set(longest);
        }
    }
}

/// Puts the series of each metric into the order of their labels; the library keeps them in none.
///
/// Several lines can belong to a series, and the first of each has the same name.
fn in_order(text: &str) -> String {
    let mut ordered = String::with_capacity(text.len());
    let mut series: Vec<Vec<&str>> = Vec::new();
    let name = |line: &str| line.split(['{', ' ']).next().unwrap_or_default().to_owned();
    let mut first_name = String::new();
    let mut write = |series: &mut Vec<Vec<&str>>| {
        series.sort();
        ordered.extend(series.drain(..).flatten());
    };
    for line in text.split_inclusive('\n') {
        if line.starts_with('#') {
            write(&mut series);
            first_name.clear();
            series.push(vec![line]);
            write(&mut series);
        } else if first_name.is_empty() || name(line) == first_name {
            first_name = name(line);
            series.push(vec![line]);
        } else if let Some(last) = series.last_mut() {
            last.push(line);
        }
    }
    write(&mut series);
    ordered
}

/// Makes metrics and gives them their names. The library adds `_total` to those of counters.
pub(crate) struct Named<'r>(&'r mut Registry);

impl Named<'_> {
    pub(crate) fn family<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    fn histograms<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        new: fn() -> Histogram,
    ) -> Histograms<N> {
        let metric = Histograms::new_with_constructor(new);
        self.0.register(name, help, metric.clone());
        metric
    }
}

fn of_object(key: &Key) -> Labels<3> {
    [
        ("kind", key.kind.kind.to_owned()),
        ("name", key.name.clone()),
        ("namespace", key.namespace.clone()),
    ]
}

/// Flux has a controller for each kind, named after it.
fn of_controller(kind: &KindInfo) -> Labels<1> {
    [("controller", kind.kind.to_lowercase())]
}

fn of_outcome(kind: &KindInfo, result: &str) -> Labels<2> {
    let [controller] = of_controller(kind);
    [controller, ("result", result.to_owned())]
}

fn of_queue(kind: &KindInfo) -> Labels<2> {
    let name = kind.kind.to_lowercase();
    [("name", name.clone()), ("controller", name)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_have_an_order() {
        let text = "# TYPE a counter\na_total{x=\"2\"} 1\na_total{x=\"1\"} 1\n# TYPE b histogram\n\
            b_sum{x=\"2\"} 3\nb_bucket{le=\"1\",x=\"2\"} 0\nb_bucket{le=\"+Inf\",x=\"2\"} 1\n\
            b_sum{x=\"1\"} 4\nb_bucket{le=\"1\",x=\"1\"} 0\n# EOF\n";
        let ordered = "# TYPE a counter\na_total{x=\"1\"} 1\na_total{x=\"2\"} 1\n# TYPE b histogram\n\
            b_sum{x=\"1\"} 4\nb_bucket{le=\"1\",x=\"1\"} 0\n\
            b_sum{x=\"2\"} 3\nb_bucket{le=\"1\",x=\"2\"} 0\nb_bucket{le=\"+Inf\",x=\"2\"} 1\n# EOF\n";
        assert_eq!(in_order(text), ordered);
        assert_eq!(in_order(ordered), ordered);
    }
}
