//! The flags of leader election.

use std::time::Duration;

use clap::{ArgAction, Args};
use flumen_controller::Election;

use super::values::{go_bool, go_duration};
use crate::{
    args::env,
    error::{CommandError, Failure},
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Leader election")]
pub(super) struct ElectionArgs {
    /// Work only while the Leases of Flux's controllers are ours, in the namespace that `RUNTIME_NAMESPACE` names
    #[arg(long, value_name = "BOOL", default_value = "false", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    enable_leader_election: bool,

    /// How long others leave a Lease alone that is not renewed
    #[arg(long, value_name = "DURATION", default_value = "35s", value_parser = go_duration)]
    leader_election_lease_duration: Duration,

    /// How long to try to renew a Lease before giving up
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = go_duration)]
    leader_election_renew_deadline: Duration,

    /// The pause between two tries
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = go_duration)]
    leader_election_retry_period: Duration,

    /// Give the Leases back at the end, so that another takes over at once
    #[arg(long, value_name = "BOOL", default_value = "true", value_parser = go_bool, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    leader_election_release_on_cancel: bool,
}

impl ElectionArgs {
    pub(super) fn election(&self) -> Result<Option<Election>, CommandError> {
        let [lease, renew, retry] = [
            self.leader_election_lease_duration,
            self.leader_election_renew_deadline,
            self.leader_election_retry_period,
        ];
        if !self.enable_leader_election {
            return Ok(None);
        }
        if !(lease > renew && renew > retry && !retry.is_zero() && lease.as_secs() > 0) {
            let message = "the times of leader election do not fit together";
            let hint = "a lease duration of at least a second that is longer than the renew deadline, \
                        which is longer than the retry period";
            return Err(Failure::new(message).hint(hint).into());
        }
        Ok(Some(Election {
            name: env::host().unwrap_or_else(|| "flumen".to_owned()),
            lease,
            renew,
            retry,
            releases: self.leader_election_release_on_cancel,
        }))
    }
}
