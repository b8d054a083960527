//! Batches, and disks that fail.

use tokio::sync::oneshot::{Receiver, error::TryRecvError};

use super::*;
use crate::{
    Condition, Options, Range, Watch,
    database::disk::{Disk, Fault},
};

/// A writer whose thread does not run: a test says when it takes what waits.
struct Manual {
    writer: Writer,
    waiting: Vec<Request>,
}

type Answered = Receiver<Result<Revision, CommitError>>;

impl Manual {
    fn open(disk: &Disk) -> Self {
        let (database, content) = disk.open();
        let shared = Arc::new(Shared::new(content, Options::default()));
        Self { writer: Writer::new(shared, Some(database)), waiting: Vec::new() }
    }

    fn queue(&mut self, transaction: Transaction) -> Answered {
        let (answer, answered) = oneshot::channel();
        self.waiting.push(Request { transaction, answer });
        answered
    }

    fn take_what_waits(&mut self) {
        self.writer.commit(self.waiting.drain(..));
    }

    fn commit(&mut self, transaction: Transaction) -> Result<Revision, CommitError> {
        let mut answered = self.queue(transaction);
        self.take_what_waits();
        answered.try_recv().expect("answered")
    }

    fn value(&self, key: &str) -> Option<String> {
        let entry = self.writer.shared.state().get(key).cloned()?;
        Some(String::from_utf8_lossy(&entry.value).into_owned())
    }

    fn revision(&self) -> Revision {
        self.writer.shared.state().revision()
    }
}

fn put(key: &str, value: &str) -> Transaction {
    Transaction::new().put(key, value)
}

#[test]
fn transactions_that_wait_together_share_a_flush() {
    let disk = Disk::default();
    let mut manual = Manual::open(&disk);
    let flushes = |manual: &mut Manual| {
        let before = disk.flushes();
        manual.take_what_waits();
        disk.flushes() - before
    };
    let _alone = manual.queue(put("/alone", "value"));
    let of_one = flushes(&mut manual);
    let first = manual.revision();
    let mut answers: Vec<Answered> =
        (0..50).map(|number| manual.queue(put(&format!("/{number}"), "value"))).collect();
    assert_eq!(answers[0].try_recv().expect_err("not yet"), TryRecvError::Empty);
    assert_eq!(flushes(&mut manual), of_one);
    for (answer, revision) in answers.iter_mut().zip(first + 1..) {
        assert_eq!(answer.try_recv().expect("answered").expect("commits"), revision);
    }
}

#[test]
fn transactions_of_a_batch_see_their_predecessors() {
    let mut manual = Manual::open(&Disk::default());
    let mut create = manual.queue(put("/a", "1").require("/a", Condition::Absent));
    let mut conflict = manual.queue(put("/a", "2").require("/a", Condition::Absent));
    let mut change = manual.queue(put("/a", "3").require("/a", Condition::Present));
    let mut delete = manual.queue(Transaction::new().delete("/a"));
    let mut again = manual.queue(put("/a", "4").require("/a", Condition::Absent));
    manual.take_what_waits();
    let revision = |answer: &mut Answered| answer.try_recv().expect("answered");
    let created = revision(&mut create).expect("commits");
    let error = revision(&mut conflict).expect_err("refused");
    assert!(matches!(error, CommitError::Conflict { found, .. } if found == Some(created)));
    assert_eq!(revision(&mut change).expect("commits"), created + 1);
    assert_eq!(revision(&mut delete).expect("commits"), created + 2);
    let last = revision(&mut again).expect("commits");
    assert_eq!(last, created + 3);
    let entry = manual.writer.shared.state().get("/a").cloned().expect("there");
    assert_eq!((entry.created, entry.revision), (last, last));
    let then = Range { prefix: "/a", revision: Some(created), ..Range::default() };
    let old = manual.writer.shared.state().range(&then).expect("reads").entries;
    assert_eq!(old[0].1.value, "1");
}

#[test]
fn a_full_disk_changes_nothing_and_needs_no_restart() {
    let disk = Disk::default();
    let mut manual = Manual::open(&disk);
    let before = manual.commit(put("/a", "1")).expect("commits");
    disk.set(Some(Fault::Full));
    for _ in 0..3 {
        let error = manual.commit(put("/a", "2")).expect_err("no room");
        assert!(matches!(error, CommitError::Storage { .. }), "{error}");
        assert_eq!(manual.revision(), before);
        assert_eq!(manual.value("/a").as_deref(), Some("1"));
    }
    disk.set(None);
    let after = manual.commit(put("/b", "3")).expect("commits");
    assert_eq!(after, before + 1);
    drop(manual);
    let manual = Manual::open(&disk);
    assert_eq!(manual.revision(), after);
    assert_eq!(manual.value("/a").as_deref(), Some("1"));
    assert_eq!(manual.value("/b").as_deref(), Some("3"));
}

#[tokio::test]
async fn what_the_file_holds_after_a_failure_is_what_readers_see() {
    let disk = Disk::default();
    let mut manual = Manual::open(&disk);
    let before = manual.commit(put("/a", "1")).expect("commits");
    let mut watch = Watch::new(Arc::clone(&manual.writer.shared), "", before).expect("watches");
    disk.set(Some(Fault::Silent));
    manual.commit(put("/a", "2")).expect_err("not known");
    manual.commit(put("/a", "3")).expect_err("the file cannot be opened");
    disk.set(None);
    let stale = put("/a", "4").require("/a", Condition::At(before));
    let error = manual.commit(stale).expect_err("refused");
    assert!(matches!(error, CommitError::Conflict { found, .. } if found == Some(before + 1)));
    assert_eq!(manual.value("/a").as_deref(), Some("2"));
    assert_eq!(watch.next().await.expect("an event").revision, before + 1);
    assert_eq!(manual.commit(put("/a", "5")).expect("commits"), before + 2);
}

#[test]
fn another_file_in_the_place_is_not_written_to() {
    let disk = Disk::default();
    let mut manual = Manual::open(&disk);
    manual.commit(put("/a", "1")).expect("commits");
    disk.set(Some(Fault::Full));
    manual.commit(put("/a", "2")).expect_err("no room");
    disk.set(None);
    disk.erase();
    for _ in 0..2 {
        let error = manual.commit(put("/a", "3")).expect_err("refused");
        assert!(matches!(error, CommitError::Storage { .. }), "{error}");
    }
    assert_eq!(manual.value("/a").as_deref(), Some("1"));
    drop(manual);
    assert_eq!(Manual::open(&disk).value("/a"), None);
}

/// The next of a series of random numbers.
fn step(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_acknowledged() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..40 {
        let disk = Disk::default();
        let mut manual = Manual::open(&disk);
        disk.set(Some(Fault::Off(u32::try_from(step(&mut random) % 300).expect("small"))));
        let mut acknowledged = 0;
        let failed = loop {
            let number = acknowledged + 1;
            let long = "x".repeat(usize::try_from(step(&mut random) % 9000).expect("small"));
            let change = put("/last", &number.to_string()).put(format!("/{number}"), long);
            match manual.commit(change) {
                Ok(_) => acknowledged = number,
                Err(_) => break number,
            }
        };
        let disk = disk.after_power_loss(|| step(&mut random));
        let manual = Manual::open(&disk);
        let found = manual.value("/last").map_or(0, |number| number.parse().expect("a number"));
        assert!([acknowledged, failed].contains(&found), "{found} after {acknowledged}");
        let range = Range { prefix: "/", ..Range::default() };
        let count = manual.writer.shared.state().count(&range).expect("reads");
        assert_eq!(count, found + usize::from(found > 0));
    }
}
