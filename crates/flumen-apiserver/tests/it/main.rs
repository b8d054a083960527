//! The server as its clients see it: over loopback, and without a network for parts of the server.
//! Stores are in memory.

#![allow(clippy::disallowed_methods, reason = "recorded documents are read from a folder")]

mod access;
mod admission;
mod certificates;
mod definitions;
mod documents;
mod fixture;
mod hook;
mod negotiation;
mod objects;
mod paths;
mod recorded;
mod scenarios;
mod server;
mod trouble;
mod watches;
