//! The larger corpora that some checkouts have beside them, run against the binary of the tests.
//!
//! Each corpus brings its own runner, a Python script that prints `FAIL name …` for a failing case
//! (kustomize's with the features of the case in brackets) and closes with `N passed, M failed`.
//!
//! Some failures are named and not counted: charts are not rendered yet; a copy without symbolic links
//! cannot show what links do; a case that is only late says more about the machine than about the code;
//! and there are [known](known) ones.

mod control_plane;
mod known;
mod served;
mod verdict;

use std::{path::Path, process::Command};

use flumen_testkit::TEST_SERVER_VARIABLE;

use self::{
    served::Served,
    verdict::{Verdict, case_name},
};
use crate::{
    Result,
    process::capture,
    progress::{Log, Progress},
    test::Servers,
};

#[derive(Debug)]
pub(crate) struct Corpus {
    title: &'static str,
    /// The runner and its arguments; `{flumen}` stands for the binary, `{shared}` for the
    /// directory of the corpora. Other names in braces are the runner's own.
    command: &'static [&'static str],
    /// Where its cases are, if they are files, relative to the directory of the corpora.
    cases: Option<&'static str>,
    against: Against,
    /// The cases that are played, as patterns of their names; all if there are none.
    only: &'static [&'static str],
}

/// What a corpus is played against.
#[derive(Debug)]
enum Against {
    /// The binary alone.
    Binary,
    /// `flumen apiserver` with these options.
    Server(&'static [&'static str]),
    /// Our controller on a real Kubernetes, both of which the runner starts.
    Kubernetes,
}

/// Our controller with everything switched off in which it is meant to differ from Flux, and what the recordings
/// were made with. It takes no port, since commands without a kubeconfig look for a cluster at one.
const CONTROLLER: &str = "flumen={flumen} controller --kubeconfig {kubeconfig} --storage {storage} \
    --metrics-addr=0 --health-addr=0 --requeue-dependency=5s --defer-unknown-kinds=false \
    --correct-drift-at-once=false --prune-guard=off \
    --feature-gates=ExternalArtifact=false,CancelHealthCheckOnNewRevision=false";

/// What is there of the commands of `flux`.
const FLUX_COMMANDS: [&str; 19] = [
    "get-*",
    "reconcile-*",
    "suspend-*",
    "resume-*",
    "tree-*",
    "events-*",
    "build-artifact*",
    "push-artifact*",
    "pull-artifact*",
    "list-artifacts*",
    "tag-artifact*",
    "diff-artifact*",
    "kubeconfig-*",
    "context-*",
    "token-*",
    "as-*",
    "server-unreachable-reconcile",
    "unknown-flag",
    "flag-*",
];

/// So many failures have another cause than a busy machine.
const MOST_RETRIED: usize = 20;

const ALL: [Corpus; 9] = [
    Corpus {
        title: "corpus: kustomize",
        command: &["{shared}/corpus/run-kustomize", "--cmd", "{flumen} build", "-j", "2"],
        cases: Some("corpus/kustomize"),
        against: Against::Binary,
        only: &[],
    },
    Corpus {
        title: "corpus: kustomize, where builds of it differ",
        command: &[
            "{shared}/corpus/run-kustomize",
            "--cmd",
            "{flumen} build",
            "-j",
            "2",
            "--corpus",
            "{shared}/corpus/kustomize-skew",
        ],
        cases: Some("corpus/kustomize-skew"),
        against: Against::Binary,
        only: &[],
    },
    Corpus {
        title: "corpus: hostile input",
        command: &[
            "{shared}/corpus/hostile/run",
            "--cmd-build",
            "{flumen} build",
            "--family",
            "build",
            "-v", // names the failures in lines of their own
        ],
        cases: None,
        against: Against::Binary,
        only: &[],
    },
    Corpus {
        title: "corpus: hostile artifacts, registries and layouts",
        command: &[
            "{shared}/corpus/hostile/run",
            "--cmd-pull",
            "{flumen} pull artifact --insecure-registry {url} -o {dir}",
            "--cmd-push",
            "{flumen} push artifact --insecure-registry {url} -k {path}",
            "--cmd-layout",
            "{flumen} copy artifact oci-layout:{layout} oci-layout:{dir}",
            "--family",
            "artifact",
            "-v",
        ],
        cases: None,
        against: Against::Binary,
        only: &[],
    },
    Corpus {
        title: "corpus: Kubernetes API",
        command: &["{shared}/corpus/kubernetes/replay"],
        cases: None,
        against: Against::Server(&["--controllers", "none"]),
        only: &[],
    },
    Corpus {
        title: "corpus: Kubernetes API with controllers",
        command: &["{shared}/corpus/kubernetes/replay", "--mode", "controllers"],
        cases: None,
        against: Against::Server(&["--controllers", "core"]),
        only: &[],
    },
    Corpus {
        title: "corpus: Kubernetes API after compaction",
        command: &["{shared}/corpus/kubernetes/replay", "--mode", "compacted"],
        cases: None,
        against: Against::Server(&["--controllers", "none", "--compact-at", "1"]),
        only: &[],
    },
    Corpus {
        title: "corpus: Flux, live",
        command: &["{shared}/corpus/flux-live/run", "--contender", CONTROLLER],
        cases: None,
        against: Against::Kubernetes,
        only: &[],
    },
    Corpus {
        title: "corpus: Flux's command line",
        command: &["{shared}/corpus/flux-cli/run", "--cmd", "{flumen}", "--contender", CONTROLLER],
        cases: None,
        against: Against::Kubernetes,
        only: &FLUX_COMMANDS,
    },
];

