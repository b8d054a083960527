//! The server in memory, without a network.

mod admission;
mod definitions;
mod objects;
mod server;
mod watches;
