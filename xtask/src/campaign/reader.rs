//! Broken YAML against the reader and the writer, inside this process.
//!
//! Whatever the bytes are, reading ends in documents or in an error, soon and without a panic. What
//! could be read and printed must read back as one document that prints the same.

use std::{
    any::Any,
    fs,
    panic::{self, AssertUnwindSafe},
    time::{Duration, Instant},
};

use flumen_testkit::{Case, Content, Random, difference, repository_root};
use flumen_yaml::{Budget, decode, emit, read};

use super::{Extent, MAX_FAULTS, mutate};
use crate::{Result, golden, progress::say};

/// The inputs are small: anything slower has fallen into a hole.
const PATIENCE: Duration = Duration::from_secs(2);
/// Changes made to a file before the next one is drawn.
const CHANGES: u64 = 40;

pub(crate) fn run(extent: Extent, seed: u64) -> Result {
    let files: Vec<Vec<u8>> = Case::load_all(&golden::corpus())?
        .into_iter()
        .flat_map(|case| case.files)
        .filter_map(|entry| match entry.content {
            Content::File(bytes) => Some(bytes),
            _ => None,
        })
        .collect();
    if files.is_empty() {
        return Err("there are no golden cases to change".into());
    }
    let mut random = Random::new(seed);
    let (mut tried, mut printed, mut faults) = (0u64, 0u64, 0);
    let begin = Instant::now();
    while !extent.is_over(begin, tried) && faults < MAX_FAULTS {
        let mut bytes = random.pick(&files).clone();
        for _ in 0..CHANGES {
            let donor = random.pick(&files);
            mutate::change(&mut bytes, donor, &mut random);
            tried += 1;
            let fault = match examine(&bytes) {
                Ok(documents) => {
                    printed += documents;
                    continue;
                }
                Err(fault) => fault,
            };
            faults += 1;
            let directory = repository_root().join("target").join("campaign");
            fs::create_dir_all(&directory)?;
            let path = directory.join(format!("fuzz-reader-{seed}-{tried}.yaml"));
            fs::write(&path, &bytes)?;
            say(&format!("{}: {fault}", path.display()));
            break;
        }
    }
    say(&format!(
        "    fuzz-reader: {tried} inputs with seed {seed}, {printed} documents printed and read \
         back, {faults} faults"
    ));
    if faults == 0 { Ok(()) } else { Err(format!("{faults} inputs show a fault").into()) }
}

/// How many documents went there and back, or what is wrong with the way they are handled.
fn examine(bytes: &[u8]) -> std::result::Result<u64, String> {
    let (begin, before) = (Instant::now(), processor_time());
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| round_trip(bytes)));
    let worked = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    let seconds = worked.unwrap_or_else(|| begin.elapsed());
    match outcome {
        Err(payload) => Err(format!("panicked: {}", words(&*payload))),
        Ok(_) if seconds > PATIENCE => Err(format!("took {seconds:?}")),
        Ok(outcome) => outcome,
    }
}

/// Returns how long this thread has had a processor: unlike the clock, it stands still while other programs run.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn round_trip(bytes: &[u8]) -> std::result::Result<u64, String> {
    let budget = Budget::default();
    // Refusing the input is a good answer.
    let Ok(text) = decode(bytes) else { return Ok(0) };
    let Ok(documents) = read(&text, 1, &budget) else { return Ok(0) };
    let mut count = 0;
    for document in documents {
        let mut printed = Vec::new();
        if emit(&document, &mut printed).is_err() {
            continue;
        }
        let text = decode(&printed).map_err(|error| format!("cannot decode its own: {error}"))?;
        let again = read(&text, 1, &budget)
            .map_err(|error| format!("cannot read its own: {error}\n{text}"))?;
        let mut reprinted = Vec::new();
        for document in &again {
            emit(document, &mut reprinted).map_err(|error| format!("cannot reprint: {error}"))?;
        }
        if let Some(difference) = difference(&printed, &reprinted) {
            return Err(format!("does not print the same when read back\n{difference}"));
        }
        count += 1;
    }
    Ok(count)
}

fn words(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_go_there_and_back() {
        assert_eq!(examine(b"a: 1\n---\nb: [yes, '2']\n"), Ok(2));
        assert_eq!(examine(b"a: [\n"), Ok(0));
    }
}
