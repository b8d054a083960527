use std::{
    collections::{BTreeSet, VecDeque},
    fs,
    pin::Pin,
    sync::Mutex,
    time::Duration,
};

use flumen_diff::PlanDocument;
use flumen_oci::Digest;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    Error, State,
    config::Components,
    graph::{Direction, Graph},
    install::Approvals,
};

/// A component on a cluster that is a number for each object: what is wanted, and what is there.
struct World {
    artifact: Option<Digest>,
    wanted: Vec<(&'static str, u32)>,
    live: Vec<(&'static str, u32)>,
    operation: Operation,
    /// Somebody else's edits, one before each apply.
    edits: VecDeque<(&'static str, u32)>,
    /// How many applies fail.
    failures: u32,
    did: Vec<String>,
}

impl World {
    fn new(wanted: &[(&'static str, u32)], live: &[(&'static str, u32)]) -> Self {
        Self {
            artifact: Some(Digest::of(b"artifact")),
            wanted: wanted.to_vec(),
            live: live.to_vec(),
            operation: Operation::Deploy,
            edits: VecDeque::new(),
            failures: 0,
            did: Vec::new(),
        }
    }

    fn current(&self) -> Plan {
        let changes = self.wanted.iter().filter(|object| !self.live.contains(object));
        let changes = changes.map(|(name, wanted)| {
            let live = self.live.iter().find(|(other, _)| other == name);
            Change {
                object: format!("ConfigMap/default/{name}"),
                action: if live.is_some() { "configured" } else { "created" }.to_owned(),
                fingerprint: Digest::of(format!("{live:?} {wanted}").as_bytes()),
            }
        });
        let changes: Vec<Change> = changes.collect();
        let text = format!("{changes:?}");
        let artifact = self.artifact.clone().expect("an artifact");
        Plan { artifact, changes, text, document: PlanDocument::default() }
    }
}

impl Steps for World {
    type Error = Error;

    async fn sync(&mut self) -> Result<Option<Digest>, Error> {
        Ok(self.artifact.clone())
    }

    async fn plan(&mut self, _artifact: &Digest) -> Result<Plan, Error> {
        Ok(self.current())
    }

    async fn apply(&mut self, plan: &Plan) -> Result<Applied, Error> {
        if let Some((name, value)) = self.edits.pop_front() {
            self.live.retain(|(other, _)| *other != name);
            self.live.push((name, value));
        }
        if self.failures > 0 {
            self.failures -= 1;
            return Err(Error::Stopped);
        }
        if !self.current().beyond(plan).is_empty() {
            return Ok(Applied::Outdated);
        }
        self.did.push("apply".to_owned());
        match self.operation {
            Operation::Teardown => self.live.clear(),
            _ => self.live.clone_from(&self.wanted),
        }
        Ok(Applied::Done)
    }

    async fn check_health(&mut self) -> Result<(), Error> {
        self.did.push("check health".to_owned());
        Ok(())
    }
}

/// Answers with what was prepared; nobody is there when it is used up.
struct Scripted(Mutex<VecDeque<Verdict>>);

impl Ask for Scripted {
    fn ask<'a>(
        &'a self,
        _subject: &'a Subject,
        _plan: &'a Plan,
    ) -> Pin<Box<dyn Future<Output = Option<Verdict>> + Send + 'a>> {
        let verdict = self.0.lock().expect("no panic holds it").pop_front();
        Box::pin(async move { verdict })
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn status(&self, status: Status) {
        self.log(&status.to_string());
    }

    fn log(&self, line: &str) {
        self.0.lock().expect("no panic holds it").push(line.to_owned());
    }

    fn plan(&self, plan: &Plan) {
        self.log(&format!("{} changes", plan.changes.len()));
    }
}

struct Office {
    dir: TempDir,
    rule: Approvals,
    operation: Operation,
    retries: u32,
    heard: Heard,
}

impl Office {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("scratch directory"),
            rule: Approvals::Ask,
            operation: Operation::Deploy,
            retries: 0,
            heard: Heard::default(),
        }
    }

    fn plans(&self) -> PendingPlans {
        let path = self.dir.path();
        PendingPlans::new(&State::new(path.join("data"), path.join("state"))).expect("a directory")
    }

    async fn deploy(&self, world: &mut World, verdicts: &[Verdict]) -> Outcome<Error> {
        let ask = Scripted(Mutex::new(verdicts.iter().copied().collect()));
        let now = || Timestamp::UNIX_EPOCH;
        let approver = Approver { rule: self.rule, plans: self.plans(), ask: &ask, now };
        world.operation = self.operation;
        let subject = Subject {
            install: "prod".to_owned(),
            component: "web".to_owned(),
            operation: self.operation,
        };
        let order = Order { subject, timeout: Duration::from_mins(1), retries: self.retries };
        run(&order, world, &approver, &self.heard, &CancellationToken::new()).await
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.0.lock().expect("no panic holds it"))
    }

    fn decide(&self, name: &str, verdict: Verdict) {
        let decision = Decision { verdict, by: "me".to_owned(), at: Timestamp::UNIX_EPOCH };
        self.plans().decide(name, decision).expect("the plan is there");
    }
}

