//! What needs more than the crate: recorded answers, and a real API server.

mod defaults;
mod validation;
