//! Tests through the public interface, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod cases;
mod notation;
mod printed;
mod properties;
