//! The fixtures themselves, judged by `kubectl`.
#![allow(clippy::disallowed_methods, reason = "tests look at clocks")]

mod kube_cluster;
mod kube_proxy;
