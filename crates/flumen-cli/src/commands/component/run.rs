//! Runs deploys of several components and tells how they ended.

use std::collections::{BTreeMap, BTreeSet};

use flumen_apply::Deployment;
use flumen_pipeline::{
    Error,
    deploy::{
        Approver, ComponentLock, Ended, Observer as _, Operation, Order, Outcome, PendingPlans,
        Site, Status, Subject, run, run_all,
    },
    graph::Direction,
    install::Approvals,
    job::CancellationToken,
};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    deploy_progress::DeployProgress, interrupt::cancelled_by_the_user, site::OpenSite,
    terminal::Terminal,
};
use crate::{
    error::{CommandError, Failure},
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// What is wanted of all selected components.
pub(super) struct Wanted<'a> {
    pub(super) operation: Operation,
    pub(super) rule: Approvals,
    pub(super) allows_large_prune: bool,
    /// What is brought back, in a rollback of one component.
    pub(super) pinned: Option<&'a Deployment>,
}

type Outcomes = BTreeMap<String, Outcome<Error>>;

/// How one deploy ended.
#[derive(Serialize)]
struct Line {
    component: String,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    /// The plan that waits for a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["COMPONENT", "STATUS", "ARTIFACT", "PLAN"], &[]);

    fn cells(&self) -> Vec<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        vec![
            self.component.clone(),
            self.status.to_string(),
            text(&self.artifact),
            text(&self.plan),
        ]
    }

    fn name(&self) -> &str {
        &self.component
    }
}

/// Does what is wanted with all selected components, and prints the results.
pub(super) async fn deploy_all(
    open: &OpenSite,
    wanted: &Wanted<'_>,
    format: ListFormat,
    ui: &Ui,
) -> Result<(), CommandError> {
    deploy(open, &open.selected, wanted, &cancelled_by_the_user(), format, ui).await
}

/// Does what is wanted with these components, in the order of their dependencies.
pub(super) async fn deploy(
    open: &OpenSite,
    names: &BTreeSet<String>,
    wanted: &Wanted<'_>,
    cancel: &CancellationToken,
    format: ListFormat,
    ui: &Ui,
) -> Result<(), CommandError> {
    let terminal = Terminal::new(ui);
    let approver = Approver {
        rule: wanted.rule,
        plans: PendingPlans::new(&open.state)?,
        ask: &terminal,
        now: Timestamp::now,
    };
    let site = Site {
        approves_all: wanted.rule == Approvals::ApproveAll,
        allows_large_prune: wanted.allows_large_prune,
        ..open.site()
    };
    let (graph, direction) = match wanted.operation {
        Operation::Deploy => (open.graph.clone(), Direction::DependenciesFirst),
        Operation::Teardown => (open.graph.clone(), Direction::DependantsFirst),
        // Looking at one does not depend on another.
        Operation::CheckDrift => (open.graph.without_order(), Direction::DependenciesFirst),
    };
    let one = |name| {
        let (site, approver) = (&site, &approver);
        async move {
            let component = &open.components[name];
            let progress = DeployProgress::new(name, ui);
            let waits = || progress.status(Status::Pending);
            let lock = ComponentLock::acquire(&open.state, &open.install.id, name, waits);
            let _lock = tokio::select! {
                lock = lock => match lock {
                    Ok(lock) => lock,
                    Err(error) => return ended(Status::Error, Ended::Failed(error)),
                },
                () = cancel.cancelled() => return ended(Status::Cancelled, Ended::Cancelled),
            };
            let order = Order {
                subject: Subject {
                    install: open.install.id.clone(),
                    component: name.to_owned(),
                    operation: wanted.operation,
                },
                timeout: component.deploy_timeout,
                retries: component.config.max_auto_retries,
            };
            let mut steps =
                site.steps(component, wanted.operation, wanted.pinned, &progress, &progress);
            let outcome = run(&order, &mut steps, approver, &progress, cancel).await;
            match open.state.note_drift(&order.subject, &outcome, Timestamp::now()) {
                Ok(()) => outcome,
                Err(error) => ended(Status::Error, Ended::Failed(error)),
            }
        }
    };
    let outcomes = run_all(&graph, direction, names, one).await;
    report(outcomes, wanted.operation, format, ui)
}

const fn ended(status: Status, ended: Ended<Error>) -> Outcome<Error> {
    Outcome { status, artifact: None, ended }
}

/// Prints all outcomes, then what went wrong; the last failure is that of the command.
fn report(
    outcomes: Outcomes,
    operation: Operation,
    format: ListFormat,
    ui: &Ui,
) -> Result<(), CommandError> {
    let lines: Vec<Line> = outcomes.iter().map(|(name, outcome)| line(name, outcome)).collect();
    listing::print(&lines, format, ui)?;
    let waiting: Vec<String> = lines.into_iter().filter_map(|line| line.plan).collect();
    let drifted = outcomes.values().any(|outcome| outcome.status == Status::Drifted);
    let mut last = Ok(());
    for (name, outcome) in outcomes {
        let Some(failure) = failure(&name, outcome.ended, operation) else { continue };
        if let Err(error) = std::mem::replace(&mut last, Err(failure.into())) {
            CommandError::report(error, ui);
        }
    }
    last?;
    if !waiting.is_empty() {
        return Err(CommandError::Undecided { plans: waiting });
    }
    if drifted { Err(CommandError::Different) } else { Ok(()) }
}

fn line(name: &str, outcome: &Outcome<Error>) -> Line {
    let (plan, error) = match &outcome.ended {
        Ended::Waits { plan } => (Some(plan.clone()), None),
        Ended::Failed(error) => (None, Some(error.to_string())),
        Ended::Blocked { by } => (None, Some(format!("`{by}` comes first"))),
        _ => (None, None),
    };
    Line {
        component: name.to_owned(),
        status: outcome.status,
        artifact: outcome.artifact.as_ref().map(ToString::to_string),
        plan,
        error,
    }
}

/// What the user has to hear about, beyond the table.
fn failure(name: &str, ended: Ended<Error>, operation: Operation) -> Option<Failure> {
    let doing = match operation {
        Operation::Deploy => "deploying",
        Operation::Teardown => "tearing down",
        Operation::CheckDrift => "looking for drift of",
    };
    let failure = match ended {
        Ended::Well | Ended::Waits { .. } | Ended::Blocked { .. } => return None,
        Ended::Denied => Failure::new("the plan was denied"),
        Ended::Failed(error) => error.into(),
        Ended::TimedOut(timeout) => Failure::new(format!("it took longer than {timeout:?}"))
            .hint("`deploy_timeout` of the component says how long it may take"),
        Ended::Cancelled => Failure::new("cancelled by the user"),
    };
    Some(failure.within(format!("{doing} `{name}`")))
}
