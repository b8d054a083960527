//! HTTP servers: connections, encryption, time limits, shutting down, and which hosts and origins are answered.
//!
//! A server hands in an axum router ([`serve_router`]). One that answers in its own way hands in a service for each
//! connection ([`serve`]) and asks a [`Guard`] itself.

mod connections;
mod guard;
mod opening;
mod router;
mod silence;
mod tls;

pub use connections::{Limits, Running, serve};
pub use guard::{Guard, Rejection};
pub use router::serve_router;
pub use silence::Silence;
pub use tls::{Peer, acceptor};
