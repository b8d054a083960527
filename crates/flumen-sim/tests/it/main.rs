//! Controllers on a real server in memory.

mod bench;
mod deployments;
mod garbage;
mod namespaces;
mod services;
mod workloads;
