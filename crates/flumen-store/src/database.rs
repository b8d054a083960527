//! The file: live entries and the last revision, committed together.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use redb::{Builder, ReadableDatabase as _, ReadableTable as _, TableHandle as _};

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

#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    /// `None` when it failed and could not be opened again yet.
    open: Option<redb::Database>,
}

/// What the file holds.
pub(crate) struct Content {
    pub(crate) revision: Revision,
    pub(crate) entries: Vec<(Arc<str>, Entry)>,
}

impl Database {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Content), OpenError> {
        let database = open_file(path).map_err(|error| refuse(path, error))?;
        let content = read(&database).map_err(|error| refuse(path, error))?;
        Ok((Self { path: path.to_owned(), open: Some(database) }, content))
    }

    /// Commits changes and returns when the disk has them.
    ///
    /// After an error they may have been committed or not; [`Self::reopen`] tells.
    pub(crate) fn write(&self, events: &[Arc<Event>]) -> Result<(), redb::Error> {
        let Some(last) = events.last() else { return Ok(()) };
        let database = self.open.as_ref().ok_or(redb::Error::PreviousIo)?;
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
        // One phase: pages have checksums, so a commit that reached the disk in part is
        // recognised when the file is opened, and one flush is enough.
        transaction.commit()?;
        Ok(())
    }

    /// Returns to the last commit after an error, and tells its revision.
    ///
    /// The database trusts nothing in its memory after an error of the disk; a disk that was full
    /// needs no restart.
    pub(crate) fn reopen(&mut self) -> Option<Revision> {
        // Closed before it is opened: its file is locked.
        self.open = None;
        let database = open_file(&self.path).ok()?;
        let revision = read_number(&database, REVISION_KEY).ok()?;
        self.open = Some(database);
        Some(revision)
    }
}

/// Why a file is not used.
#[derive(Debug)]
enum Refusal {
    Foreign,
    Schema(u64),
    Damaged(String),
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
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // Values may be secrets.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(redb::Error::Io)?;
    let is_new = file.metadata().map_err(redb::Error::Io)?.len() == 0;
    let database = Builder::new().set_cache_size(CACHE).create_file(file)?;
    if is_new {
        keep_name(path).map_err(redb::Error::Io)?;
    }
    prepare(&database)?;
    Ok(database)
}

/// Makes the name of a new file last as long as what is in it.
fn keep_name(path: &Path) -> io::Result<()> {
    // Elsewhere a directory cannot be opened, and need not be.
    if cfg!(unix) {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// Makes the tables of a new file, or checks those of an old one.
fn prepare(database: &redb::Database) -> Result<(), Refusal> {
    let view = database.begin_read()?;
    let tables: Vec<String> = view.list_tables()?.map(|table| table.name().to_owned()).collect();
    if tables.is_empty() {
        let transaction = database.begin_write()?;
        transaction.open_table(ENTRIES)?;
        write_number(&transaction, SCHEMA_KEY, SCHEMA)?;
        write_number(&transaction, REVISION_KEY, FIRST_REVISION)?;
        return Ok(transaction.commit()?);
    }
    if !tables.iter().any(|table| table == META.name()) {
        return Err(Refusal::Foreign);
    }
    match read_number(database, SCHEMA_KEY)? {
        SCHEMA => Ok(()),
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
