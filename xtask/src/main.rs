//! Development tasks, started with `cargo xtask VERB`.
//!
//! One verb, one module. A verb prints headings and its findings on standard error and ends with
//! status 0 when all is well, 1 when something was found, 2 when it was called wrongly.
#![allow(clippy::disallowed_methods, reason = "tasks work on the disk and measure time")]

use std::{env, process::ExitCode};

mod bench;
mod campaign;
mod checks;
mod corpora;
mod generate;
mod generate_definitions;
mod generate_fieldspecs;
mod generate_schema;
mod generate_typed;
mod go;
mod golden;
mod kube;
mod process;
mod progress;
mod start_order;
mod test;
mod times;
mod tools;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const HELP: &str = "\
Usage: cargo xtask VERB [ARGUMENTS]

  test                      everything a change must pass: format, lints, tests, examples, corpora
  test --quick              the part that needs no Go, no Debian packages and no real Kubernetes
  fmt [--check]             format all code
  lint                      clippy over everything, warnings denied
  golden --check [FILTER]   compare the recorded answers with the `kustomize` on PATH
  golden --record [FILTER]  record the answers anew from the `kustomize` on PATH
  generate [--check]        make the generated tables again, or only see whether they are stale
  bench [ARGUMENTS]         time the release build against the `kustomize` on PATH
  campaign NAME             a long search for faults; --minutes N or --seconds N, --seed N
                              properties    the property tests of all crates, with new seeds
                              fuzz-reader   broken YAML against the reader
                              fuzz-build    broken golden cases against the binary
                              differential  changed golden cases against the `kustomize` on PATH
  tools                     put the programs that judge (registries, skopeo, cosign and others) into a cache
  tools flux                build the controllers that ours is measured against, into the same cache
  kube                      build a Kubernetes for the tests into a cache; takes minutes, once per machine
  start-order               find out which functions small commands run, for the linker to place them together
  deny                      licences, advisories and banned crates, with `cargo deny`
  help                      this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (verb, rest) = match arguments.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", &[][..]),
    };
    let result = match verb {
        "test" => test::run(rest),
        "fmt" => checks::format(rest),
        "lint" => checks::lint(),
        "golden" => golden::run(rest),
        "generate" => checks::generate(rest),
        "bench" => bench::run(rest),
        "campaign" => campaign::run(rest),
        "tools" => tools::run(rest),
        "kube" => kube::run(rest),
        "start-order" => start_order::run(),
        "deny" => checks::deny(),
        "help" | "--help" | "-h" => {
            progress::say(HELP.trim_end());
            Ok(())
        }
        _ => {
            progress::say(&format!("unknown verb `{verb}`\n\n{}", HELP.trim_end()));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
