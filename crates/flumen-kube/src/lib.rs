//! A Kubernetes API server, seen through the few requests that delivery is made of.
//!
//! [`Cluster`] is what the engines above talk to; [`Client`] is the one implementation, over HTTP/2.
//! Objects are trees of `flumen-yaml` on both sides: a body is read into a tree once, and
//! nothing above this crate sees HTTP.
//!
//! ```text
//! kubeconfig, flags ─▶ connect ─▶ Client ─ Cluster ─▶ get, list, watch, apply, patch, delete
//!                                   └─ discovery: kind ─▶ Resource
//! ```
#![allow(clippy::disallowed_methods, reason = "kubeconfigs, certificates and tokens are files")]

mod account;
mod client;
mod cluster;
mod connect;
mod discovery;
mod error;
mod lease;
mod path;
mod redact;
mod retry;
mod send;
mod status;
mod transport;
mod tree;
mod watch;

pub use account::Asked;
pub use client::Client;
pub use cluster::{
    ApplyOptions, Cluster, DeleteOptions, Event, List, ListOptions, ObjectName, PatchType,
    Propagation, Resource, WatchOptions, Write,
};
pub use connect::{ConfigError, ConnectOptions, Identity};
pub use error::Error;
pub use lease::{Lease, LeaseOptions, Lost};
pub use status::{Cause, Status};