/// The corpora that this machine can run. The others are noted as skipped.
pub(crate) fn runnable(servers: Servers, progress: &Progress) -> Vec<&'static Corpus> {
    let mut runnable = Vec::new();
    for corpus in &ALL {
        match corpus.obstacle(servers) {
            Some(why) => progress.skip(corpus.title, &why),
            None => runnable.push(corpus),
        }
    }
    runnable
}

/// Runs one corpus as a step.
pub(crate) fn step(corpus: &Corpus, binary: &Path, shared: &Path, progress: &Progress) {
    progress.step_aside(corpus.title, |log| {
        let run = |only: &[&str]| corpus.play(binary, shared, only);
        let mut output = run(corpus.only)?;
        if corpus.waits() && output.trim().is_empty() {
            // On a busy machine, a runner can read a CRD that has no conditions yet, and fails.
            progress.retry(corpus.title, "its runner failed before the first case");
            output = run(corpus.only)?;
        }
        corpus.conclude(&output, shared, run, progress, log)
    });
}

impl Corpus {
    /// Why it cannot be run on this machine, if it cannot.
    fn obstacle(&self, servers: Servers) -> Option<String> {
        if !self.waits() {
            return None;
        }
        if servers == Servers::Embedded {
            return Some(format!("{TEST_SERVER_VARIABLE} asks for the embedded server alone"));
        }
        control_plane::environment().err()
    }

    /// Whether it mostly waits for servers, so that other work can run beside it.
    pub(crate) const fn waits(&self) -> bool {
        matches!(self.against, Against::Kubernetes)
    }

    /// Judges what its runner printed. Where time matters, a failure runs once more before it counts: that
    /// is said and counted as a retry.
    fn conclude(
        &self,
        output: &str,
        shared: &Path,
        run: impl Fn(&[&str]) -> Result<String>,
        progress: &Progress,
        log: &mut Log,
    ) -> Result {
        let verdict = self.judge(output, shared)?;
        verdict.report(log);
        let failed = verdict.failures.len();
        if failed == 0 {
            return Ok(());
        }
        if !self.waits() || failed > MOST_RETRIED {
            return Err(format!("{failed} cases failed").into());
        }
        let names: Vec<&str> = verdict.failures.iter().map(|line| case_name(line)).collect();
        let why = "its recorded times assume an idle machine";
        for name in &names {
            progress.retry(&format!("{}: {name}", self.title), why);
        }
        log.line(format_args!("retried, {why}: {}", names.join(", ")));
        let output = run(&names)?;
        let verdict = self.judge(&output, shared)?;
        verdict.report(log);
        match verdict.failures.len() {
            0 => Ok(()),
            failed => Err(format!("{failed} cases failed twice").into()),
        }
    }

    /// Runs the cases that the patterns name, or all if there are none. Returns what the runner printed.
    fn play(&self, binary: &Path, shared: &Path, only: &[&str]) -> Result<String> {
        let mut command = Command::new("python3");
        for argument in self.command {
            command.arg(
                argument
                    .replace("{flumen}", &binary.to_string_lossy())
                    .replace("{shared}", &shared.to_string_lossy()),
            );
        }
        for pattern in only {
            command.args(["--only", pattern]);
        }
        match self.against {
            Against::Binary => capture(&mut command),
            Against::Server(options) => {
                let served = Served::start(binary, options)?;
                capture(command.args(served.arguments()))
            }
            Against::Kubernetes => capture(command.envs(control_plane::environment()?)),
        }
    }

    fn judge<'a>(&self, output: &'a str, shared: &Path) -> Result<Verdict<'a>> {
        let cases = self.cases.map(|cases| shared.join(cases));
        Verdict::read(output, |name| {
            cases.as_ref().is_some_and(|cases| has_lost_links(&cases.join(name).join("input")))
        })
    }
}

/// Whether a tree has a file that holds nothing but the path of another: what becomes of a symbolic
/// link where links are not kept.
fn has_lost_links(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_lost_links(&path);
        }
        let Ok(content) = std::fs::read_to_string(&path) else { return false };
        !content.is_empty()
            && !content.contains(['\n', ':'])
            && path.parent().is_some_and(|parent| parent.join(&content).exists())
    })
}
