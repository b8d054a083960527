//! Content that nobody needs.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use redb::WriteTransaction;

use super::{
    Files, Store, StoreError,
    batch::Batch,
    blobs::{number, seconds_now, unlink},
    database::Database,
    rows::{BLOBS, LINKS, Rows, USES, View, Visit, key, prefix},
};
use crate::{Result, digest::Digest};

/// Blobs that one commit removes; others can write between two of them.
const BATCH: usize = 512;

/// What a collection removed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    /// Blobs taken from a repository where no manifest names them.
    pub blobs: u64,
}

impl Store {
    /// Removes blobs that no manifest of their repository names, if they were pushed or mounted
    /// longer ago than `age`.
    pub(crate) async fn collect(&self, age: Duration) -> Result<Collected, StoreError> {
        let before = seconds_now().saturating_sub(age.as_secs());
        let mut candidates = self
            .read(move |view| {
                let mut old = Vec::new();
                view.visit(LINKS, "", "", &mut |key, linked| {
                    if number(linked).is_some_and(|linked| linked <= before) {
                        old.extend(split(key));
                    }
                    Visit::Next
                })?;
                let mut unused = Vec::new();
                for (digest, repository) in old {
                    if !view.any(USES, &prefix([&repository, digest.as_str()]))? {
                        unused.push((digest, repository));
                    }
                }
                Ok(unused)
            })
            .await?;

        let mut collected = Collected::default();
        while !candidates.is_empty() {
            let some = candidates.split_off(candidates.len().saturating_sub(BATCH));
            let removed = self.change(move |batch| {
                let mut removed = 0;
                for (digest, repository) in some {
                    removed += u64::from(remove_unused(batch, &repository, &digest, before)?);
                }
                Ok(Ok(removed))
            });
            collected.blobs += removed.await?.unwrap_or(0);
        }
        Ok(collected)
    }
}

/// Checks again, because a push may have come in between.
fn remove_unused(
    batch: &mut Batch<'_>,
    repository: &str,
    digest: &Digest,
    before: u64,
) -> Result<bool, redb::Error> {
    let linked = batch.get(LINKS, &key([digest.as_str(), repository]))?;
    let is_old = linked.and_then(|linked| number(&linked)).is_some_and(|linked| linked <= before);
    if !is_old || batch.any(USES, &prefix([repository, digest.as_str()]))? {
        return Ok(false);
    }
    unlink(batch, repository, digest)?;
    Ok(true)
}

fn split(key: &str) -> Option<(Digest, String)> {
    let (digest, repository) = key.split_once('\0')?;
    Some((digest.parse().ok()?, repository.to_owned()))
}

/// Brings files and rows into agreement after a crash, and returns how much the blobs hold.
///
/// Files without a row were never acknowledged. Rows without a file can only come from outside or
/// from a disk that lied; without them, clients push the content again.
pub(super) fn sweep(database: &Database, files: &Files) -> Result<u64> {
    files.remove_uploads()?;
    let present = BTreeSet::from_iter(files.digests()?);
    let known = database.read(known_blobs).map_err(StoreError::from)?;
    for digest in present.iter().filter(|digest| !known.contains_key(*digest)) {
        files.remove(digest);
    }
    let missing: Vec<&Digest> = known.keys().filter(|digest| !present.contains(*digest)).collect();
    if !missing.is_empty() {
        database.write(|transaction| forget(transaction, files, &missing))?;
    }
    Ok(known.iter().filter(|(digest, _)| present.contains(*digest)).map(|(_, size)| size).sum())
}

fn known_blobs(view: &View) -> Result<BTreeMap<Digest, u64>, redb::Error> {
    let mut known = BTreeMap::new();
    view.visit(BLOBS, "", "", &mut |digest, size| {
        known.extend(digest.parse::<Digest>().ok().zip(number(size)));
        Visit::Next
    })?;
    Ok(known)
}

fn forget(
    transaction: &WriteTransaction,
    files: &Files,
    missing: &[&Digest],
) -> Result<(), StoreError> {
    let mut batch = Batch::new(transaction, files);
    for digest in missing {
        let mut repositories = Vec::new();
        batch.visit(LINKS, &prefix([digest.as_str()]), "", &mut |repository, _| {
            repositories.push(repository.to_owned());
            Visit::Next
        })?;
        for repository in repositories {
            unlink(&mut batch, &repository, digest)?;
        }
    }
    Ok(())
}
