//! From an address and a name to a commit and its files.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use flumen_fs::Tree;

use crate::{
    Error, GitReference, GitUrl, Limits,
    connection::{Connection, Target},
    http::Http,
    limits::watched,
    local,
    objects::{Objects, Snapshot},
    tree::GitTree,
    url::HttpUrl,
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
    pub tree: Arc<dyn Tree>,
    /// Where the files appear in `tree`: a path that names repository and commit, for messages.
    pub root: PathBuf,
}

/// Finds out which commit a reference stands for, without fetching it.
pub fn resolve(
    url: &GitUrl,
    reference: &GitReference,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Commit, Error> {
    match url {
        GitUrl::Ssh(_) => Err(Error::Ssh { url: url.to_string() }),
        GitUrl::Local(path) => {
            let found = local::find(path, url, reference)?;
            Ok(Commit { id: found.snapshot.commit.to_string(), reference: found.name })
        }
        GitUrl::Http(http_url) => {
            let target = watched(&url.to_string(), limits.time, cancel, |stop| {
                let http = Arc::new(Http::new()?);
                Connection::open(&http, http_url, limits, stop)?.target(reference)
            })?;
            Ok(Commit { id: target.commit.to_string(), reference: target.reference() })
        }
    }
}

/// Opens the commit that a reference stands for.
pub fn open(
    url: &GitUrl,
    reference: &GitReference,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Checkout, Error> {
    match url {
        GitUrl::Ssh(_) => Err(Error::Ssh { url: url.to_string() }),
        GitUrl::Local(path) => open_local(path, url, reference, limits),
        GitUrl::Http(http_url) => {
            let http = Arc::new(Http::new()?);
            watched(&url.to_string(), limits.time, cancel, |stop| {
                let mut connection = Connection::open(&http, http_url, limits, stop)?;
                let target = connection.target(reference)?;
                fetch(connection, http_url, &target, limits)
            })
        }
    }
}

pub(crate) fn open_local(
    path: &Path,
    url: &GitUrl,
    reference: &GitReference,
    limits: &Limits,
) -> Result<Checkout, Error> {
    let found = local::find(path, url, reference)?;
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Checkout::new(&place.display(), found.name, found.snapshot, found.objects, limits))
}

pub(crate) fn fetch(
    connection: Connection<'_>,
    url: &HttpUrl,
    target: &Target,
    limits: &Limits,
) -> Result<Checkout, Error> {
    let objects = connection.fetch(target)?;
    let snapshot = objects
        .snapshot(&target.commit)
        .map_err(|reason| Error::Broken { url: url.to_string(), reason })?
        .ok_or_else(|| Error::NotACommit { url: url.to_string(), reference: target.reference() })?;
    let place = format!("/{}{}", url.url.authority(), url.url.path().trim_end_matches('/'));
    Ok(Checkout::new(&place, target.reference(), snapshot, objects, limits))
}

impl Checkout {
    fn new(
        place: &dyn fmt::Display,
        reference: String,
        snapshot: Snapshot,
        objects: Objects,
        limits: &Limits,
    ) -> Self {
        let commit = snapshot.commit.to_string();
        let root = PathBuf::from(format!("{place}@{}", snapshot.commit.to_hex_with_len(12)));
        let tree = GitTree::new(root.clone(), snapshot.tree, objects, limits.objects);
        Self { commit, reference, tree: Arc::new(tree), root }
    }
}
