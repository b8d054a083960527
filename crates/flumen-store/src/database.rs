//! The file: live entries and the last revision, committed together.

#[cfg(test)]
pub(crate) mod disk;

use std::{
    fs::{File, OpenOptions},
    io,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::Arc,
};

use redb::{
    Builder, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _,
    TableHandle as _,
};
use tempfile::NamedTempFile;

use crate::{
    entry::{Entry, Event, Revision},
    error::OpenError,
    rows::{
        ENTRIES, META, REVISION_KEY, SCHEMA, SCHEMA_KEY, decode_entry, decode_number, encode_entry,
        encode_number,
    },
};

/// Reads never touch the file, so this serves the inner pages that writes need.
const CACHE: usize = 2 << 20;
/// The revision of a new store. Clients take 0 for "any".
pub(crate) const FIRST_REVISION: Revision = 1;

pub(crate) struct Database {
    /// Opens the file.
    opener: Opener,
    /// `None` when it failed and could not be opened again yet.
    open: Option<redb::Database>,
}

type Opener = Box<dyn Fn() -> Result<redb::Database, Refusal> + Send>;

/// What the file holds.
pub(crate) struct Content {
    pub(crate) revision: Revision,
    pub(crate) entries: Vec<(Arc<str>, Entry)>,
}

impl Database {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Content), OpenError> {
        if !path.exists() {
            create_file(path).map_err(|refusal| refuse(path, refusal))?;
        }
        let file = path.to_owned();
        Self::with(Box::new(move || open_file(&file))).map_err(|refusal| refuse(path, refusal))
    }

    fn with(opener: Opener) -> Result<(Self, Content), Refusal> {
        let (database, content) = guarded(|| {
            let database = opener()?;
            let content = read(&database)?;
            Ok((database, content))
        })?;
        Ok((Self { opener, open: Some(database) }, content))
    }

    /// Commits changes and returns when the disk has them.
    ///
    /// After an error they may have been committed or not, and nothing can be written until
    /// [`Self::reopen`] has told.
    pub(crate) fn write(&mut self, events: &[Arc<Event>]) -> Result<(), redb::Error> {
        let database = self.open.take().ok_or(redb::Error::PreviousIo)?;
        commit(&database, events)?;
        self.open = Some(database);
        Ok(())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns to the last commit after an error, and tells its revision, which must be one of
    /// those given: someone may have put another file in the place.
    ///
    /// The database trusts nothing in its memory after an error of the disk; a disk that was full
    /// needs no restart.
    pub(crate) fn reopen(&mut self, expected: &[Revision]) -> Result<Revision, Refusal> {
        // Closed before it is opened: its file is locked.
        self.open = None;
        let (database, revision) = guarded(|| {
            let database = (self.opener)()?;
            let revision = read_number(&database, REVISION_KEY)?;
            Ok((database, revision))
        })?;
        if !expected.contains(&revision) {
            return Err(Refusal::Damaged("the file is not the one that was opened".to_owned()));
        }
        self.open = Some(database);
        Ok(revision)
    }
}

/// The database panics at some damaged pages. Checking all of them before would take longer than
/// reading them.
fn guarded<T>(open: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    // Nothing that the closure has touched is used after a panic.
    panic::catch_unwind(AssertUnwindSafe(open))
        .unwrap_or_else(|_| Err(Refusal::Damaged("a page is not what was written".to_owned())))
}

fn commit(database: &redb::Database, events: &[Arc<Event>]) -> Result<(), redb::Error> {
    let Some(last) = events.last() else { return Ok(()) };
    let transaction = database.begin_write()?;
    {
        let mut entries = transaction.open_table(ENTRIES)?;
        let mut row = Vec::new();
        for event in events {
            let key = event.key.as_bytes();
            match &event.entry {
                Some(entry) => {
                    row = encode_entry(&event.key, entry, row);
                    entries.insert(key, row.as_slice())?;
                }
                None => {
                    entries.remove(key)?;
                }
            }
        }
    }
    write_number(&transaction, REVISION_KEY, last.revision)?;
    // One phase: pages have checksums, so a commit that reached the disk in part is recognised when
    // the file is opened, and one flush is enough.
    transaction.commit()?;
    Ok(())
}

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the file is not a store")]
    Foreign,
    #[error("the file has schema version {0}")]
    Schema(u64),
    #[error("{0}")]
    Damaged(String),
    #[error(transparent)]
    Database(redb::Error),
}

impl<E: Into<redb::Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

