//! From objects to a healthy cluster: plan, staged apply, inventory, prune, wait.

mod history;

pub use history::{History, Pass, Snapshot};
