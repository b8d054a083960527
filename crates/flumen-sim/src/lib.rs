//! Controllers of the embedded server: the life of namespaces, owners, and simulated workloads.