fn refuse(path: &Path, refusal: Refusal) -> OpenError {
    let path = path.to_owned();
    match refusal {
        Refusal::Foreign => OpenError::Foreign { path },
        Refusal::Schema(found) => OpenError::Schema { path, found, known: SCHEMA },
        Refusal::Damaged(what) => OpenError::Damaged { path, what },
        Refusal::Database(redb::Error::DatabaseAlreadyOpen) => OpenError::InUse { path },
        Refusal::Database(redb::Error::Io(source)) => match source.kind() {
            io::ErrorKind::InvalidData => OpenError::Foreign { path },
            _ => OpenError::Io { path, source },
        },
        Refusal::Database(error) => OpenError::Damaged { path, what: error.to_string() },
    }
}

fn open_file(path: &Path) -> Result<redb::Database, Refusal> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(redb::Error::Io)?;
    prepare(builder().create_file(file)?)
}

/// Makes a file that only its owner can read, because values may be secrets.
///
/// It gets its name when it is complete: one whose making was cut short is no database.
fn create_file(path: &Path) -> Result<(), Refusal> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let file = NamedTempFile::with_suffix_in(".new", directory).map_err(redb::Error::Io)?;
    drop(prepare(builder().create_file(file.reopen().map_err(redb::Error::Io)?)?)?);
    match file.persist_noclobber(path) {
        Ok(_) => Ok(keep_name(directory).map_err(redb::Error::Io)?),
        // Another process was faster.
        Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(failure) => Err(redb::Error::Io(failure.error).into()),
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder
}

/// Makes the name of a new file last as long as what is in it.
fn keep_name(directory: &Path) -> io::Result<()> {
    // Elsewhere a directory cannot be opened, and need not be.
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Makes the tables of a new file, or checks those of an old one.
fn prepare(database: redb::Database) -> Result<redb::Database, Refusal> {
    let view = database.begin_read()?;
    let tables: Vec<String> = view.list_tables()?.map(|table| table.name().to_owned()).collect();
    if tables.is_empty() {
        let transaction = database.begin_write()?;
        transaction.open_table(ENTRIES)?;
        write_number(&transaction, SCHEMA_KEY, SCHEMA)?;
        write_number(&transaction, REVISION_KEY, FIRST_REVISION)?;
        transaction.commit()?;
        return Ok(database);
    }
    if !tables.iter().any(|table| table == META.name()) {
        return Err(Refusal::Foreign);
    }
    match read_number(&database, SCHEMA_KEY)? {
        SCHEMA => Ok(database),
        found => Err(Refusal::Schema(found)),
    }
}

fn read(database: &redb::Database) -> Result<Content, Refusal> {
    let revision = read_number(database, REVISION_KEY)?;
    let table = database.begin_read()?.open_table(ENTRIES)?;
    let mut entries = Vec::new();
    for row in table.iter()? {
        let (key, row) = row?;
        let (key, entry) = decode_entry(key.value(), row.value())
            .ok_or_else(|| Refusal::Damaged("an entry is not what was written".to_owned()))?;
        entries.push((Arc::from(key), entry));
    }
    if entries.len() as u64 != table.len()? {
        return Err(Refusal::Damaged("entries are missing".to_owned()));
    }
    Ok(Content { revision, entries })
}

fn read_number(database: &redb::Database, key: &[u8]) -> Result<u64, Refusal> {
    let table = database.begin_read()?.open_table(META)?;
    let row = table.get(key)?;
    row.and_then(|row| decode_number(key, row.value())).ok_or_else(|| {
        Refusal::Damaged(format!("its {} is not what was written", String::from_utf8_lossy(key)))
    })
}

fn write_number(
    transaction: &redb::WriteTransaction,
    key: &[u8],
    number: u64,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(META)?;
    table.insert(key, encode_number(key, number).as_slice())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemas_are_refused_with_advice() {
        let directory = tempfile::tempdir().expect("a directory");
        for (found, advice) in [(SCHEMA + 1, "a newer version wrote"), (0, "that wrote it")] {
            let path = directory.path().join(found.to_string());
            let (database, _) = Database::open(&path).expect("opens");
            let transaction = database.open.as_ref().expect("open").begin_write().expect("begins");
            write_number(&transaction, SCHEMA_KEY, found).expect("writes");
            transaction.commit().expect("commits");
            drop(database);
            let Err(error) = Database::open(&path) else { panic!("opened") };
            let expected = format!("has schema version {found}; this program knows version 1");
            assert!(error.to_string().ends_with(&expected), "{error}");
            assert!(error.hint().is_some_and(|hint| hint.contains(advice)), "{:?}", error.hint());
        }
    }
}
