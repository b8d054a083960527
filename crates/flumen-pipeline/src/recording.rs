//! What a build asked the file system, and what it was told.
//!
//! A directory has no commit that names its state. But a build of the same configuration asks the same
//! questions as long as it gets the same answers, so the answers are the state: if all are as they
//! were, so is the result. That includes files that were looked for and not there.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use flumen_fs::{Bounds, FsError, Tree};
use flumen_oci::{Algorithm, Digest, Hasher};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// A tree that remembers what was asked, and that stops answering when it is told to.
#[derive(Debug)]
pub(crate) struct RecordingTree {
    inner: Arc<dyn Tree>,
    answers: Mutex<BTreeMap<Question, Digest>>,
    stop: Arc<AtomicBool>,
}

/// Something that was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    RealDir(PathBuf),
    Read { path: PathBuf, within: Option<PathBuf> },
    List(PathBuf),
}

/// A question and the digest of its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    question: Question,
    answer: Digest,
}

impl RecordingTree {
    pub(crate) fn new(inner: Arc<dyn Tree>, stop: Arc<AtomicBool>) -> Self {
        Self { inner, answers: Mutex::default(), stop }
    }

    /// All questions so far, in a fixed order.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let answers = self.answers.lock();
        let answer = |(question, answer): (&Question, &Digest)| Answer {
            question: question.clone(),
            answer: answer.clone(),
        };
        answers.iter().map(answer).collect()
    }

    fn record(&self, question: Question, result: &Result<impl Content, FsError>) {
        let answer = digest(result);
        self.answers.lock().insert(question, answer);
    }

    fn check_running(&self, path: &Path) -> Result<(), FsError> {
        if self.stop.load(Ordering::Relaxed) {
            let source = io::Error::new(io::ErrorKind::Interrupted, "the build was stopped");
            return Err(FsError::Io { path: path.to_owned(), source });
        }
        Ok(())
    }
}

impl Tree for RecordingTree {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        self.check_running(path)?;
        let result = self.inner.real_dir(path);
        self.record(Question::RealDir(path.to_owned()), &result);
        result
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        self.check_running(path)?;
        let result = self.inner.read(path, bounds);
        let within = match bounds {
            Bounds::Anywhere => None,
            Bounds::Within(root) => Some(root.to_owned()),
        };
        self.record(Question::Read { path: path.to_owned(), within }, &result);
        result
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        self.check_running(dir)?;
        let result = self.inner.list(dir);
        self.record(Question::List(dir.to_owned()), &result);
        result
    }
}

impl Answer {
    /// Whether `tree` still gives this answer.
    pub(crate) fn holds(&self, tree: &dyn Tree) -> bool {
        let answer = match &self.question {
            Question::RealDir(path) => digest(&tree.real_dir(path)),
            Question::Read { path, within } => {
                let bounds = within.as_deref().map_or(Bounds::Anywhere, Bounds::Within);
                digest(&tree.read(path, bounds))
            }
            Question::List(dir) => digest(&tree.list(dir)),
        };
        answer == self.answer
    }
}

/// What an answer says, as bytes.
trait Content {
    fn bytes(&self) -> Cow<'_, [u8]>;
}

impl Content for PathBuf {
    fn bytes(&self) -> Cow<'_, [u8]> {
        self.as_os_str().as_encoded_bytes().into()
    }
}

impl Content for Vec<u8> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        self.into()
    }
}

impl Content for Vec<String> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        // No name has a zero byte.
        self.join("\0").into_bytes().into()
    }
}

/// An error is an answer too; what it says names its kind.
fn digest(result: &Result<impl Content, FsError>) -> Digest {
    let mut hasher = Hasher::new(Algorithm::Sha256);
    match result {
        Ok(answer) => {
            hasher.update(b"+");
            hasher.update(&answer.bytes());
        }
        Err(error) => {
            hasher.update(b"-");
            hasher.update(error.to_string().as_bytes());
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use flumen_fs::MemoryTree;

    use super::*;

    fn tree() -> MemoryTree {
        let mut tree = MemoryTree::new();
        tree.insert_file("/app/a.yaml", "a: 1\n");
        tree.insert_file("/app/b.yaml", "b: 1\n");
        tree
    }

    fn recorded() -> Vec<Answer> {
        let recording = RecordingTree::new(Arc::new(tree()), Arc::default());
        recording
            .read(Path::new("/app/a.yaml"), Bounds::Within(Path::new("/app")))
            .expect("a file");
        recording.read(Path::new("/app/absent.yaml"), Bounds::Anywhere).expect_err("no file");
        recording.real_dir(Path::new("/app")).expect("a directory");
        recording.answers()
    }

    #[test]
    fn answers_hold_until_something_that_was_asked_changes() {
        let answers = recorded();
        assert_eq!(answers.len(), 3);
        let all_hold = |tree: &MemoryTree| answers.iter().all(|answer| answer.holds(tree));
        assert!(all_hold(&tree()));

        let mut unrelated = tree();
        unrelated.insert_file("/app/b.yaml", "b: 2\n");
        assert!(all_hold(&unrelated));
        let mut changed = tree();
        changed.insert_file("/app/a.yaml", "a: 2\n");
        assert!(!all_hold(&changed));
        let mut appeared = tree();
        appeared.insert_file("/app/absent.yaml", "");
        assert!(!all_hold(&appeared));
    }

    #[test]
    fn answers_survive_being_written_down() {
        let text = serde_json::to_string(&recorded()).expect("JSON");
        let read: Vec<Answer> = serde_json::from_str(&text).expect("answers");
        assert!(read.iter().all(|answer| answer.holds(&tree())), "{text}");
    }

    #[test]
    fn a_stopped_tree_answers_nothing() {
        let stop = Arc::new(AtomicBool::new(true));
        let recording = RecordingTree::new(Arc::new(tree()), stop);
        let error = recording.list(Path::new("/app")).expect_err("stopped");
        assert!(matches!(error, FsError::Io { .. }), "{error:?}");
    }
}
