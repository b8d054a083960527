//! From an address and a name to a commit and its files.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use crate::{
    Access, Checkout, Commit, Error, GitReference, GitUrl, Limits,
    checkout::fetch,
    connection::{Connection, Session},
    http::Http,
    limits::watched,
    local,
    tree::Contents,
    url::Address,
};
use parking_lot::Mutex;

/// Reaches repositories in one way: with the same credentials, within the same limits.
#[derive(Debug)]
pub struct Client {
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    /// Made when it is needed first.
    http: Mutex<Option<Arc<Http>>>,
}

/// What of a commit is wanted; by default all files of the repository itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Also the files of submodules, and of theirs. Those of a repository on this machine are not
    /// looked for.
    pub submodules: bool,
    /// Only what is in these directories; everything if there are none.
    pub directories: Vec<PathBuf>,
}

impl Client {
    pub fn new(access: Access, limits: Limits) -> Self {
        Self { access, limits, http: Mutex::default() }
    }

    /// Finds out which commit a reference stands for, without fetching it.
    ///
    /// Whoever raises `cancel` ends the attempt.
    pub fn resolve(
        &self,
        url: &GitUrl,
        reference: &GitReference,
        cancel: &AtomicBool,
    ) -> Result<Commit, Error> {
        match url {
            GitUrl::Local(path) => {
                let (_, found) = local::find(path, url, reference)?;
                Ok(Commit { id: found.snapshot.commit.to_string(), reference: found.reference })
            }
            GitUrl::Remote(address) => {
                let target = watched(&url.to_string(), self.limits.time, cancel, |stop| {
                    let session = Session::new(self, &self.limits, stop);
                    Connection::open(&session, &self.with_credentials(address))?.target(reference)
                })?;
                Ok(Commit { id: target.commit.to_string(), reference: target.reference() })
            }
        }
    }

    /// Opens the commit that a reference stands for.
    ///
    /// Whoever raises `cancel` ends the attempt.
    pub fn open(
        &self,
        url: &GitUrl,
        reference: &GitReference,
        selection: &Selection,
        cancel: &AtomicBool,
    ) -> Result<Checkout, Error> {
        match url {
            GitUrl::Local(path) => self.open_local(path, url, reference, selection),
            GitUrl::Remote(address) => {
                watched(&url.to_string(), self.limits.time, cancel, |stop| {
                    let session = Session::new(self, &self.limits, stop);
                    let address = self.with_credentials(address);
                    let mut connection = Connection::open(&session, &address)?;
                    let target = connection.target(reference)?;
                    fetch(connection, &target, selection)
                })
            }
        }
    }

    pub(crate) fn open_local(
        &self,
        path: &Path,
        url: &GitUrl,
        reference: &GitReference,
        selection: &Selection,
    ) -> Result<Checkout, Error> {
        let (objects, found) = local::find(path, url, reference)?;
        let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let contents = Contents::new(objects, found.snapshot.tree);
        Checkout::new(&place.display(), found, contents, selection, &self.limits)
    }

    /// The address with the credentials that were given for it.
    pub(crate) fn with_credentials(&self, address: &Address) -> Address {
        let mut address = address.clone();
        if let (Address::Http(url), Some(given)) = (&mut address, &self.access.authorization) {
            url.authorization = Some(given.header());
        }
        address
    }

    pub(crate) fn http(&self) -> Result<Arc<Http>, Error> {
        let mut http = self.http.lock();
        if let Some(http) = &*http {
            return Ok(Arc::clone(http));
        }
        Ok(Arc::clone(http.insert(Arc::new(Http::new(&self.access)?))))
    }
}
