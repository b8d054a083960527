//! The controller dies at any moment: whoever comes next brings it to the same end.
//!
//! It runs in a process of its own, which is this test binary started again. One of its requests is held, as the
//! kill point and the seed decide, and the process is killed before it takes effect. Then another one begins with
//! what is there. `FLUMEN_CONTROLLER_CRASH_SEEDS=20` makes a campaign of it.

use std::{
    env,
    path::Path,
    process::{Child, Command, Stdio},
};

use flumen_testkit::{KubeCluster, KubeProxy, KubeRequest, PATIENCE};
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map, run_here};

/// Tells a process of this binary that it is the one to kill.
const KUBECONFIG: &str = "FLUMEN_TEST_CONTROLLER_KUBECONFIG";
const NAMESPACE: &str = "FLUMEN_TEST_CONTROLLER_NAMESPACE";
const STORAGE: &str = "FLUMEN_TEST_CONTROLLER_STORAGE";
const SEEDS: &str = "FLUMEN_CONTROLLER_CRASH_SEEDS";

/// Not a test of its own: the controller that is killed, when the environment says so.
#[test]
fn controller_process() {
    let Ok(kubeconfig) = env::var(KUBECONFIG) else { return };
    let of_environment = |name| env::var(name).expect("it is set together with the others");
    run_here(Path::new(&kubeconfig), &of_environment(NAMESPACE), of_environment(STORAGE).into());
}

/// What the user does meanwhile.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Create,
    Update,
    Delete,
}

/// Before which request the controller dies.
struct KillPoint {
    name: &'static str,
    phase: Phase,
    matches: fn(&KubeRequest) -> bool,
    /// The first of these requests that counts.
    first: usize,
    /// How many of them the phase makes from there, at least; the seed chooses one.
    count: usize,
}

const POINTS: [KillPoint; 16] = [
    point("create: finalizer of the source", Phase::Create, finalizes_source, 0, 1),
    point("create: status of the source", Phase::Create, writes_source, 0, 1),
    point("create: finalizer", Phase::Create, finalizes, 0, 1),
    point("create: dry run", Phase::Create, tries, 0, 4),
    point("create: write-ahead of the inventory", Phase::Create, writes, 0, 1),
    point("create: apply", Phase::Create, applies, 0, 4),
    point("create: commit", Phase::Create, writes, 1, 1),
    point("create: event", Phase::Create, tells, 0, 3),
    point("update: status of the source", Phase::Update, writes_source, 0, 1),
    point("update: dry run", Phase::Update, tries, 0, 2),
    point("update: write-ahead of the inventory", Phase::Update, writes, 0, 1),
    point("update: apply", Phase::Update, applies, 0, 2),
    point("update: prune", Phase::Update, deletes, 0, 2),
    point("update: commit", Phase::Update, writes, 1, 1),
    point("delete: objects", Phase::Delete, deletes, 0, 3),
    point("delete: finalizer", Phase::Delete, finalizes, 0, 1),
];

const fn point(
    name: &'static str,
    phase: Phase,
    matches: fn(&KubeRequest) -> bool,
    first: usize,
    count: usize,
) -> KillPoint {
    KillPoint { name, phase, matches, first, count }
}

fn finalizes_source(request: &KubeRequest) -> bool {
    request.is_write() && request.path.ends_with("/ocirepositories/app")
}

fn writes_source(request: &KubeRequest) -> bool {
    request.is_write() && request.path.ends_with("/ocirepositories/app/status")
}

fn finalizes(request: &KubeRequest) -> bool {
    request.is_write() && request.path.ends_with("/kustomizations/app")
}

fn writes(request: &KubeRequest) -> bool {
    request.is_write() && request.path.ends_with("/kustomizations/app/status")
}

fn tells(request: &KubeRequest) -> bool {
    request.verb() == "create" && request.resource().as_deref() == Some("events")
}

fn is_of_objects(request: &KubeRequest) -> bool {
    request.resource().as_deref() == Some("configmaps")
}

fn tries(request: &KubeRequest) -> bool {
    is_of_objects(request) && request.verb() == "apply" && request.is_dry_run()
}

fn applies(request: &KubeRequest) -> bool {
    is_of_objects(request) && request.verb() == "apply" && !request.is_dry_run()
}

fn deletes(request: &KubeRequest) -> bool {
    is_of_objects(request) && request.verb() == "delete"
}

#[test]
fn whoever_comes_after_a_killed_controller_finishes_its_work() {
    let Some(cluster) = KubeCluster::shared_with_controllers() else { return };
    let proxy = KubeProxy::start(cluster);
    let seeds = env::var(SEEDS).map_or(1, |seeds| seeds.parse().expect("a number"));
    for seed in 0..seeds {
        for point in &POINTS {
            let stage = Stage::prepare().expect("it was there a moment ago");
            Round { stage: &stage, proxy: &proxy, point, seed }.play();
        }
    }
}

