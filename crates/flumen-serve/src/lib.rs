//! Connections of HTTP servers: accepting, encrypting, dropping and ending them.
//!
//! What is answered is somebody else's affair: a server hands in a service for each connection.

mod connections;
mod opening;
mod silence;
mod tls;

pub use connections::{Limits, Running, serve};
pub use silence::Silence;
pub use tls::{Peer, acceptor};
