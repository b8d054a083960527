//! A repository on this machine, opened where it is.

use std::path::Path;

use gix::{ObjectId, Repository, refs::FullName};

use crate::{
    Error, GitReference, GitUrl,
    checkout::Found,
    error::chain,
    objects::Objects,
    reference::{TAGS, short_name},
    target::highest,
};

/// Finds a commit. The configuration of the user and of the machine takes no part.
pub(crate) fn find(
    path: &Path,
    url: &GitUrl,
    reference: &GitReference,
) -> Result<(Objects, Found), Error> {
    let broken = |reason| Error::Broken { url: url.to_string(), reason };
    let repository = gix::open_opts(path, gix::open::Options::isolated())
        .map_err(|_| Error::NotARepository { url: url.to_string() })?;
    let missing = || Error::NoReference { url: url.to_string(), reference: reference.to_string() };

    let directory = repository.objects.store_ref().path();
    let objects = Objects::open(directory, repository.object_hash(), None)
        .map_err(|error| broken(error.to_string()))?;
    let (id, name) = match (reference, reference.object_id()) {
        (_, Some(id)) => {
            let id = ObjectId::from_hex(id.as_bytes()).ok().filter(|id| objects.has(id));
            let id = id.ok_or_else(missing)?;
            (id, id.to_string())
        }
        (GitReference::Semver(range), None) => {
            newest(&repository, &objects, range, &broken)?.ok_or_else(missing)?
        }
        (_, None) => reference
            .candidates()
            .iter()
            .find_map(|name| {
                let full: FullName = name.as_str().try_into().ok()?;
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
    let tag = short_name(&name).filter(|_| name.starts_with(TAGS)).map(|short| (short, &id));
    let found = Found::read(&objects, snapshot, name.clone(), tag).map_err(broken)?;
    Ok((objects, found))
}

/// The tag with the highest version in a range.
fn newest(
    repository: &Repository,
    objects: &Objects,
    range: &str,
    broken: &impl Fn(String) -> Error,
) -> Result<Option<(ObjectId, String)>, Error> {
    let references = repository.references().map_err(|error| broken(chain(&error)))?;
    let tags = references.tags().map_err(|error| broken(chain(&error)))?;
    let tags = tags.flatten().filter_map(|tag| {
        let id = tag.target().try_id()?.to_owned();
        Some((id, tag.name().as_bstr().to_string()))
    });
    let mut best = highest(range, tags, |(_, name)| name.clone())?;
    best.sort_by_cached_key(|(id, name)| {
        let commit = objects.snapshot(id).ok().flatten();
        (commit.map(|snapshot| objects.time(&snapshot.commit)), name.clone())
    });
    Ok(best.pop())
}
