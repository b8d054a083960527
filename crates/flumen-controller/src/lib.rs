//! Reconciles sources and Kustomizations with a cluster.
