//! `cargo xtask test`: everything a change must pass, and the verbs that are parts of it.

use std::{fs, process::Command, time::Duration};

use flumen_testkit::{TEST_SERVER_VARIABLE, shared_dir};

use crate::{
    Result, campaign, corpora, generate, generate_definitions, generate_fieldspecs,
    generate_schema, generate_typed, kube,
    process::{cargo, find, release_binary, show},
    progress::Progress,
    suites::{self, Servers},
    tools,
};

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
    progress.step("format", || format(&["--check".to_owned()]));
    progress.step("lints", lint);

    // Tests that leave something out append a line to this file.
    let skip_log = tempfile::NamedTempFile::new()?;
    provide_tools(&mut progress);
    let is_kubernetes_there = provide_kubernetes(&mut progress);
    let prepare = |tests: &mut Command| {
        tests.env("FLUMEN_SKIP_LOG", skip_log.path());
    };
    progress.step("tests, golden cases, examples, doc tests", || {
        let mut tests = cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
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

    let mut unknown = Vec::new();
    progress.step("generated tables", || tables(true, &mut unknown));
    for why in unknown {
        progress.skip("generated tables", &why);
    }

    let mut binary = None;
    progress.step("release build", || {
        binary = Some(release_binary()?);
        Ok(())
    });
    progress.step("campaign fuzz-reader, short", || campaign::reader::run(CAMPAIGN, SEED));
    if let Some(binary) = &binary {
        progress.step("campaign fuzz-build, short", || campaign::build(binary, CAMPAIGN, SEED));
    }
    match (&binary, shared_dir(), find("python3")) {
        (None, ..) => progress.skip("corpora", "there is no release build"),
        (_, None, _) => progress.skip("corpora", "no `../shared` beside the checkout"),
        (_, _, None) => progress.skip("corpora", "their runners need python3"),
        (Some(binary), Some(shared), Some(_)) => {
            for corpus in &corpora::ALL {
                match corpus.obstacle(servers) {
                    Some(why) => progress.skip(corpus.title, &why),
                    None => progress.step(corpus.title, || corpus.run(binary, &shared)),
                }
            }
        }
    }
    progress.finish()
}

/// Adds the judges that tests look for. A machine that cannot have them is no failure.
fn provide_tools(progress: &mut Progress) {
    let mut missing = Vec::new();
    progress.step("tools that judge", || {
        missing = tools::provide();
        Ok(())
    });
    for (name, why) in missing {
        progress.skip(&format!("what `{name}` judges"), &why);
    }
}

/// Builds what the tests on a real cluster run, if that can be. Without Go they are skipped; a build that
/// fails is a failure.
fn provide_kubernetes(progress: &mut Progress) -> bool {
    if !kube::can_provide() {
        progress.skip("tests on a real Kubernetes", "building it needs Go");
        return false;
    }
    let mut is_there = false;
    progress.step("Kubernetes for tests", || {
        kube::provide()?;
        is_there = true;
        Ok(())
    });
    is_there
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
