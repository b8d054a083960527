//! Changes on their way to one commit.

use std::collections::{BTreeMap, BTreeSet};

use redb::WriteTransaction;

use super::{
    files::Files,
    rows::{Rows, Table, Visit},
};
use crate::digest::{Algorithm, Digest};

pub(super) struct Batch<'a> {
    transaction: &'a WriteTransaction,
    pub(super) files: &'a Files,
    /// Blobs whose rows are gone, and their sizes; their files follow after the commit.
    pub(super) doomed: BTreeMap<Digest, u64>,
    /// Where files got their names, which the disk must remember before the commit.
    pub(super) named: BTreeSet<Algorithm>,
}

impl<'a> Batch<'a> {
    pub(super) const fn new(transaction: &'a WriteTransaction, files: &'a Files) -> Self {
        Self { transaction, files, doomed: BTreeMap::new(), named: BTreeSet::new() }
    }

    pub(super) fn insert(
        &mut self,
        table: Table,
        key: &str,
        value: &[u8],
    ) -> Result<(), redb::Error> {
        self.transaction.open_table(table)?.insert(key, value)?;
        Ok(())
    }

    /// Removes a row, and says whether there was one.
    pub(super) fn remove(&mut self, table: Table, key: &str) -> Result<bool, redb::Error> {
        Ok(self.transaction.open_table(table)?.remove(key)?.is_some())
    }
}

impl Rows for Batch<'_> {
    fn get(&self, table: Table, key: &str) -> Result<Option<Vec<u8>>, redb::Error> {
        self.transaction.get(table, key)
    }

    fn visit(
        &self,
        table: Table,
        prefix: &str,
        after: &str,
        visitor: &mut dyn FnMut(&str, &[u8]) -> Visit,
    ) -> Result<(), redb::Error> {
        self.transaction.visit(table, prefix, after, visitor)
    }
}
