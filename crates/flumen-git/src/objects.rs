//! Objects of a repository, wherever they are kept.

use std::{fmt, path::Path, sync::Arc};

use flumen_fs::MAX_FILE_SIZE;
use gix::{
    ObjectId,
    objs::{CommitRefIter, Find as _, Kind, TagRefIter},
    odb::{HandleArc, HeaderExt as _, Store, store::init::Options},
};
use tempfile::TempDir;

use crate::error::chain;

/// Tags of tags of tags end somewhere.
const MAX_TAGS: usize = 10;

/// An object database that is read, never written to.
pub(crate) struct Objects {
    handle: HandleArc,
    /// Where fetched objects are, until nobody needs them.
    _scratch: Option<TempDir>,
}

/// A commit and its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) commit: ObjectId,
    pub(crate) tree: ObjectId,
}

impl Objects {
    /// Opens a directory of loose objects and packs; `scratch` goes when the objects go.
    pub(crate) fn open(
        directory: &Path,
        hash: gix::hash::Kind,
        scratch: Option<TempDir>,
    ) -> std::io::Result<Self> {
        let options = Options {
            alloc_limit_bytes: usize::try_from(MAX_FILE_SIZE).ok(),
            ..Options::default()
        };
        let store = Store::at_opts(directory.to_owned(), hash, &mut std::iter::empty(), options)?;
        let handle = HandleArc::from(Arc::new(store).to_handle_arc());
        Ok(Self { handle, _scratch: scratch })
    }

    pub(crate) fn size(&self, id: &ObjectId) -> Result<u64, String> {
        self.handle.header(id).map(|header| header.size()).map_err(|error| chain(&error))
    }

    pub(crate) fn has(&self, id: &ObjectId) -> bool {
        self.handle.header(id).is_ok()
    }

    pub(crate) fn read(&self, id: &ObjectId, kind: Kind) -> Result<Vec<u8>, String> {
        let mut buffer = Vec::new();
        let found = self.find(id, &mut buffer)?;
        if found != kind {
            return Err(format!("object {id} is a {found}, not a {kind}"));
        }
        Ok(buffer)
    }

    /// The commit that `id` is, or that the tag `id` leads to; none if that is no commit.
    pub(crate) fn snapshot(&self, id: &ObjectId) -> Result<Option<Snapshot>, String> {
        let mut id = *id;
        let mut buffer = Vec::new();
        for _ in 0..MAX_TAGS {
            match self.find(&id, &mut buffer)? {
                Kind::Commit => {
                    let tree = CommitRefIter::from_bytes(&buffer, id.kind()).tree_id();
                    let tree = tree.map_err(|error| chain(&error))?;
                    return Ok(Some(Snapshot { commit: id, tree }));
                }
                Kind::Tag => {
                    let target = TagRefIter::from_bytes(&buffer, id.kind()).target_id();
                    id = target.map_err(|error| chain(&error))?;
                }
                Kind::Tree | Kind::Blob => break,
            }
        }
        Ok(None)
    }

    /// When a commit was made, in seconds since 1970.
    pub(crate) fn time(&self, commit: &ObjectId) -> i64 {
        let bytes = self.read(commit, Kind::Commit).unwrap_or_default();
        CommitRefIter::from_bytes(&bytes, commit.kind())
            .committer()
            .map_or(0, |committer| committer.seconds())
    }

    pub(crate) fn kind(&self, id: &ObjectId) -> Option<Kind> {
        self.handle.header(id).ok().map(|header| header.kind())
    }

    fn find(&self, id: &ObjectId, buffer: &mut Vec<u8>) -> Result<Kind, String> {
        match self.handle.try_find(id, buffer) {
            Ok(Some(data)) => Ok(data.kind),
            Ok(None) => Err(format!("object {id} is missing")),
            Err(error) => Err(chain(&error)),
        }
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}
