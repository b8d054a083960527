//! From connection options to an HTTP client.
//!
//! ```text
//! files, flags ─▶ kubeconfig ─▶ target ─▶ connection ─▶ body
//!           pod ─▶ in_cluster ─┘            ├─ credentials: header or client certificate
//!                                           └─ tls: trust
//! ```

mod body;
mod certificate;
mod connection;
mod credentials;
mod error;
mod identity;
mod in_cluster;
mod kubeconfig;
mod options;
mod target;
mod tls;

pub use error::ConfigError;
pub use identity::Identity;
pub use options::ConnectOptions;

pub(crate) use body::Body;
pub(crate) use connection::Http;
pub(crate) use target::{Target, target, target_of_text};
