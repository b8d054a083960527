//! From connection options to an HTTP client.
//!
//! ```text
//! files, flags ─▶ kubeconfig ─▶ Target ─▶ stack: TLS, HTTP/2, credentials
//! ```

mod error;
mod identity;
mod kubeconfig;
mod options;
mod stack;

pub use error::ConfigError;
pub use identity::Identity;
pub use options::ConnectOptions;

pub(crate) use kubeconfig::{Target, target, target_of_text};
pub(crate) use stack::{credential_reason, http_client};
