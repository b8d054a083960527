//! `cargo xtask golden`: the recorded answers and the tool they come from.
//!
//! Answers are never written by hand. `--record` runs the reference in a fresh copy of each tree
//! and stores what it said; `--check` does the same and stores nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use flumen_testkit::{Case, difference, repository_root};

use crate::{
    Result,
    process::{capture, find},
    progress::say,
};

/// The version whose output `flumen build` prints.
const REFERENCE: &str = "v5.8.1";
const THREADS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Record,
    Check,
}

pub(crate) fn run(arguments: &[String]) -> Result {
    let mut mode = None;
    let mut filter = "";
    for argument in arguments {
        match argument.as_str() {
            "--record" => mode = Some(Mode::Record),
            "--check" => mode = Some(Mode::Check),
            flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`").into()),
            text => filter = text,
        }
    }
    let mode = mode.ok_or("say `--record` or `--check`")?;
    let kustomize = reference()?;
    let mut cases = Case::load_all(&corpus())?;
    cases.retain(|case| case.name.contains(filter));
    if cases.is_empty() {
        return Err(format!("no case has `{filter}` in its name").into());
    }

    let next = AtomicUsize::new(0);
    let findings = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let finding = match renew(case, &kustomize, mode) {
                        Ok(None) => continue,
                        Ok(Some(finding)) => finding,
                        Err(error) => Finding { fault: true, text: error.to_string() },
                    };
                    if let Ok(mut findings) = findings.lock() {
                        findings.push((case.name.clone(), finding));
                    }
                }
            });
        }
    });

    let mut findings = findings.into_inner()?;
    findings.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, finding) in &findings {
        say(&format!("{name}: {}", finding.text));
    }
    let faults = findings.iter().filter(|(_, finding)| finding.fault).count();
    say(&format!("{} cases, {} changed, {faults} at fault", cases.len(), findings.len() - faults));
    if faults == 0 { Ok(()) } else { Err(format!("{faults} cases need attention").into()) }
}

/// Where the golden cases of `flumen build` are.
pub(crate) fn corpus() -> PathBuf {
    repository_root().join("corpus").join("kustomize")
}

/// The `kustomize` on `PATH`, provided that it is the version whose output we print.
pub(crate) fn reference() -> Result<PathBuf> {
    let kustomize = find("kustomize").ok_or(
        "no `kustomize` on PATH; `go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.1` provides it",
    )?;
    let version = capture(Command::new(&kustomize).arg("version"))?;
    if version.trim() == REFERENCE {
        return Ok(kustomize);
    }
    Err(format!("`kustomize` on PATH is {}, but {REFERENCE} is needed", version.trim()).into())
}

/// Something to tell about a case.
#[derive(Debug)]
struct Finding {
    fault: bool,
    text: String,
}

fn renew(case: &Case, kustomize: &Path, mode: Mode) -> Result<Option<Finding>> {
    let outcome = case.run(kustomize)?;
    let mut renewed = case.clone();
    renewed.record(&format!("kustomize {REFERENCE}"), outcome.clone());
    if let Err(text) = renewed.judge(&outcome) {
        return Ok(Some(Finding { fault: true, text }));
    }
    let (before, after) = (case.write(), renewed.write());
    if mode == Mode::Check {
        let difference = difference(before.as_bytes(), after.as_bytes());
        return Ok(difference.map(|text| Finding { fault: true, text }));
    }
    let path = corpus().join(format!("{}.txt", case.name));
    if fs::read_to_string(&path)? == after {
        return Ok(None);
    }
    fs::write(path, after)?;
    let text = if case.expected == renewed.expected { "rewritten" } else { "recorded" };
    Ok(Some(Finding { fault: false, text: text.to_owned() }))
}
