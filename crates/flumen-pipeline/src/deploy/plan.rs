//! What a plan would change, as approvals know it.

use std::collections::BTreeSet;

use flumen_diff::PlanDocument;
use flumen_oci::Digest;
use serde::{Deserialize, Serialize};

/// A plan of one component on one install.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The artifact that it was made from.
    pub artifact: Digest,
    /// What would change; nothing in a plan that changes nothing.
    pub changes: Vec<Change>,
    /// The same for people, with secrets masked.
    pub text: String,
    /// The same for programs.
    pub document: PlanDocument,
}

/// What would happen to one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// `Kind/namespace/name`.
    pub object: String,
    /// Such as `created` or `deleted`.
    pub action: String,
    /// Of the object as it is and as it would be: what was approved is a change from this state to
    /// that one.
    pub fingerprint: Digest,
}

impl Plan {
    pub const fn is_noop(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes that an approval of `approved` does not cover.
    pub fn beyond<'a>(&'a self, approved: &Self) -> Vec<&'a Change> {
        let covered: BTreeSet<&Change> = approved.changes.iter().collect();
        self.changes.iter().filter(|change| !covered.contains(change)).collect()
    }
}
