//! Controllers of workloads: they make pods and report on them.

mod children;
pub(crate) mod cron_job;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod job;
pub(crate) mod replicas;
mod revision;
pub(crate) mod stateful_set;
mod status;
