//! Where a deploy is, or how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Others come first.
    Queued,
    /// Another deploy of the same component is under way.
    Pending,
    /// The artifact is copied to the install and its signature checked.
    Syncing,
    Planning,
    PendingApproval,
    Executing,
    /// Everything is applied.
    Active,
    Error,
    /// The user stopped it, or something that it needs did not come about.
    Cancelled,
    /// Nothing was to be done: only a plan was wanted, or there is nothing to tear down.
    Noop,
    /// Everything is torn down.
    Inactive,
    /// The plan changes nothing, so nothing was applied.
    AutoSkipped,
    ApprovalDenied,
    Drifted,
    NoDrift,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queued => "queued",
            Self::Pending => "pending",
            Self::Syncing => "syncing",
            Self::Planning => "planning",
            Self::PendingApproval => "pending-approval",
            Self::Executing => "executing",
            Self::Active => "active",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Noop => "noop",
            Self::Inactive => "inactive",
            Self::AutoSkipped => "auto-skipped",
            Self::ApprovalDenied => "approval-denied",
            Self::Drifted => "drifted",
            Self::NoDrift => "no-drift",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_programs_read_the_same_names() {
        let all = [
            Status::Queued,
            Status::Pending,
            Status::Syncing,
            Status::Planning,
            Status::PendingApproval,
            Status::Executing,
            Status::Active,
            Status::Error,
            Status::Cancelled,
            Status::Noop,
            Status::Inactive,
            Status::AutoSkipped,
            Status::ApprovalDenied,
            Status::Drifted,
            Status::NoDrift,
        ];
        for status in all {
            let written = serde_json::to_value(status).expect("JSON");
            assert_eq!(written, status.to_string());
        }
    }
}
