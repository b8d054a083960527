//! A repository on this machine, opened where it is.

use std::path::Path;

use crate::{
    Error, GitReference, GitUrl,
    error::chain,
    objects::{Objects, Snapshot},
};

/// A commit of a repository on this machine.
pub(crate) struct Found {
    pub(crate) objects: Objects,
    pub(crate) snapshot: Snapshot,
    /// The full name under which it was found, or the id.
    pub(crate) name: String,
}

/// Finds a commit. The configuration of the user and of the machine takes no part.
pub(crate) fn find(path: &Path, url: &GitUrl, reference: &GitReference) -> Result<Found, Error> {
    let broken = |reason| Error::Broken { url: url.to_string(), reason };
    let repository = gix::open_opts(path, gix::open::Options::isolated())
        .map_err(|_| Error::NotARepository { url: url.to_string() })?;
    let missing = || Error::NoReference { url: url.to_string(), reference: reference.to_string() };

    let directory = repository.objects.store_ref().path();
    let objects = Objects::open(directory, repository.object_hash(), None)
        .map_err(|error| broken(error.to_string()))?;
    let (id, name) = match reference.object_id() {
        Some(id) => {
            let id = gix::ObjectId::from_hex(id.as_bytes()).map_err(|_| missing())?;
            if !objects.has(&id) {
                return Err(missing());
            }
            (id, id.to_string())
        }
        None => reference
            .candidates()
            .iter()
            .find_map(|name| {
                let full: gix::refs::FullName = name.as_str().try_into().ok()?;
                let found = repository.try_find_reference(&full).ok()??;
                (found.name() == full.as_ref()).then_some(found)
            })
            .ok_or_else(missing)
            .and_then(|mut found| {
                let id = found.follow_to_object().map_err(|error| broken(chain(&error)))?;
                Ok((id.detach(), found.name().as_bstr().to_string()))
            })?,
    };
    let snapshot = objects.snapshot(&id).map_err(broken)?.ok_or_else(|| Error::NotACommit {
        url: url.to_string(),
        reference: reference.to_string(),
    })?;
    Ok(Found { objects, snapshot, name })
}
