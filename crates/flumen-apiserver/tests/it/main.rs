//! The server as clients see it: real requests over loopback, a store in memory.

#![allow(clippy::disallowed_methods, reason = "recorded documents are read from a folder")]

mod access;
mod documents;
mod fixture;
mod negotiation;
mod paths;
mod recorded;
mod trouble;
