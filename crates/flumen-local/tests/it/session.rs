//! What somebody types at a shell, and what is expected to come back.
//!
//! A session is a text archive: the files that are there, and a section with commands.
//!
//! ```text
//! $ kubectl get deploy web    a command; words are separated by blanks, '…' keeps them together
//! ? 1                         its exit status, 0 without a line
//! > web 2/2                   stands in what it prints; blanks of any length are equal
//! - NAME                      does not stand there
//! ! not found                 stands in what it says on stderr
//! ```

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use flumen_local::{Home, Instance, InstanceOptions};
use flumen_registry::Report;
use flumen_sim::{Controllers, Pace};
use flumen_testkit::Archive;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Nothing is won by waiting for simulated containers.
const PACE: Pace = Pace { start: Duration::from_millis(5), run: Duration::from_millis(5) };

/// The name of a program in a session, and where it is.
pub(crate) type Program<'a> = (&'a str, &'a Path);

/// Plays a session on a cluster of its own.
///
/// # Panics
/// With everything that went otherwise.
#[track_caller]
pub(crate) fn play(text: &str, programs: &[Program<'_>]) {
    let archive = Archive::parse(text).expect("a session is an archive");
    let steps = archive.section("session").expect("a session has commands");
    let steps = parse(&String::from_utf8_lossy(steps));
    assert!(!steps.is_empty(), "a session does something");
    let cluster = Cluster::start();
    archive.unpack(cluster.desk.path()).expect("the files are written");
    let wrong: Vec<String> =
        steps.iter().filter_map(|step| cluster.check(step, programs).err()).collect();
    let all = steps.len();
    cluster.stop();
    assert!(wrong.is_empty(), "{} of {all} commands:\n{}", wrong.len(), wrong.join("\n"));
}

/// A cluster and the directory of the person who uses it.
struct Cluster {
    runtime: Runtime,
    instance: Instance,
    desk: TempDir,
    _state: TempDir,
}

impl Cluster {
    fn start() -> Self {
        let (desk, state) = (tempdir(), tempdir());
        let runtime = Runtime::new().expect("a runtime");
        let options = InstanceOptions {
            home: Some(Home::new(state.path().join("cluster"))),
            port: 0,
            registry_port: 0,
            controllers: Controllers::All,
            pace: PACE,
            report: Report::default(),
        };
        let instance = runtime.block_on(Instance::start(options)).expect("it starts");
        Self { runtime, instance, desk, _state: state }
    }

    fn stop(self) {
        self.runtime.block_on(self.instance.shutdown());
    }

    /// Runs a command and says what is not as expected.
    fn check(&self, step: &Step, programs: &[Program<'_>]) -> Result<(), String> {
        let (program, arguments) = step.words.split_first().ok_or("an empty command")?;
        let (_, program) = programs
            .iter()
            .find(|(name, _)| name == program)
            .ok_or_else(|| format!("nobody knows `{program}`"))?;
        let mut command = Command::new(program);
        // Nothing of the person who runs the test takes part.
        command.args(arguments).current_dir(self.desk.path()).env_clear();
        command.env("HOME", self.desk.path()).env("KUBE_EDITOR", "sh edit.sh");
        command.env("KUBECONFIG", self.instance.home().kubeconfig());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
        let printed = squeezed(&String::from_utf8_lossy(&output.stdout));
        let said = squeezed(&String::from_utf8_lossy(&output.stderr));
        let mut wrong: Vec<String> = Vec::new();
        if output.status.code() != Some(step.status) {
            wrong.push(format!("ended with {}, not {}", output.status, step.status));
        }
        for expected in &step.expected {
            let (is_there, what) = match expected {
                Expected::Printed(text) => (printed.contains(text), format!("prints no `{text}`")),
                Expected::Absent(text) => (!printed.contains(text), format!("prints `{text}`")),
                Expected::Said(text) => (said.contains(text), format!("does not say `{text}`")),
            };
            if !is_there {
                wrong.push(what);
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("$ {}\n  {}\n  > {printed}\n  ! {said}", step.line, wrong.join("\n  ")))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Step {
    line: String,
    words: Vec<String>,
    status: i32,
    expected: Vec<Expected>,
}

#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Printed(String),
    Absent(String),
    Said(String),
}

/// # Panics
/// When the text is no session.
fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_once(' ').expect("a mark, a blank and a text");
        if mark == "$" {
            let (line, words) = (rest.to_owned(), words(rest));
            steps.push(Step { line, words, status: 0, expected: Vec::new() });
            continue;
        }
        let step = steps.last_mut().expect("a command comes first");
        match mark {
            "?" => step.status = rest.parse().expect("a number"),
            ">" => step.expected.push(Expected::Printed(squeezed(rest))),
            "-" => step.expected.push(Expected::Absent(squeezed(rest))),
            "!" => step.expected.push(Expected::Said(squeezed(rest))),
            _ => panic!("no line of a session: {line}"),
        }
    }
    steps
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match (c, words.last_mut()) {
            ('\'', _) => quoted = !quoted,
            (' ', _) if !quoted => words.push(String::new()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Tables are as wide as their longest names, which are random.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tempdir() -> TempDir {
    TempDir::with_prefix("flumen-session-").expect("a scratch directory")
}

/// A program that may be missing; that is said as skipped.
pub(crate) fn found(name: &str, program: Option<PathBuf>, provider: &str) -> Option<PathBuf> {
    if program.is_none() {
        flumen_testkit::skip(&format!("what `{name}` does on a local cluster"), provider);
    }
    program
}

#[test]
fn a_session_is_read() {
    let step = |line: &str, words: &[&str], status, expected| Step {
        line: line.to_owned(),
        words: words.iter().copied().map(str::to_owned).collect(),
        status,
        expected,
    };
    let expected = vec![Expected::Said("not found".to_owned()), Expected::Absent("b".to_owned())];
    let found = parse("$ a 'b c' d='{}'\n? 1\n! not   found\n- b\n\n$ e\n> f\n");
    let second = step("e", &["e"], 0, vec![Expected::Printed("f".to_owned())]);
    assert_eq!(found, [step("a 'b c' d='{}'", &["a", "b c", "d={}"], 1, expected), second]);
}
