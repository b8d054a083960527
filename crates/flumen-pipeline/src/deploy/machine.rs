//! The deploy of one component.
//!
//! ```text
//!            ┌──────── retry, outdated ────────┐
//!            ▼                                 │
//! sync ─▶ plan ─▶ approval ─▶ apply ─▶ active, inactive
//!   │       │        │
//!   │       │        ├─▶ approval-denied
//!   │       │        └─▶ pending-approval: somebody decides later
//!   │       └─▶ auto-skipped, noop, drifted, no-drift
//!   └─▶ noop: nothing to tear down
//! ```

use std::{fmt, future::Future, time::Duration};

use flumen_oci::Digest;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Approver, Operation, Plan, Status, Verdict, approval::Answer, pending::Subject};
use crate::install::Approvals;

/// A plan that is outdated whenever it is to be carried out is made so often.
const MOST_PLANS: u32 = 5;

/// What a deploy does, one thing after the other.
pub trait Steps {
    type Error: From<crate::Error> + fmt::Display;

    /// Brings the artifact to the install and checks its signature. `None` if there is nothing to do.
    fn sync(&mut self) -> impl Future<Output = Result<Option<Digest>, Self::Error>>;

    /// Finds out what would change.
    fn plan(&mut self, artifact: &Digest) -> impl Future<Output = Result<Plan, Self::Error>>;

    /// Carries out a plan, unless more would change by now.
    fn apply(&mut self, plan: &Plan) -> impl Future<Output = Result<Applied, Self::Error>>;

    /// Looks whether workloads are healthy although nothing was applied.
    fn check_health(&mut self) -> impl Future<Output = Result<(), Self::Error>>;
}

/// How carrying out a plan went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// Nothing was done, because more would change than was approved.
    Outdated,
}

/// Hears what a deploy does while it does it.
pub trait Observer: Send + Sync {
    fn status(&self, status: Status);

    fn log(&self, line: &str);

    /// A plan that changes something.
    fn plan(&self, plan: &Plan);
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Order {
    pub subject: Subject,
    /// Bounds the work, not the time that a person takes to decide.
    pub timeout: Duration,
    /// How often a failed deploy is tried again by itself.
    pub retries: u32,
}

/// How a deploy ended.
#[derive(Debug)]
pub struct Outcome<E> {
    pub status: Status,
    /// What was looked at, as far as it came to that.
    pub artifact: Option<Digest>,
    pub ended: Ended<E>,
}

/// What follows from the end of a deploy.
#[derive(Debug)]
pub enum Ended<E> {
    /// Others may follow.
    Well,
    /// Nothing else is begun.
    Denied,
    /// What depends on it is not begun.
    Waits {
        plan: String,
    },
    Failed(E),
    TimedOut(Duration),
    Cancelled,
    /// It was never begun, because of another component.
    Blocked {
        by: String,
    },
}

/// Takes one component from its artifact to the cluster, or as far as it goes.
pub async fn run<S: Steps>(
    order: &Order,
    steps: &mut S,
    approver: &Approver<'_>,
    observer: &dyn Observer,
    cancel: &CancellationToken,
) -> Outcome<S::Error> {
    let mut left = order.retries;
    loop {
        let mut deploy = Deploy {
            order,
            approver,
            observer,
            cancel,
            left: order.timeout,
            artifact: None,
            plans: 0,
        };
        let (status, ended) = match deploy.all(steps).await {
            Ok((status, ended)) => (status, ended),
            Err(Ended::Failed(error)) if left > 0 => {
                left -= 1;
                observer.log(&format!("tried again after a failure: {error}"));
                continue;
            }
            Err(ended @ Ended::Cancelled) => (Status::Cancelled, ended),
            Err(ended) => (Status::Error, ended),
        };
        observer.status(status);
        return Outcome { status, artifact: deploy.artifact, ended };
    }
}

/// What a deploy does next.
enum Next<E> {
    Sync,
    Plan(Digest),
    Approve(Plan),
    Apply(Plan),
    End(Status, Ended<E>),
}

struct Deploy<'a> {
    order: &'a Order,
    approver: &'a Approver<'a>,
    observer: &'a dyn Observer,
    cancel: &'a CancellationToken,
    /// Time that the work may still take.
    left: Duration,
    artifact: Option<Digest>,
    plans: u32,
}

