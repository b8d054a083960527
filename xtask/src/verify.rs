//! `cargo xtask test`: everything a change must pass, and the verbs that are parts of it.

use std::{
    env, fs,
    num::NonZero,
    path::{Path, PathBuf},
    process::Command,
    thread::{self, JoinHandle},
    time::Duration,
};

use flumen_testkit::{TEST_SERVER_VARIABLE, shared_dir};

use crate::{
    Result, campaign, corpora, generate, generate_definitions, generate_fieldspecs,
    generate_schema, generate_typed, kube,
    process::{built, cargo, find, show},
    progress::Progress,
    suites::{self, Servers},
    tools,
};

const TESTS: [&str; 3] = ["test", "--workspace", "--quiet"];
/// How many tests of a program run at a time; the harness of Rust reads it.
const TEST_THREADS_VARIABLE: &str = "RUST_TEST_THREADS";
/// Long enough to run each kind of change many times, short enough not to be noticed.
const CAMPAIGN: Duration = Duration::from_secs(10);
/// Every run of `test` draws the same changes.
const SEED: u64 = 1;

pub(crate) fn run(arguments: &[String]) -> Result {
    if let Some(argument) = arguments.first() {
        return Err(format!("`test` takes no arguments, but got `{argument}`").into());
    }
    let servers = Servers::chosen()?;
    let mut progress = Progress::start();
    // Neither Go nor Cargo keeps all processors busy by itself.
    let judges = thread::spawn(Judges::provide);
    progress.step("format", || format(&["--check".to_owned()]));
    progress.step("lints", lint);
    progress.step("build of the tests", || show(&mut cargo(&[&TESTS[..], &["--no-run"]].concat())));
    let is_kubernetes_there = wait_for(judges, &mut progress);

    // Tests that leave something out append a line to this file.
    let skip_log = tempfile::NamedTempFile::new()?;
    let threads = test_threads();
    let prepare = |tests: &mut Command| {
        tests.env("FLUMEN_SKIP_LOG", skip_log.path()).env(TEST_THREADS_VARIABLE, &threads);
    };
    progress.step("tests, golden cases, examples, doc tests", || {
        let mut tests = cargo(&[&TESTS[..], &["--no-fail-fast"]].concat());
        tests.env(TEST_SERVER_VARIABLE, servers.first());
        prepare(&mut tests);
        show(&mut tests)
    });
    let suites = "suites of delivery, on a real Kubernetes";
    if servers == Servers::Embedded {
        progress
            .skip(suites, &format!("{TEST_SERVER_VARIABLE} asks for the embedded server alone"));
    } else if servers == Servers::Both && is_kubernetes_there {
        progress.step(suites, || suites::run(prepare));
    }
    for line in fs::read_to_string(skip_log.path())?.lines() {
        progress.note_skipped(line.to_owned());
    }

    // The tests have built it; that of a release is the same code, and takes minutes.
    let binary = built("debug/flumen")?;
    let binary = binary.is_file().then_some(binary);
    match (&binary, shared_dir(), find("python3")) {
        (Some(binary), Some(shared), Some(_)) => {
            corpora::run(binary, &shared, servers, &mut progress, |progress| {
                offline(Some(binary), progress);
            });
        }
        (binary, shared, _) => {
            offline(binary.as_deref(), &mut progress);
            let why = match (binary, shared) {
                (None, _) => "the tests have built no binary",
                (_, None) => "no `../shared` beside the checkout",
                _ => "their runners need python3",
            };
            progress.skip("corpora", why);
        }
    }
    progress.finish()
}

/// Twice as many tests at a time as there are processors, unless the user asks for something else: they wait
/// for servers and programs as long as they compute.
fn test_threads() -> String {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    env::var(TEST_THREADS_VARIABLE).unwrap_or_else(|_| (2 * processors()).to_string())
}

/// What needs no server: tables and short campaigns.
fn offline(binary: Option<&Path>, progress: &mut Progress) {
    let mut unknown = Vec::new();
    progress.step("generated tables", || tables(true, &mut unknown));
    for why in unknown {
        progress.skip("generated tables", &why);
    }
    progress.step("campaign fuzz-reader, short", || campaign::reader::run(CAMPAIGN, SEED));
    if let Some(binary) = binary {
        progress.step("campaign fuzz-build, short", || campaign::build(binary, CAMPAIGN, SEED));
    }
}

/// The programs of others that tests look for.
struct Judges {
    /// A machine that cannot have one is no failure.
    missing: Vec<tools::Missing>,
    /// Nothing without Go. A build that fails is a failure.
    kubernetes: Option<Result<PathBuf>>,
}

impl Judges {
    fn provide() -> Self {
        let missing = tools::provide();
        Self { missing, kubernetes: kube::can_provide().then(kube::provide) }
    }
}

/// Waits for the judges, and says whether a real Kubernetes is among them.
fn wait_for(judges: JoinHandle<Judges>, progress: &mut Progress) -> bool {
    let (mut missing, mut is_kubernetes_there, mut has_go) = (Vec::new(), false, true);
    progress.step("tools that judge, Kubernetes for tests", || {
        let judges = judges.join().map_err(|_| "the thread that provides them has panicked")?;
        missing = judges.missing;
        has_go = judges.kubernetes.is_some();
        is_kubernetes_there = judges.kubernetes.transpose()?.is_some();
        Ok(())
    });
    for (name, why) in missing {
        progress.skip(&format!("what `{name}` judges"), &why);
    }
    if !has_go {
        progress.skip("tests on a real Kubernetes", "building it needs Go");
    }
    is_kubernetes_there
}

pub(crate) fn format(arguments: &[String]) -> Result {
    let mut command = cargo(&["fmt", "--all"]);
    show(command.args(arguments))
}

pub(crate) fn lint() -> Result {
    show(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
}

pub(crate) fn generate(arguments: &[String]) -> Result {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("`generate` takes `--check` or nothing".into()),
    };
    let mut unknown = Vec::new();
    tables(check, &mut unknown)?;
    match unknown.pop() {
        None => Ok(()),
        Some(why) => Err(why.into()),
    }
}

/// Makes or checks every generated table; `unknown` tells which could not be judged, and why.
fn tables(check: bool, unknown: &mut Vec<String>) -> Result {
    let makers = [
        generate::run,
        generate_typed::run,
        generate_fieldspecs::run,
        generate_schema::run,
        generate_definitions::run,
    ];
    for make in makers {
        unknown.extend(make(check)?);
    }
    Ok(())
}

pub(crate) fn deny() -> Result {
    if find("cargo-deny").is_none() {
        return Err("`cargo deny` is not installed; `cargo install cargo-deny` provides it".into());
    }
    show(&mut cargo(&["deny", "check"]))
}
