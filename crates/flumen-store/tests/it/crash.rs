//! The process dies at any moment: what was acknowledged is there, and nothing is there in part.
//!
//! The store runs in a process of its own, which is this test binary started again. Its writers
//! print each answer that they get. It is killed at a moment that a seed decides, and what it
//! printed is compared with what the file holds. `FLUMEN_CRASH_ROUNDS=200` makes a campaign of it.

use std::{
    collections::BTreeMap,
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use flumen_store::{Condition, Options, Range, Revision, Store, Transaction};
use tokio::task::JoinSet;

use crate::random::Random;

/// Tells a process of this binary that it is the one to kill.
const FILE: &str = "FLUMEN_TEST_STORE_FILE";
const ROUNDS: &str = "FLUMEN_CRASH_ROUNDS";
const WRITERS: u64 = 8;
/// Log entries that each writer keeps.
const KEPT: u64 = 5;
/// Rounds that go on with the same file.
const SAME_FILE: u64 = 10;

/// Not a test of its own: the store that is killed, when the environment says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_process() {
    let Some(file) = env::var_os(FILE) else { return };
    let store = Store::open(Path::new(&file), Options::default()).expect("opens");
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(store.clone(), writer));
    }
    writers.join_all().await;
}

/// Writes one transaction after the other, without end.
async fn write(store: Store, writer: u64) {
    let mut last = last_number(&store, writer);
    let mut condition = match store.get(&left(writer)) {
        Some(entry) => Condition::At(entry.revision),
        None => Condition::Absent,
    };
    loop {
        let number = last + 1;
        let transaction = Transaction::new()
            .require(left(writer), condition)
            .put(left(writer), value(writer, number))
            .put(right(writer), value(writer, number))
            .put(log(writer, number), value(writer, number))
            .delete(log(writer, number.saturating_sub(KEPT)));
        let revision = store.commit(transaction).await.expect("commits");
        let line = format!("\nacknowledged {writer} {number} {revision}\n");
        if io::stdout().write_all(line.as_bytes()).is_err() {
            return;
        }
        (last, condition) = (number, Condition::At(revision));
    }
}

fn left(writer: u64) -> String {
    format!("/left/{writer}")
}

fn right(writer: u64) -> String {
    format!("/right/{writer}")
}

fn log(writer: u64, number: u64) -> String {
    format!("/log/{writer}/{number:012}")
}

/// Begins with the number; its length and its content follow from it.
fn value(writer: u64, number: u64) -> Vec<u8> {
    let mut random = Random::new(number * WRITERS + writer);
    let length = random.below(6000);
    let words = (0..length / 8).flat_map(|_| random.next().to_le_bytes());
    number.to_le_bytes().into_iter().chain(words).collect()
}

/// The last transaction of a writer that the store holds.
fn last_number(store: &Store, writer: u64) -> u64 {
    let entry = store.get(&left(writer));
    entry.map_or(0, |entry| u64::from_le_bytes(*entry.value.first_chunk().expect("a number")))
}

/// The last answer that each writer got: number and revision.
type Acknowledged = BTreeMap<u64, (u64, Revision)>;

/// Runs the store until some answers were given and some time has passed, then kills it.
fn run(file: &Path, answers: usize, delay: Duration, acknowledged: &mut Acknowledged) -> usize {
    let before = acknowledged.values().map(|(_, revision)| *revision).max().unwrap_or(0);
    let mut child = Command::new(env::current_exe().expect("a path"))
        .args(["--exact", "crash::store_process", "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut lines = output.lines().map_while(Result::ok);
    let mut count = 0;
    let mut note = |line: String| {
        let Some(rest) = line.strip_prefix("acknowledged ") else { return };
        let numbers: Vec<u64> =
            rest.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [writer, number, revision] = numbers[..] else { panic!("{line}") };
        assert!(revision > before, "revisions only grow");
        acknowledged.insert(writer, (number, revision));
        count += 1;
    };
    let mut seen = 0;
    while seen < answers {
        let line = lines.next().expect("the store runs");
        seen += usize::from(line.starts_with("acknowledged "));
        note(line);
    }
    // Any part of a commit may be what is cut short.
    thread::sleep(delay);
    child.kill().expect("kills");
    child.wait().expect("ends");
    lines.for_each(note);
    count
}

/// The file holds the last acknowledged transaction of every writer, or the one after it, whole.
fn check(file: &Path, acknowledged: &mut Acknowledged) {
    let store = Store::open(file, Options::default()).expect("opens");
    let mut keys = 0;
    for writer in 0..WRITERS {
        let last = acknowledged.entry(writer).or_default();
        let number = last_number(&store, writer);
        assert!((last.0..=last.0 + 1).contains(&number), "{writer}: {number} after {last:?}");
        if number == 0 {
            continue;
        }
        let whole = value(writer, number);
        let revision = store.get(&left(writer)).expect("there").revision;
        assert!(number > last.0 || revision == last.1, "{writer}: {revision} after {last:?}");
        assert!(revision >= last.1 && revision <= store.revision());
        for key in [left(writer), right(writer), log(writer, number)] {
            let entry = store.get(&key).expect("there");
            assert!(entry.value == whole && entry.revision == revision, "{key} is torn");
        }
        for number in number.saturating_sub(KEPT) + 1..=number {
            let entry = store.get(&log(writer, number)).expect("there");
            assert!(entry.value == value(writer, number), "{writer}/{number} is torn");
        }
        keys += 2 + usize::try_from(number.min(KEPT)).expect("small");
        *last = (number, revision);
    }
    assert_eq!(store.count(&Range::default()), Ok(keys), "nothing else is there");
}

#[test]
fn a_killed_store_loses_nothing_that_it_acknowledged() {
    let rounds = env::var(ROUNDS).map_or(6, |rounds| rounds.parse().expect("a number"));
    let mut random = Random::new(1);
    let (mut directory, mut acknowledged) = (None, Acknowledged::default());
    let mut total = 0;
    for round in 0..rounds {
        if round % SAME_FILE == 0 {
            acknowledged = Acknowledged::default();
            directory = Some(tempfile::tempdir().expect("a directory"));
        }
        let file = directory.as_ref().expect("made above").path().join("store");
        // Before the first answer, the file is made or opened.
        let answers = if round % SAME_FILE < 2 { 0 } else { random.below(200) };
        let delay = Duration::from_micros(random.next() % 10_000);
        total += run(&file, answers, delay, &mut acknowledged);
        check(&file, &mut acknowledged);
    }
    assert!(total > 0, "something was acknowledged");
}
