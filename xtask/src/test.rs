//! `cargo xtask test`: everything a change must pass.
//!
//! ```text
//! format ─▶ build and lints ─▶ ┌ compute: test programs, tables, corpora, campaigns
//!   judges, beside both ─────▶ └ wait: corpora of Flux, suites on a real Kubernetes
//! ```

mod build;
mod lanes;
mod programs;
mod servers;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread::{self, JoinHandle},
};

use flumen_testkit::{TEST_SERVER_VARIABLE, shared_dir};

pub(crate) use self::{
    build::{Built, build, build_packages},
    servers::Servers,
};
use self::{
    lanes::Lane,
    programs::{limit_threads, longest_first, processors},
    servers::SUITES,
};
use crate::{
    Result,
    campaign::{self, Extent},
    checks, corpora, kube,
    process::find,
    progress::Progress,
    start_order, tools,
};

/// Enough for many rounds of each kind of change, in a time that is short compared with the tests.
const READER_INPUTS: u64 = 80_000;
const BUILD_INPUTS: u64 = 1_500;
/// Every run of `test` draws the same changes.
const SEED: u64 = 1;
/// Lanes of work that mostly waits: one for the corpora of Flux, one for the suites on a real Kubernetes.
const WAITING: usize = 2;

/// The checks of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Everything.
    Full,
    /// Only what needs no Go, no packages of Debian and no real Kubernetes.
    Quick,
}

pub(crate) fn run(arguments: &[String]) -> Result {
    let scope = match arguments {
        [] => Scope::Full,
        [flag] if flag == "--quick" => Scope::Quick,
        _ => {
            let arguments = arguments.join(" ");
            return Err(format!("`test` takes `--quick` or nothing, but got `{arguments}`").into());
        }
    };
    let servers = match scope {
        Scope::Full => Servers::chosen()?,
        Scope::Quick => Servers::Embedded,
    };
    let progress = Progress::start();
    // Neither Go nor Cargo keeps all processors busy by itself.
    let judges = (scope == Scope::Full).then(|| thread::spawn(Judges::provide));
    progress.step("format", || checks::format(&["--check".to_owned()]));
    let built = progress.step("build of the tests", || build(&progress));
    if let Some(built) = &built {
        progress.step("lints", || built.require_no_warnings());
    }
    let has_kubernetes = judges.is_some_and(|judges| wait_for(judges, &progress));
    if let Some(built) = built {
        Run { scope, servers, has_kubernetes, built: &built, progress: &progress }.run()?;
    }
    progress.finish()
}

/// The part of a run that starts test programs.
struct Run<'a> {
    scope: Scope,
    servers: Servers,
    has_kubernetes: bool,
    built: &'a Built,
    progress: &'a Progress,
}

