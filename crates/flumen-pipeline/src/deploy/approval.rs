//! Who decides about a plan: what was decided before, the install's rule, or a person.

use std::{fmt, pin::Pin};

use jiff::Timestamp;

use super::{Observer, PendingPlans, Plan, Verdict, pending::Subject};
use crate::{Result, install::Approvals};

/// Asks a person about a plan. `None` if nobody is there to answer.
pub trait Ask: Send + Sync {
    fn ask<'a>(
        &'a self,
        subject: &'a Subject,
        plan: &'a Plan,
    ) -> Pin<Box<dyn Future<Output = Option<Verdict>> + Send + 'a>>;
}

/// Decides about the plans of one command.
pub struct Approver<'a> {
    pub rule: Approvals,
    pub plans: PendingPlans,
    pub ask: &'a dyn Ask,
    /// The clock.
    pub now: fn() -> Timestamp,
}

/// What became of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Verdict(Verdict),
    /// Somebody has to decide later, by the name of the plan.
    Waits {
        name: String,
    },
}

impl Approver<'_> {
    pub(super) async fn decide(
        &self,
        subject: &Subject,
        plan: &Plan,
        observer: &dyn Observer,
    ) -> Result<Answer> {
        match self.plans.take(subject)? {
            Some((Verdict::Approve, approved)) if covers(&approved, plan, observer) => {
                return Ok(Answer::Verdict(Verdict::Approve));
            }
            // This plan is a new one, and has to be decided about.
            Some((Verdict::Approve | Verdict::Retry, _)) | None => {}
            Some((denied, _)) => return Ok(Answer::Verdict(denied)),
        }
        if self.rule == Approvals::ApproveAll {
            return Ok(Answer::Verdict(Verdict::Approve));
        }
        match self.ask.ask(subject, plan).await {
            Some(verdict) => Ok(Answer::Verdict(verdict)),
            None => Ok(Answer::Waits { name: self.plans.keep(subject, plan, (self.now)())? }),
        }
    }
}

/// Whether whoever approved a plan has approved this one too.
fn covers(approved: &Plan, plan: &Plan, observer: &dyn Observer) -> bool {
    if approved.artifact != plan.artifact {
        observer.log("the plan that was approved is of another artifact");
        return false;
    }
    let beyond = plan.beyond(approved);
    if !beyond.is_empty() {
        observer.log("the plan has changes that were not approved:");
    }
    for change in &beyond {
        observer.log(&format!("{} {}", change.object, change.action));
    }
    beyond.is_empty()
}

impl fmt::Debug for Approver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approver").field("rule", &self.rule).finish_non_exhaustive()
    }
}
