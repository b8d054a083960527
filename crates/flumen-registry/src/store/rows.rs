//! The tables, and how they are read.
//!
//! Every key is a list of names joined by a zero byte, which no name contains. So rows that share
//! their first names lie together and are found by that prefix.

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _, TableDefinition, WriteTransaction};

pub(super) type Table = TableDefinition<'static, &'static str, &'static [u8]>;

/// digest → size. The blob's file exists.
pub(super) const BLOBS: Table = Table::new("blobs");
/// digest, repository → when it was pushed or mounted there, in seconds.
pub(super) const LINKS: Table = Table::new("links");
/// repository, digest → media type, line end, content.
pub(super) const MANIFESTS: Table = Table::new("manifests");
/// repository, tag → digest.
pub(super) const TAGS: Table = Table::new("tags");
/// repository, subject, digest → descriptor.
pub(super) const REFERRERS: Table = Table::new("referrers");
/// repository, blob, manifest that names it → nothing.
pub(super) const USES: Table = Table::new("uses");

pub(super) const TABLES: [Table; 6] = [BLOBS, LINKS, MANIFESTS, TAGS, REFERRERS, USES];

pub(super) fn key<const N: usize>(names: [&str; N]) -> String {
    names.join("\0")
}

/// What all keys with these first names start with.
pub(super) fn prefix<const N: usize>(names: [&str; N]) -> String {
    let mut prefix = key(names);
    prefix.push('\0');
    prefix
}

/// What a visitor of rows wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    Next,
    Stop,
}

/// Rows as of some commit, or as of the changes of a batch so far.
pub(super) trait Rows {
    fn get(&self, table: Table, key: &str) -> Result<Option<Vec<u8>>, redb::Error>;

    /// Visits the rows with this prefix that come after the key, in order. The visitor gets the
    /// key without the prefix.
    fn visit(
        &self,
        table: Table,
        prefix: &str,
        after: &str,
        visitor: &mut dyn FnMut(&str, &[u8]) -> Visit,
    ) -> Result<(), redb::Error>;

    fn contains(&self, table: Table, key: &str) -> Result<bool, redb::Error> {
        Ok(self.get(table, key)?.is_some())
    }

    /// Whether any row has the prefix.
    fn any(&self, table: Table, prefix: &str) -> Result<bool, redb::Error> {
        let mut found = false;
        self.visit(table, prefix, "", &mut |_, _| {
            found = true;
            Visit::Stop
        })?;
        Ok(found)
    }
}

/// The state after a commit.
pub(super) struct View(ReadTransaction);

impl View {
    pub(super) const fn new(transaction: ReadTransaction) -> Self {
        Self(transaction)
    }

    fn table(
        &self,
        table: Table,
    ) -> Result<ReadOnlyTable<&'static str, &'static [u8]>, redb::Error> {
        Ok(self.0.open_table(table)?)
    }
}

impl Rows for View {
    fn get(&self, table: Table, key: &str) -> Result<Option<Vec<u8>>, redb::Error> {
        Ok(self.table(table)?.get(key)?.map(|value| value.value().to_vec()))
    }

    fn visit(
        &self,
        table: Table,
        prefix: &str,
        after: &str,
        visitor: &mut dyn FnMut(&str, &[u8]) -> Visit,
    ) -> Result<(), redb::Error> {
        visit(&self.table(table)?, prefix, after, visitor)
    }
}

impl Rows for WriteTransaction {
    fn get(&self, table: Table, key: &str) -> Result<Option<Vec<u8>>, redb::Error> {
        Ok(self.open_table(table)?.get(key)?.map(|value| value.value().to_vec()))
    }

    fn visit(
        &self,
        table: Table,
        prefix: &str,
        after: &str,
        visitor: &mut dyn FnMut(&str, &[u8]) -> Visit,
    ) -> Result<(), redb::Error> {
        visit(&self.open_table(table)?, prefix, after, visitor)
    }
}

fn visit(
    table: &impl redb::ReadableTable<&'static str, &'static [u8]>,
    prefix: &str,
    after: &str,
    visitor: &mut dyn FnMut(&str, &[u8]) -> Visit,
) -> Result<(), redb::Error> {
    let start = format!("{prefix}{after}");
    for row in table.range(start.as_str()..)? {
        let (key, value) = row?;
        let Some(rest) = key.value().strip_prefix(prefix) else { break };
        // An empty `after` means all of them.
        if !after.is_empty() && rest == after {
            continue;
        }
        if visitor(rest, value.value()) == Visit::Stop {
            break;
        }
    }
    Ok(())
}
