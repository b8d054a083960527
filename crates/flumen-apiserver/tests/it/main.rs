//! The server as its clients see it: over loopback, and without a network for parts of the server.
//! Stores are in memory.

#![allow(clippy::disallowed_methods, reason = "recorded documents are read from a folder")]

mod access;
mod admission;
mod certificates;
mod definitions;
mod differential;
mod documentation;
mod documents;
mod fan_out;
mod fixture;
mod hook;
mod hostile;
mod negotiation;
mod objects;
mod paths;
mod real;
mod recorded;
mod scenarios;
mod server;
mod tables;
mod trouble;
mod watches;
