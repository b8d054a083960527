//! `cargo xtask campaign`: long searches for faults, and their short seeded parts for `test`.
//!
//! Golden cases are changed at random, one change after the other, and the binary is run after
//! each. Whatever the input has become, the binary must print the build or refuse it in an orderly
//! way; in the differential campaign it must also agree with the reference. The reader has a
//! campaign of its own ([`reader`]), inside this process and so a thousand times faster. A case
//! that shows a fault is stored as a golden case under `target/campaign`, so that it can be run
//! again alone.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use flumen_testkit::{Case, Content, Outcome, Random, difference, repository_root};

use crate::{Result, golden, process::release_binary, progress::say};

mod mutate;
mod properties;
pub(crate) mod reader;

/// How long a campaign goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    Time(Duration),
    /// The same inputs on every machine, however fast it is.
    Inputs(u64),
}

impl Extent {
    /// Whether a campaign that began then and has tried so many inputs is over.
    fn is_over(self, begin: Instant, tried: u64) -> bool {
        match self {
            Self::Time(time) => begin.elapsed() >= time,
            Self::Inputs(inputs) => tried >= inputs,
        }
    }
}

/// Changes made to one case before the next one is drawn.
const CHANGES: u64 = 6;
/// Faults after which a campaign gives up; more would only repeat them.
const MAX_FAULTS: usize = 20;
/// Enough of a fault to recognise it; the stored case tells the rest.
const FAULT_LINES: usize = 20;

pub(crate) fn run(arguments: &[String]) -> Result {
    let mut name = None;
    let (mut seconds, mut seed) = (600, None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<u64> {
            let text = arguments.next().ok_or_else(|| format!("`{argument}` needs a number"))?;
            Ok(text.parse().map_err(|_| format!("`{text}` is not a number"))?)
        };
        match argument.as_str() {
            "--minutes" => seconds = number()?.saturating_mul(60),
            "--seconds" => seconds = number()?,
            "--seed" => seed = Some(number()?),
            text => name = Some(text),
        }
    }
    let time = Duration::from_secs(seconds);
    let (extent, seed) = (Extent::Time(time), seed.unwrap_or_else(new_seed));
    match name {
        Some("properties") => properties::run(time, seed),
        Some("fuzz-reader") => reader::run(extent, seed),
        Some("fuzz-build") => build(&release_binary()?, extent, seed),
        Some("differential") => {
            differential(&release_binary()?, &golden::reference()?, extent, seed)
        }
        Some(name) => Err(format!("no campaign is called `{name}`").into()),
        None => Err("name a campaign: properties, fuzz-reader, fuzz-build, differential".into()),
    }
}

/// A seed that no earlier campaign had.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default()
}

/// Changed golden cases against the binary alone.
pub(crate) fn build(binary: &Path, extent: Extent, seed: u64) -> Result {
    search("fuzz-build", extent, seed, |case| {
        let outcome = case.run(binary)?;
        Ok(disorder(&outcome))
    })
}

/// Changed golden cases against the binary and the reference.
fn differential(binary: &Path, kustomize: &Path, extent: Extent, seed: u64) -> Result {
    search("differential", extent, seed, |case| {
        let ours = case.run(binary)?;
        if let Some(fault) = disorder(&ours) {
            return Ok(Some(fault));
        }
        let theirs = case.run(kustomize)?;
        // Where the reference crashes there is nothing to agree with.
        if theirs.accident().is_some() {
            return Ok(None);
        }
        Ok(match (ours.succeeded(), theirs.succeeded()) {
            (true, true) => difference(&theirs.stdout, &ours.stdout),
            (true, false) => Some(format!("only the reference refuses:\n{}", theirs.stderr)),
            (false, true) => Some(format!("only we refuse:\n{}", ours.stderr)),
            (false, false) => None,
        })
    })
}

/// What is wrong with an outcome whatever the input was.
fn disorder(outcome: &Outcome) -> Option<String> {
    if let Some(accident) = outcome.accident() {
        return Some(format!("{accident}\n{}", outcome.stderr));
    }
    if outcome.succeeded() || outcome.refused() && !outcome.stderr.trim().is_empty() {
        return None;
    }
    Some("refused without a message, or printed output although it refused".to_owned())
}

/// Changes cases until the campaign is over; `examine` says what is wrong with one.
fn search(
    name: &str,
    extent: Extent,
    seed: u64,
    examine: impl Fn(&Case) -> Result<Option<String>>,
) -> Result {
    let cases = Case::load_all(&golden::corpus())?;
    if cases.is_empty() {
        return Err("there are no golden cases to change".into());
    }
    let mut random = Random::new(seed);
    let (mut tried, mut faults) = (0, 0);
    let begin = Instant::now();
    while !extent.is_over(begin, tried) && faults < MAX_FAULTS {
        let mut case = random.pick(&cases).clone();
        for _ in 0..CHANGES {
            change(&mut case, &cases, &mut random);
            tried += 1;
            if let Some(fault) = examine(&case)? {
                faults += 1;
                let path = store(name, seed, tried, &mut case)?;
                let fault: Vec<&str> = fault.lines().take(FAULT_LINES).collect();
                say(&format!("{} (from {}): {}", path.display(), case.name, fault.join("\n")));
                break;
            }
        }
    }
    say(&format!("    {name}: {tried} inputs with seed {seed}, {faults} faults"));
    if faults == 0 { Ok(()) } else { Err(format!("{faults} inputs show a fault").into()) }
}

/// Makes one change to one file of the case.
fn change(case: &mut Case, cases: &[Case], random: &mut Random) {
    let other = random.pick(cases);
    let donor = random.pick(&other.files);
    let files = case.files.len() as u64;
    let Ok(chosen) = usize::try_from(random.below(files)) else { return };
    if let Some(entry) = case.files.get_mut(chosen)
        && let Content::File(bytes) = &mut entry.content
    {
        let donor = match &donor.content {
            Content::File(bytes) => bytes.as_slice(),
            _ => &[],
        };
        mutate::change(bytes, donor, random);
    }
}

fn store(name: &str, seed: u64, number: u64, case: &mut Case) -> Result<PathBuf> {
    let directory = repository_root().join("target").join("campaign");
    fs::create_dir_all(&directory)?;
    let path = directory.join(format!("{name}-{seed}-{number}.txt"));
    case.expected = None;
    case.recorded = None;
    fs::write(&path, case.write())?;
    Ok(path)
}
