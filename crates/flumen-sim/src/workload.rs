//! Controllers of workloads: they make pods and report on them.

mod children;
pub(crate) mod deployment;
pub(crate) mod replicas;
mod status;
