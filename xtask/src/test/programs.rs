//! Test programs: running one, and reading how its tests ended.

use std::{env, num::NonZero, path::PathBuf, process::Command, thread, time::Instant};

use crate::{
    Result,
    progress::{Log, Progress, TestCounts},
};

/// The name of every crate's integration tests.
pub(super) const INTEGRATION: &str = "it";
/// The number of tests of a program that run at the same time; Rust's harness reads it.
const TEST_THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// One program of tests, as Cargo built it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    title: String,
    /// The directory of its package, where Cargo starts it.
    directory: PathBuf,
    executable: PathBuf,
}

impl Program {
    /// `target` is the name that Cargo gives to the target: that of a library is the package's own.
    pub(super) fn new(directory: PathBuf, target: &str, executable: PathBuf) -> Self {
        let package = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = if package.replace('-', "_") == target.replace('-', "_") {
            package
        } else {
            format!("{package} {target}")
        };
        Self { title, directory, executable }
    }

    /// The package, and the target unless it is the library.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn package(&self) -> &str {
        self.title.split(' ').next().unwrap_or_default()
    }

    /// How many of its tests run at the same time. Integration tests wait for servers and other programs as long as
    /// they compute.
    pub(super) fn threads(&self) -> usize {
        let threads_per_processor = if self.is_integration() { 2 } else { 1 };
        threads_per_processor * processors()
    }

    fn is_integration(&self) -> bool {
        self.title.ends_with(&format!(" {INTEGRATION}"))
    }

    /// Whether it holds the integration tests of a package.
    pub(super) fn is_integration_of(&self, package: &str) -> bool {
        self.package() == package && self.is_integration()
    }

    /// The command that runs tests of the program, those of some modules or all.
    pub(crate) fn command(&self, modules: &[&str]) -> Command {
        let mut command = Command::new(&self.executable);
        command.arg("--quiet").args(modules).current_dir(&self.directory);
        command.env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }
}

/// Runs a program and notes its tests and its time under `title`. Its output is shown if a test failed.
pub(super) fn run(
    title: &str,
    command: &mut Command,
    progress: &Progress,
    log: &mut Log,
) -> Result {
    let begin = Instant::now();
    let output = command.output()?;
    let seconds = begin.elapsed().as_secs_f64();
    progress.add_times(|times| times.add_program(title, seconds));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let counts = counts(&stdout);
    if let Some(counts) = counts {
        progress.add_tests(counts);
    }
    if !output.status.success() {
        log.text(&stdout);
        log.text(&String::from_utf8_lossy(&output.stderr));
        return Err(format!("the program ended with {}", output.status).into());
    }
    let counts = counts.ok_or("the program printed no result")?;
    log.line(format_args!("{} tests passed", counts.passed));
    Ok(())
}

/// Sets how many tests of a program run at the same time, unless the user chose a number.
pub(super) fn limit_threads(command: &mut Command, threads: usize) {
    if env::var_os(TEST_THREADS_VARIABLE).is_none() {
        command.env(TEST_THREADS_VARIABLE, threads.to_string());
    }
}

pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Reads the result line of Rust's harness.
fn counts(output: &str) -> Option<TestCounts> {
    let line = output.lines().rfind(|line| line.starts_with("test result: "))?;
    let number = |unit: &str| -> Option<usize> {
        line.split(['.', ';']).find_map(|part| part.trim().strip_suffix(unit)?.trim().parse().ok())
    };
    Some(TestCounts { passed: number("passed")?, failed: number("failed")? })
}

/// Programs in the order in which they start: the longest first, so that no processor waits for them at the end.
pub(super) fn longest_first(mut programs: Vec<&Program>) -> Vec<&Program> {
    programs.sort_by_key(|program| {
        LONGEST.iter().position(|title| *title == program.title).unwrap_or(LONGEST.len())
    });
    programs
}

/// The programs that take longest, by measurement. The order matters for time only.
const LONGEST: [&str; 8] = [
    "flumen-controller it",
    "flumen-cli it",
    "flumen-apiserver it",
    "flumen-local it",
    "flumen-oci it",
    "flumen-apply it",
    "flumen-git it",
    "flumen-kube it",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn program(package: &str, target: &str) -> Program {
        Program::new(Path::new("crates").join(package), target, PathBuf::from("program"))
    }

    #[test]
    fn programs_are_named_after_package_and_target() {
        let [library, integration] =
            ["flumen_apply", "it"].map(|target| program("flumen-apply", target));
        assert_eq!(library.title(), "flumen-apply");
        assert_eq!(integration.title(), "flumen-apply it");
        assert!(integration.is_integration_of("flumen-apply"));
        assert!(!library.is_integration_of("flumen-apply"));
        assert!(!program("flumen-api", "it").is_integration_of("flumen"));
    }

    #[test]
    fn the_result_line_is_read() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 4 filtered out";
        let counts = counts(&format!("\nrunning 15 tests\n...\n{line}; finished in 0.10s\n\n"));
        assert_eq!(counts, Some(TestCounts { passed: 12, failed: 3 }));
        assert_eq!(super::counts("Segmentation fault\n"), None);
    }

    #[test]
    fn long_programs_start_first() {
        let programs =
            [program("a", "it"), program("flumen-git", "it"), program("flumen-cli", "it")];
        let titles: Vec<_> =
            longest_first(programs.iter().collect()).into_iter().map(Program::title).collect();
        assert_eq!(titles, ["flumen-cli it", "flumen-git it", "a it"]);
    }
}
