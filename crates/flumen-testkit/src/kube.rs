//! A Kubernetes for tests, on ports of the loopback interface: the real one, or ours.
//!
//! ```text
//! test ──▶ KubeProxy ──▶ kube-apiserver ──▶ etcd          test ──▶ KubeProxy ──▶ flumen-local
//!   └────────────────────────▲    ▲                         └────────────────────────▲
//!                    kube-controller-manager                    in the test process
//! ```
//!
//! There are no nodes that run anything: pods are accepted and stay pending. Everything ends with the
//! test process.

mod admin;
#[cfg(feature = "embedded")]
mod choice;
mod cluster;
#[cfg(feature = "embedded")]
mod embedded;
mod faults;
mod front;
mod guarded;
mod kubeconfig;
mod programs;
mod proxy;
mod request;
mod servers;
#[cfg(feature = "embedded")]
mod sweeper;

pub use cluster::KubeCluster;
pub use faults::{Fault, FaultPlan};
pub use proxy::KubeProxy;
pub use request::KubeRequest;
