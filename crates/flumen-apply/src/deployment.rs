//! What was deployed, by whom, and how it ended.

use serde::{Deserialize, Serialize};

/// How many deployments are remembered.
const REMEMBERED: usize = 10;

/// One run that changed something, or tried to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Deployment {
    /// Rises by one with every deployment.
    pub number: u64,
    /// The artifact's digest reference, `oci://host/path@sha256:…`.
    pub artifact: String,
    /// What the artifact was built from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// The user and machine that ran it.
    pub by: String,
    /// RFC 3339, UTC.
    pub at: String,
    pub result: Result,
    /// Why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The number of the deployment whose artifact this one brought back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolled_back_to: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Result {
    #[default]
    Succeeded,
    Failed,
}

/// Puts a deployment in front, numbers it, and drops the oldest.
pub(crate) fn remember(history: &mut Vec<Deployment>, mut deployment: Deployment) {
    deployment.number = history.first().map_or(0, |last| last.number) + 1;
    history.insert(0, deployment);
    history.truncate(REMEMBERED);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stands_first_and_ten_are_kept() {
        let mut history = Vec::new();
        for _ in 0..12 {
            remember(&mut history, Deployment::default());
        }
        let numbers: Vec<u64> = history.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    }
}
