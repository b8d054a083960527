//! The engine on a real API server.
#![allow(clippy::disallowed_methods, reason = "tests look at clocks and files")]

mod fixture;

mod deferral;
mod faults;
mod flux_kinds;
mod inventory;
mod pruning;
mod requests;
mod stages;
mod takeover;
mod waiting;
mod watched;