fn waiting(outcome: &Outcome<Error>) -> &str {
    assert_eq!(outcome.status, Status::PendingApproval);
    match &outcome.ended {
        Ended::Waits { plan } => plan,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_approved_plan_is_applied() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[Verdict::Approve]).await;
    assert_eq!(outcome.status, Status::Active);
    assert_eq!(outcome.artifact, world.artifact);
    assert_eq!(world.live, world.wanted);
    assert_eq!(
        office.heard(),
        ["syncing", "planning", "1 changes", "pending-approval", "executing", "active"]
    );
}

#[tokio::test]
async fn acceptance_22_a_plan_without_changes_is_skipped() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[("a", 1)]);
    let outcome = office.deploy(&mut world, &[]).await;
    assert_eq!(outcome.status, Status::AutoSkipped);
    assert!(matches!(outcome.ended, Ended::Well));
    assert_eq!(world.did, ["check health"]);
}

#[tokio::test]
async fn acceptance_26_a_denied_plan_is_not_applied() {
    for verdict in [Verdict::Deny, Verdict::DenyAndContinue] {
        let office = Office::new();
        let mut world = World::new(&[("a", 1)], &[]);
        let outcome = office.deploy(&mut world, &[verdict]).await;
        assert_eq!(outcome.status, Status::ApprovalDenied);
        let goes_on = matches!(outcome.ended, Ended::Well);
        assert_eq!(goes_on, verdict == Verdict::DenyAndContinue);
        assert!(world.live.is_empty() && world.did.is_empty());
    }
}

#[tokio::test]
async fn a_retry_plans_again() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[Verdict::Retry, Verdict::Approve]).await;
    assert_eq!(outcome.status, Status::Active);
    let planned = office.heard().iter().filter(|line| *line == "planning").count();
    assert_eq!(planned, 2);
}

#[tokio::test]
async fn without_a_person_the_plan_waits_and_its_approval_is_used_once() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[]).await;
    let name = waiting(&outcome).to_owned();
    let again = office.deploy(&mut world, &[]).await;
    assert_eq!(waiting(&again), name, "the same plan keeps its name");
    assert!(world.did.is_empty());

    office.decide(&name, Verdict::Approve);
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::Active);
    assert_eq!(world.did, ["apply"]);

    world.live.clear();
    let outcome = office.deploy(&mut world, &[]).await;
    waiting(&outcome);
    assert_eq!(world.did, ["apply"], "the approval is used up");
}

#[tokio::test]
async fn decisions_are_remembered_until_the_next_run() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let first = office.deploy(&mut world, &[]).await;
    office.decide(waiting(&first), Verdict::Deny);
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::ApprovalDenied);
    let outcome = office.deploy(&mut world, &[]).await;
    office.decide(waiting(&outcome), Verdict::Retry);
    waiting(&office.deploy(&mut world, &[]).await);
    assert!(world.did.is_empty());
}

#[tokio::test]
async fn an_approval_covers_no_further_changes() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[]).await;
    office.decide(waiting(&outcome), Verdict::Approve);
    world.wanted.push(("b", 1));
    let outcome = office.deploy(&mut world, &[]).await;
    waiting(&outcome);
    assert!(world.did.is_empty());
    let heard = office.heard();
    assert!(heard.iter().any(|line| line == "ConfigMap/default/b created"), "{heard:?}");
}

#[tokio::test]
async fn an_approval_covers_less() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1), ("b", 1)], &[]);
    let outcome = office.deploy(&mut world, &[]).await;
    office.decide(waiting(&outcome), Verdict::Approve);
    world.live.push(("a", 1));
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::Active);
}

#[tokio::test]
async fn acceptance_45_an_approval_is_for_one_artifact() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[]).await;
    office.decide(waiting(&outcome), Verdict::Approve);
    world.artifact = Some(Digest::of(b"another"));
    waiting(&office.deploy(&mut world, &[]).await);
    assert!(world.did.is_empty());
}

#[tokio::test]
async fn an_edit_between_approval_and_apply_asks_again() {
    let office = Office::new();
    let mut world = World::new(&[("a", 1)], &[]);
    world.edits.push_back(("a", 7));
    let outcome = office.deploy(&mut world, &[Verdict::Approve, Verdict::Approve]).await;
    assert_eq!(outcome.status, Status::Active);
    let asked = office.heard().iter().filter(|line| *line == "pending-approval").count();
    assert_eq!(asked, 2);
}

#[tokio::test]
async fn a_cluster_that_never_rests_is_given_up() {
    let mut office = Office::new();
    office.rule = Approvals::ApproveAll;
    let mut world = World::new(&[("a", 1)], &[]);
    world.edits.extend((2..100).map(|value| ("a", value)));
    let outcome = office.deploy(&mut world, &[]).await;
    assert!(matches!(outcome.ended, Ended::Failed(Error::PlanKeepsChanging)), "{outcome:?}");
}

