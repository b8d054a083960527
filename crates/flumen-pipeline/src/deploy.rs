//! Deploys: from the artifact of a build to a cluster, with somebody's approval.
//!
//! - `machine` is the deploy of one component: sync, plan, approval, apply.
//! - `on_cluster` is what those steps do on a real cluster; `planned` makes its plans readable.
//! - `all` takes several components through it, in the order of their dependencies.
//! - `approval` says who decides about a plan, `pending` keeps plans until somebody does.
//! - `lock` lets one deploy of a component happen at a time.

mod all;
mod approval;
mod drift;
mod lock;
mod machine;
mod naming;
mod on_cluster;
mod pending;
mod plan;
mod planned;
mod status;

use serde::{Deserialize, Serialize};

pub use self::{
    all::run_all,
    approval::{Approver, Ask},
    drift::Drift,
    lock::ComponentLock,
    machine::{Applied, Ended, Observer, Order, Outcome, Steps, run},
    on_cluster::Site,
    pending::{Decision, PendingPlan, PendingPlans, Subject, Verdict},
    plan::{Change, Plan},
    status::Status,
};

/// What is done to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Deploy,
    Teardown,
    /// Plans and tells, and never writes.
    CheckDrift,
}

#[cfg(test)]
mod tests;
