//! A commit and its files.

use std::{fmt, path::PathBuf, sync::Arc};

use flumen_fs::Tree;
use gix::objs::Kind;

use crate::{
    CommitMetadata, Error, Limits, Selection, TagMetadata,
    connection::Connection,
    objects::{Objects, Snapshot},
    submodules,
    target::Target,
    tree::{Contents, GitTree},
};

/// What a reference stands for at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The object id in hexadecimal digits.
    pub id: String,
    /// The full name under which it was found (`refs/heads/main`), or the id.
    pub reference: String,
}

/// A commit and its files. What was fetched for it goes when the last user of `tree` goes.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// The object id in hexadecimal digits.
    pub commit: String,
    /// The full name under which it was found (`refs/heads/main`), or the id.
    pub reference: String,
    pub metadata: CommitMetadata,
    /// The tag under which it was found.
    pub tag: Option<TagMetadata>,
    pub tree: Arc<dyn Tree>,
    /// Where the files appear in `tree`: a path that names repository and commit, for messages.
    pub root: PathBuf,
}

/// A commit that was found, before its tree is opened.
pub(crate) struct Found {
    pub(crate) snapshot: Snapshot,
    /// The full name under which it was found, or the id.
    pub(crate) reference: String,
    pub(crate) metadata: CommitMetadata,
    pub(crate) tag: Option<TagMetadata>,
}

impl Found {
    /// Reads what commit and tag say about themselves. `tag` is a name and what it stands for.
    pub(crate) fn read(
        objects: &Objects,
        snapshot: Snapshot,
        reference: String,
        tag: Option<(&str, &gix::ObjectId)>,
    ) -> Result<Self, String> {
        let bytes = objects.read(&snapshot.commit, Kind::Commit)?;
        let metadata = CommitMetadata::read(&bytes, snapshot.commit.kind())?;
        let tag = match tag {
            Some((_, id)) if objects.kind(id) == Some(Kind::Tag) => {
                Some(TagMetadata::read(id, &objects.read(id, Kind::Tag)?)?)
            }
            Some((name, _)) => Some(TagMetadata::lightweight(name)),
            None => None,
        };
        Ok(Self { snapshot, reference, metadata, tag })
    }
}

/// Receives what was found on a server.
pub(crate) fn fetch(
    connection: Connection<'_>,
    target: &Target,
    selection: &Selection,
) -> Result<Checkout, Error> {
    let (session, address) = (connection.session, connection.address);
    let broken = |reason| Error::Broken { url: address.to_string(), reason };
    let objects = connection.fetch(target)?;
    let snapshot = objects.snapshot(&target.commit).map_err(broken)?.ok_or_else(|| {
        Error::NotACommit { url: address.to_string(), reference: target.reference() }
    })?;
    let found =
        Found::read(&objects, snapshot, target.reference(), target.tag()).map_err(broken)?;
    let mut contents = Contents::new(objects, snapshot.tree);
    if selection.submodules {
        submodules::fetch(session, address, selection, &mut contents)?;
    }
    Checkout::new(&address.place(), found, contents, selection, session.limits)
}

impl Checkout {
    pub(crate) fn new(
        place: &dyn fmt::Display,
        found: Found,
        contents: Contents,
        selection: &Selection,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let Found { snapshot, reference, metadata, tag } = found;
        let root = PathBuf::from(format!("{place}@{}", snapshot.commit.to_hex_with_len(12)));
        let tree = GitTree::new(root.clone(), contents, &selection.directories, limits.objects);
        for directory in &selection.directories {
            if !tree.has(directory) {
                return Err(Error::NoDirectory { directory: directory.display().to_string() });
            }
        }
        let commit = snapshot.commit.to_string();
        Ok(Self { commit, reference, metadata, tag, tree: Arc::new(tree), root })
    }

    /// Where it was found, for comparisons with what [`crate::Client::resolve`] finds.
    pub fn resolved(&self) -> Commit {
        Commit { id: self.commit.clone(), reference: self.reference.clone() }
    }
}
