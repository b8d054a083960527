//! The tables of the file and the form of their rows.
//!
//! Every row begins with a checksum of its key and the rest. Keys are bytes for the database, which
//! would panic at a text that is none.

use std::str;

use bytes::Bytes;
use redb::TableDefinition;

use crate::{
    checksum::checksum,
    entry::{Entry, Revision},
};

pub(crate) type Table = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// Facts of the store as a whole.
pub(crate) const META: Table = Table::new("flumen-store");
/// The live entries.
pub(crate) const ENTRIES: Table = Table::new("entries");

/// The number of this layout, and the row of [`META`] that holds it.
pub(crate) const SCHEMA: u64 = 1;
pub(crate) const SCHEMA_KEY: &[u8] = b"schema";
/// The row of [`META`] with the last revision.
pub(crate) const REVISION_KEY: &[u8] = b"revision";

pub(crate) fn encode_number(key: &[u8], number: u64) -> Vec<u8> {
    seal(key, vec![0; size_of::<u64>()], &[&number.to_le_bytes()])
}

pub(crate) fn decode_number(key: &[u8], row: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(unseal(key, row)?.try_into().ok()?))
}

/// Writes a row into a buffer that is used again and again.
pub(crate) fn encode_entry(key: &str, entry: &Entry, buffer: Vec<u8>) -> Vec<u8> {
    let numbers = [entry.revision.to_le_bytes(), entry.created.to_le_bytes()];
    seal(key.as_bytes(), buffer, &[&numbers[0], &numbers[1], &entry.value])
}

pub(crate) fn decode_entry<'a>(key: &'a [u8], row: &[u8]) -> Option<(&'a str, Entry)> {
    let rest = unseal(key, row)?;
    let (revision, rest) = rest.split_first_chunk()?;
    let (created, value) = rest.split_first_chunk()?;
    let entry = Entry {
        value: Bytes::copy_from_slice(value),
        revision: Revision::from_le_bytes(*revision),
        created: Revision::from_le_bytes(*created),
    };
    Some((str::from_utf8(key).ok()?, entry))
}

fn seal(key: &[u8], mut row: Vec<u8>, parts: &[&[u8]]) -> Vec<u8> {
    row.clear();
    row.extend([0; size_of::<u64>()]);
    for part in parts {
        row.extend_from_slice(part);
    }
    let (sum, rest) = row.split_at_mut(size_of::<u64>());
    sum.copy_from_slice(&checksum([key, rest]).to_le_bytes());
    row
}

fn unseal<'a>(key: &[u8], row: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, rest) = row.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == checksum([key, rest])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_return_what_they_were_given() {
        let entry = Entry { value: Bytes::from_static(b"value"), revision: 7, created: 3 };
        let row = encode_entry("/a", &entry, b"old".to_vec());
        assert_eq!(decode_entry(b"/a", &row), Some(("/a", entry)));
        assert_eq!(decode_number(b"n", &encode_number(b"n", 9)), Some(9));
    }

    #[test]
    fn rows_that_were_changed_are_refused() {
        let entry = Entry { value: Bytes::from_static(b"value"), revision: 7, created: 3 };
        let row = encode_entry("/a", &entry, Vec::new());
        assert_eq!(decode_entry(b"/b", &row), None);
        for length in 0..row.len() {
            assert_eq!(decode_entry(b"/a", &row[..length]), None, "{length}");
        }
        for index in 0..row.len() {
            let mut changed = row.clone();
            changed[index] ^= 1;
            assert_eq!(decode_entry(b"/a", &changed), None, "{index}");
        }
    }
}
