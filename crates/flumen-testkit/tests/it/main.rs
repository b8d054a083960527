//! The fixtures themselves, judged by `kubectl`.

mod kube_cluster;
mod kube_proxy;
