//! A real Kubernetes for tests, on ports of the loopback interface.
//!
//! ```text
//! test ──▶ KubeProxy ──▶ kube-apiserver ──▶ etcd
//!   └────────────────────────▲    ▲
//!                    kube-controller-manager
//! ```
//!
//! There are no nodes: pods are accepted and stay pending. Everything ends with the test process.

mod admin;
mod cluster;
mod faults;
mod front;
mod guarded;
mod kubeconfig;
mod proxy;
mod request;
mod servers;

pub use cluster::KubeCluster;
pub use faults::{Fault, FaultPlan};
pub use proxy::KubeProxy;
pub use request::KubeRequest;