impl Deploy<'_> {
    async fn all<S: Steps>(
        &mut self,
        steps: &mut S,
    ) -> Result<(Status, Ended<S::Error>), Ended<S::Error>> {
        let mut next = Next::Sync;
        loop {
            next = match next {
                Next::Sync => self.sync(steps).await?,
                Next::Plan(artifact) => self.plan(steps, &artifact).await?,
                Next::Approve(plan) => self.approve(plan).await?,
                Next::Apply(plan) => self.apply(steps, &plan).await?,
                Next::End(status, ended) => return Ok((status, ended)),
            };
        }
    }

    async fn sync<S: Steps>(&mut self, steps: &mut S) -> Result<Next<S::Error>, Ended<S::Error>> {
        self.observer.status(Status::Syncing);
        let Some(artifact) = self.bounded(steps.sync()).await? else {
            self.observer.log("nothing to teardown");
            return Ok(Next::End(Status::Noop, Ended::Well));
        };
        self.artifact = Some(artifact.clone());
        Ok(Next::Plan(artifact))
    }

    async fn plan<S: Steps>(
        &mut self,
        steps: &mut S,
        artifact: &Digest,
    ) -> Result<Next<S::Error>, Ended<S::Error>> {
        self.observer.status(Status::Planning);
        self.plans += 1;
        let plan = self.bounded(steps.plan(artifact)).await?;
        let end = |status| Ok(Next::End(status, Ended::Well));
        if !plan.is_noop() {
            self.observer.plan(&plan);
        }
        match (self.order.subject.operation, plan.is_noop()) {
            (Operation::CheckDrift, true) => {
                self.observer.log("No drift detected");
                end(Status::NoDrift)
            }
            (Operation::CheckDrift, false) => {
                self.observer.log("Drift detected");
                end(Status::Drifted)
            }
            (Operation::Deploy, true) => {
                self.bounded(steps.check_health()).await?;
                end(Status::AutoSkipped)
            }
            // What is gone already is still in the inventory, which goes now.
            (Operation::Teardown, true) => Ok(Next::Apply(plan)),
            (_, false) if self.approver.rule == Approvals::PlanOnly => end(Status::Noop),
            (_, false) => Ok(Next::Approve(plan)),
        }
    }

    async fn approve<E: From<crate::Error>>(&self, plan: Plan) -> Result<Next<E>, Ended<E>> {
        self.observer.status(Status::PendingApproval);
        let decision = self.approver.decide(&self.order.subject, &plan, self.observer);
        let answer = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Ended::Cancelled),
            answer = decision => answer.map_err(|error| Ended::Failed(error.into()))?,
        };
        Ok(match answer {
            Answer::Verdict(Verdict::Approve) => Next::Apply(plan),
            Answer::Verdict(Verdict::Retry) => Next::Plan(plan.artifact),
            Answer::Verdict(Verdict::Deny) => Next::End(Status::ApprovalDenied, Ended::Denied),
            Answer::Verdict(Verdict::DenyAndContinue) => {
                Next::End(Status::ApprovalDenied, Ended::Well)
            }
            Answer::Waits { name } => {
                Next::End(Status::PendingApproval, Ended::Waits { plan: name })
            }
        })
    }

    async fn apply<S: Steps>(
        &mut self,
        steps: &mut S,
        plan: &Plan,
    ) -> Result<Next<S::Error>, Ended<S::Error>> {
        self.observer.status(Status::Executing);
        match self.bounded(steps.apply(plan)).await? {
            Applied::Done => {
                let status = match self.order.subject.operation {
                    Operation::Teardown => Status::Inactive,
                    Operation::Deploy | Operation::CheckDrift => Status::Active,
                };
                Ok(Next::End(status, Ended::Well))
            }
            Applied::Outdated if self.plans < MOST_PLANS => {
                self.observer.log("the cluster has changed since the plan was made");
                Ok(Next::Plan(plan.artifact.clone()))
            }
            Applied::Outdated => Err(Ended::Failed(crate::Error::PlanKeepsChanging.into())),
        }
    }

    /// Waits for work, but not longer than the deploy may take or than the user wants.
    async fn bounded<T, E>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Ended<E>> {
        let begun = Instant::now();
        let result = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Ended::Cancelled),
            () = tokio::time::sleep(self.left) => Err(Ended::TimedOut(self.order.timeout)),
            result = work => result.map_err(Ended::Failed),
        };
        self.left = self.left.saturating_sub(begun.elapsed());
        result
    }
}