impl Run<'_> {
    fn run(&self) -> Result {
        // Tests that leave something out or retry something append a line to this file.
        let skip_log = tempfile::NamedTempFile::new()?;
        let shared = self.corpora();
        let mut computing = Lane::new(processors());
        let mut waiting = Lane::new(WAITING);
        for program in longest_first(self.built.programs.iter().collect()) {
            let mut command = program.command(&[]);
            command.env(TEST_SERVER_VARIABLE, self.servers.first());
            limit_threads(&mut command, program.threads());
            self.add_program(&mut computing, program.title(), command, skip_log.path());
        }
        if let (Some(flumen), Some(shared)) = (&self.built.flumen, &shared) {
            for corpus in corpora::runnable(self.servers, self.progress) {
                let lane = if corpus.waits() { &mut waiting } else { &mut computing };
                lane.add(|| corpora::step(corpus, flumen, shared, self.progress));
            }
        }
        self.add_suites(&mut waiting, skip_log.path());
        computing.add(|| checks::generated(self.built, self.progress));
        if let Some(flumen) = &self.built.flumen {
            computing.add(|| start_order::step(flumen, self.progress));
        }
        if self.scope == Scope::Full {
            self.add_campaigns(&mut computing);
        }
        lanes::run(&[waiting, computing]);
        for line in fs::read_to_string(skip_log.path())?.lines() {
            self.progress.note(line.to_owned());
        }
        Ok(())
    }

    fn add_program<'a>(
        &'a self,
        lane: &mut Lane<'a>,
        title: &str,
        mut command: Command,
        skip_log: &Path,
    ) {
        command.env("FLUMEN_SKIP_LOG", skip_log);
        let title = title.to_owned();
        lane.add(move || {
            self.progress.step_aside(&format!("tests of {title}"), |log| {
                programs::run(&title, &mut command, self.progress, log)
            });
        });
    }

    /// The suites of delivery, once more on a real Kubernetes.
    fn add_suites<'a>(&'a self, lane: &mut Lane<'a>, skip_log: &Path) {
        let title = "suites of delivery on a real Kubernetes";
        match self.servers {
            Servers::Real => return,
            Servers::Embedded => {
                let why = match self.scope {
                    Scope::Quick => "`--quick`".to_owned(),
                    Scope::Full => format!("{TEST_SERVER_VARIABLE} is `embedded`"),
                };
                return self.progress.skip(title, &why);
            }
            Servers::Both if !self.has_kubernetes => return,
            Servers::Both => {}
        }
        for (package, modules) in SUITES {
            let Some(program) =
                self.built.programs.iter().find(|program| program.is_integration_of(package))
            else {
                let missing = || Err(format!("`{package}` has no integration tests").into());
                self.progress.step_aside(title, |_| missing());
                continue;
            };
            let mut command = program.command(modules);
            command.env(TEST_SERVER_VARIABLE, "real");
            limit_threads(&mut command, program.threads());
            let title = format!("{} on a real Kubernetes", program.title());
            self.add_program(lane, &title, command, skip_log);
        }
    }

    fn add_campaigns<'a>(&'a self, lane: &mut Lane<'a>) {
        lane.add(|| {
            self.progress.step_aside("campaign fuzz-reader, short", |_| {
                campaign::reader::run(Extent::Inputs(READER_INPUTS), SEED)
            });
        });
        if let Some(flumen) = &self.built.flumen {
            lane.add(|| {
                self.progress.step_aside("campaign fuzz-build, short", |_| {
                    campaign::build(flumen, Extent::Inputs(BUILD_INPUTS), SEED)
                });
            });
        }
    }

    /// The directory of the larger corpora, if they are part of this run and can be run.
    fn corpora(&self) -> Option<PathBuf> {
        let why = match (self.scope, shared_dir(), find("python3")) {
            (Scope::Full, Some(shared), Some(_)) => return Some(shared),
            (Scope::Quick, ..) => "`--quick`",
            (_, None, _) => "no `../shared` beside the checkout",
            _ => "their runners need python3",
        };
        self.progress.skip("corpora", why);
        None
    }
}

/// The programs of other projects that tests look for.
struct Judges {
    /// A machine that cannot have one is no failure.
    missing: Vec<tools::Missing>,
    /// `None` without Go. A build that fails is a failure.
    kubernetes: Option<Result>,
}

impl Judges {
    fn provide() -> Self {
        let missing = tools::provide();
        Self { missing, kubernetes: kube::can_provide().then(kube::provide) }
    }
}

/// Waits for the judges, and returns whether a real Kubernetes is among them.
fn wait_for(judges: JoinHandle<Judges>, progress: &Progress) -> bool {
    let judges = progress.step("judges and Kubernetes for tests", || {
        let judges = judges.join().map_err(|_| "the thread that provides them has panicked")?;
        for (name, why) in &judges.missing {
            progress.skip(&format!("what `{name}` judges"), why);
        }
        if judges.kubernetes.is_none() {
            progress.skip("tests on a real Kubernetes", "building it needs Go");
        }
        judges.kubernetes.transpose()
    });
    judges.flatten().is_some()
}
