//! The property tests of all crates with new seeds, round after round.
//!
//! They live in modules called `properties`, so one filter finds them in every test program.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::MAX_FAULTS;
use crate::{
    Result,
    process::{capture, cargo},
    progress::say,
    test::{Built, build_packages},
};

const MODULE: &str = "properties::";
/// proptest reads it; `.cargo/config.toml` fixes it for everything but this campaign.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

/// Runs rounds until the time is up. Every round has the next seed.
pub(super) fn run(time: Duration, first_seed: u64) -> Result {
    let built = build_packages(&packages()?)?;
    let begin = Instant::now();
    let (mut seed, mut faults) = (first_seed, 0);
    while begin.elapsed() < time && faults < MAX_FAULTS {
        faults += round(&built, seed)?;
        seed = seed.wrapping_add(1);
    }
    say(&format!(
        "    properties: {} rounds with seeds from {first_seed}, {faults} faults",
        seed.wrapping_sub(first_seed)
    ));
    if faults == 0 { Ok(()) } else { Err(format!("{faults} programs found a fault").into()) }
}

/// Runs the property tests of each program, and returns how many programs failed.
fn round(built: &Built, seed: u64) -> Result<usize> {
    let mut faults = 0;
    for program in &built.programs {
        let mut command: Command = program.command(&[MODULE]);
        let output = command.env(SEED_VARIABLE, seed.to_string()).output()?;
        if !output.status.success() {
            faults += 1;
            say(&String::from_utf8_lossy(&output.stdout));
            say(&format!(
                "{} failed with seed {seed}; run `{SEED_VARIABLE}={seed} cargo test -p {} {MODULE}` to repeat it",
                program.title(),
                program.package()
            ));
        }
    }
    Ok(faults)
}

/// The packages whose tests use proptest.
fn packages() -> Result<Vec<String>> {
    let metadata = capture(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let names = list(&metadata["packages"]).into_iter().filter_map(|package| {
        let dependencies = list(&package["dependencies"]);
        let uses = dependencies.iter().any(|dependency| dependency["name"] == "proptest");
        uses.then(|| package["name"].as_str().map(str::to_owned)).flatten()
    });
    Ok(names.collect())
}