/// One life of a Kustomization, with one death of its controller.
struct Round<'a> {
    stage: &'a Stage,
    proxy: &'a KubeProxy,
    point: &'a KillPoint,
    seed: usize,
}

/// What the two revisions hold: names and values.
const REVISIONS: [&[(&str, &str)]; 2] =
    [&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")], &[("a", "2"), ("b", "1"), ("e", "2")]];
const ALL: [&str; 5] = ["a", "b", "c", "d", "e"];
/// Somebody else's.
const BYSTANDER: &str = "bystander";

impl Round<'_> {
    fn play(&self) {
        let stage = self.stage;
        stage.apply(&json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": BYSTANDER, "namespace": stage.namespace},
        }));
        let bystander = self.uid(BYSTANDER);

        let mut child = self.begin(Phase::Create, None, || {
            self.push(0);
            stage.source();
            stage.kustomization("app", &json!({"wait": true}));
        });
        self.until_delivered(0, None);
        let (uids, first) = (self.uids(), self.revision());

        child = self.begin(Phase::Update, Some(child), || {
            self.push(1);
            stage.request("OCIRepository", "app");
        });
        self.until_delivered(1, Some(&first));
        assert_eq!(self.uids()[..2], uids[..2], "{self}: what both revisions hold stays");

        child = self.begin(Phase::Delete, Some(child), || stage.delete("Kustomization", "app"));
        Stage::until(&format!("{self}: it is gone"), || {
            stage.get("Kustomization", "app").is_none().then_some(())
        });
        for name in ALL {
            assert_eq!(self.uid(name), None, "{self}: {name} is an orphan");
        }
        assert_eq!(self.uid(BYSTANDER), bystander, "{self}: it is not ours to delete");
        end(&mut child);
    }

    /// Does what `change` says, and returns the controller that works on it: another one if this is where the
    /// first one dies.
    fn begin(&self, phase: Phase, running: Option<Child>, change: impl FnOnce()) -> Child {
        let dies = phase == self.point.phase;
        if dies {
            let ordinal = self.point.first + self.seed % self.point.count;
            let (matches, within) = (self.point.matches, format!("/{}/", self.stage.namespace));
            self.proxy.hold_after(ordinal, move |request| {
                request.path.contains(&within) && matches(request)
            });
        }
        let mut running = running.unwrap_or_else(|| self.controller());
        change();
        if dies {
            assert!(self.proxy.wait_for_hold(PATIENCE), "{self}: there is no such request");
            end(&mut running);
            self.proxy.release();
            running = self.controller();
        }
        running
    }

    fn controller(&self) -> Child {
        Command::new(env::current_exe().expect("a path"))
            .args(["--exact", "crash::controller_process", "--nocapture"])
            .env(KUBECONFIG, self.proxy.kubeconfig())
            .env(NAMESPACE, &self.stage.namespace)
            .env(STORAGE, self.stage.stored(""))
            .stdout(Stdio::null())
            .spawn()
            .expect("starts")
    }

    fn push(&self, revision: usize) {
        let files: Vec<(String, String)> = REVISIONS[revision]
            .iter()
            .map(|(name, value)| (format!("{name}.yaml"), config_map(name, value)))
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        self.stage.push(&files);
    }

    /// Waits until a Kustomization is ready at another revision than `before`. Whenever it says that it is ready, all of
    /// what it says is there must be there.
    fn until_delivered(&self, revision: usize, before: Option<&Value>) {
        self.stage.until_object("Kustomization", "app", |object| {
            let is_ready = condition(object, "Ready")["status"] == "True";
            let is_new = Some(&object["status"]["lastAppliedRevision"]) != before;
            if is_ready && is_new {
                self.check(revision);
            }
            is_ready && is_new
        });
    }

    fn check(&self, revision: usize) {
        for name in ALL {
            let found = self.stage.get("ConfigMap", name);
            let wanted = REVISIONS[revision].iter().find(|(wanted, _)| *wanted == name);
            match (found, wanted) {
                (Some(found), Some((_, value))) => {
                    assert_eq!(found["data"]["key"], *value, "{self}: {name} is ready");
                }
                (None, None) => {}
                (Some(_), None) => panic!("{self}: {name} is an orphan"),
                (None, Some(_)) => panic!("{self}: {name} is said to be there"),
            }
        }
    }

    fn revision(&self) -> Value {
        let object = self.stage.get("Kustomization", "app").expect("it is there");
        object["status"]["lastAppliedRevision"].clone()
    }

    fn uids(&self) -> Vec<Option<String>> {
        ALL.iter().map(|name| self.uid(name)).collect()
    }

    fn uid(&self, name: &str) -> Option<String> {
        let object = self.stage.get("ConfigMap", name)?;
        Some(object["metadata"]["uid"].as_str().expect("an identity").to_owned())
    }
}

impl std::fmt::Display for Round<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}, seed {}", self.point.name, self.seed)
    }
}

fn end(controller: &mut Child) {
    controller.kill().expect("kills");
    controller.wait().expect("ends");
}