#[tokio::test]
async fn plan_only_never_applies() {
    let mut office = Office::new();
    office.rule = Approvals::PlanOnly;
    let mut world = World::new(&[("a", 1)], &[]);
    let outcome = office.deploy(&mut world, &[]).await;
    assert_eq!(outcome.status, Status::Noop);
    assert_eq!(office.heard(), ["syncing", "planning", "1 changes", "noop"]);
    assert!(world.did.is_empty() && office.plans().all().expect("a directory").is_empty());
}

#[tokio::test]
async fn drift_is_told_and_never_written() {
    let mut office = Office::new();
    office.operation = Operation::CheckDrift;
    office.rule = Approvals::ApproveAll;
    let mut world = World::new(&[("a", 1)], &[("a", 2)]);
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::Drifted);
    assert!(office.heard().contains(&"Drift detected".to_owned()));
    world.live.clone_from(&world.wanted);
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::NoDrift);
    assert!(office.heard().contains(&"No drift detected".to_owned()));
    assert!(world.did.is_empty());
}

#[tokio::test]
async fn a_teardown_ends_inactive() {
    let mut office = Office::new();
    office.operation = Operation::Teardown;
    let mut world = World::new(&[("a", 1)], &[]);
    assert_eq!(office.deploy(&mut world, &[Verdict::Approve]).await.status, Status::Inactive);
    world.artifact = None;
    assert_eq!(office.deploy(&mut world, &[]).await.status, Status::Noop);
    assert!(office.heard().contains(&"nothing to teardown".to_owned()));
}

#[tokio::test]
async fn failures_are_tried_again_and_asked_about_again() {
    let mut office = Office::new();
    office.retries = 1;
    let mut world = World::new(&[("a", 1)], &[]);
    world.failures = 1;
    let outcome = office.deploy(&mut world, &[Verdict::Approve]).await;
    waiting(&outcome);
    world.failures = 2;
    let outcome = office.deploy(&mut world, &[Verdict::Approve, Verdict::Approve]).await;
    assert_eq!(outcome.status, Status::Error);
    assert!(matches!(outcome.ended, Ended::Failed(Error::Stopped)));
}

const SHOP: [(&str, &str); 4] = [("db", ""), ("api", "\"db\""), ("web", "\"api\""), ("docs", "")];

fn shop() -> Graph {
    let dir = tempfile::tempdir().expect("scratch directory");
    for (name, needs) in SHOP {
        let text = format!(
            "name = \"{name}\"\ntype = \"kubernetes_manifest\"\nnamespace = \"x\"\n\
             manifest = \"a: b\"\ndependencies = [{needs}]\n"
        );
        fs::write(dir.path().join(format!("{name}.toml")), text).expect("file");
    }
    let loaded = Components::load(dir.path()).expect("directory");
    Graph::new(loaded.components.values()).expect("a graph")
}

/// The statuses of all components, if `db` ends like this and the others well.
async fn shop_with(status: Status, ended: impl Fn() -> Ended<Error>) -> Vec<String> {
    let graph = shop();
    let selected: BTreeSet<String> = SHOP.iter().map(|(name, _)| (*name).to_owned()).collect();
    let outcomes = run_all(&graph, Direction::DependenciesFirst, &selected, |name| {
        let (status, ended) =
            if name == "db" { (status, ended()) } else { (Status::Active, Ended::Well) };
        async move { Outcome { status, artifact: None, ended } }
    });
    let outcomes = outcomes.await;
    outcomes.iter().map(|(name, outcome)| format!("{name} {}", outcome.status)).collect()
}

#[tokio::test]
async fn acceptance_49_dependants_of_a_failure_are_not_deployed() {
    let found = shop_with(Status::Error, || Ended::Failed(Error::Stopped)).await;
    assert_eq!(found, ["api cancelled", "db error", "docs active", "web cancelled"]);
    let waits = || Ended::Waits { plan: "p".to_owned() };
    let found = shop_with(Status::PendingApproval, waits).await;
    assert_eq!(found, ["api cancelled", "db pending-approval", "docs active", "web cancelled"]);
}

#[tokio::test]
async fn a_denial_stops_what_follows_and_deny_and_continue_does_not() {
    let found = shop_with(Status::ApprovalDenied, || Ended::Denied).await;
    assert_eq!(found, ["api cancelled", "db approval-denied", "docs active", "web cancelled"]);
    let found = shop_with(Status::ApprovalDenied, || Ended::Well).await;
    assert_eq!(found, ["api active", "db approval-denied", "docs active", "web active"]);
}

#[tokio::test]
async fn acceptance_50_unrelated_components_are_deployed_side_by_side() {
    let graph = shop();
    let selected = ["db", "docs"].map(str::to_owned).into_iter().collect();
    // Neither ends before both have begun.
    let barrier = tokio::sync::Barrier::new(2);
    let outcomes = run_all(&graph, Direction::DependenciesFirst, &selected, |_| async {
        barrier.wait().await;
        Outcome::<Error> { status: Status::Active, artifact: None, ended: Ended::Well }
    });
    assert_eq!(outcomes.await.len(), 2);
}
