//! Memory of the last successful reconciliation, so that nothing is done twice.
//!
//! The inventory is noted on disk, too, for the next process: a line for each object with its id, its version and the two
//! digests that show whether it has changed. Losing any of it costs a few requests and nothing else.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use flumen_apply::{Entry, Inventory, Seen};
use flumen_object::ObjectId;
use flumen_runtime::Key;
use parking_lot::{Mutex, MutexGuard};

use super::build::Input;

/// The directory of the notes in the storage.
const NOTES: &str = "applied";

#[derive(Debug)]
pub(super) struct Memory {
    known: Mutex<HashMap<Key, Remembered>>,
    notes: PathBuf,
}

/// What the last successful reconciliation has left.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// What was built, and what that was read from.
    pub(super) input: Input,
    /// The digest of the build, which the history shows.
    pub(super) digest: String,
    /// What is applied, and how it looked then.
    pub(super) inventory: Inventory,
}

impl Memory {
    pub(super) fn new(storage: &Path) -> Self {
        Self { known: Mutex::default(), notes: storage.join(NOTES) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Remembered>> {
        self.known.lock()
    }

    pub(super) fn get(&self, key: &Key) -> Option<Remembered> {
        self.lock().get(key).cloned()
    }

    pub(super) fn set(&self, key: &Key, remembered: Remembered) {
        let is_noted = self.with(key, |known| known.inventory == remembered.inventory);
        if is_noted != Some(true)
            && let Err(error) = self.write(key, &remembered.inventory)
        {
            tracing::warn!(object = %key, %error, "cannot note what is applied");
        }
        self.lock().insert(key.clone(), remembered);
    }

    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
        // A note that stays is never read.
        let _ = fs::remove_file(self.path(key));
    }

    /// Asks something of what is remembered.
    pub(super) fn with<T>(&self, key: &Key, ask: impl FnOnce(&Remembered) -> T) -> Option<T> {
        self.lock().get(key).map(ask)
    }

    /// What is applied, by this process or by one before it.
    pub(super) fn inventory(&self, key: &Key) -> Option<Inventory> {
        self.with(key, |known| known.inventory.clone()).or_else(|| self.read(key))
    }

    /// Objects of different kinds may have the same name.
    fn directory(&self, key: &Key) -> PathBuf {
        self.notes.join(key.kind.plural).join(&key.namespace)
    }

    /// Names of objects have no slashes and are never `..`.
    fn path(&self, key: &Key) -> PathBuf {
        self.directory(key).join(&key.name)
    }

    fn write(&self, key: &Key, inventory: &Inventory) -> io::Result<()> {
        let path = self.path(key);
        let directory = self.directory(key);
        fs::create_dir_all(&directory)?;
        // Names have no capitals, so this is the note of no object.
        let unfinished = directory.join(format!("{}.UNFINISHED", key.name));
        fs::write(&unfinished, note(inventory))?;
        fs::rename(unfinished, path)
    }

    fn read(&self, key: &Key) -> Option<Inventory> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        text.lines().map(entry).collect()
    }
}

fn note(inventory: &Inventory) -> String {
    let line = |entry: &Entry| {
        let seen = entry.seen.as_ref()?;
        Some(format!("{} {} {seen}\n", entry.id.inventory_id(), entry.id.gvk.version))
    };
    inventory.entries().into_iter().filter_map(line).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let (id, rest) = line.split_once(' ')?;
    let (version, seen) = rest.split_once(' ')?;
    Some(Entry { id: ObjectId::from_inventory(id, version).ok()?, seen: Some(Seen::parse(seen)?) })
}
