//! What a kustomize build asks for that is not on this machine.

use std::{
    collections::HashMap,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use flumen_fs::{RemoteError, RemoteTree, RemoteTrees, RepositoryRequest};
use parking_lot::{Mutex, MutexGuard};
use reqwest::header::HeaderMap;

use crate::{
    Access, Checkout, Client, Error, GitReference, GitUrl, Limits, Selection,
    checkout::fetch,
    connection::{Connection, Session},
    http::Exchange,
    limits::{Budget, watched},
    url::HttpUrl,
};

/// A kustomization may ask for more time than usual, but not for ever.
const MAX_TIME: Duration = Duration::from_mins(10);

/// Files are small: those who take longer are not going to answer.
const FILE_TIME: Duration = Duration::from_secs(30);

/// Repositories and files from the network, each fetched once.
#[derive(Debug)]
pub struct Remotes {
    client: Client,
    cancel: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What references stood for when they were asked for first. A branch that moves while a build
    /// runs does not tear it apart.
    references: HashMap<(String, Option<String>), RemoteTree>,
    commits: HashMap<(String, String), RemoteTree>,
    files: HashMap<String, Vec<u8>>,
}

impl Remotes {
    /// Whoever raises `cancel` ends what is being fetched.
    pub fn new(limits: Limits, cancel: Arc<AtomicBool>) -> Self {
        Self { client: Client::new(Access::default(), limits), cancel, state: Mutex::default() }
    }

    /// One thing is fetched at a time: whoever asks for the same in the meantime finds it here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn fetch_repository(
        &self,
        state: &mut State,
        request: &RepositoryRequest,
    ) -> Result<RemoteTree, Error> {
        let url = GitUrl::parse(&request.url)?;
        let reference = request.reference.clone().map_or(GitReference::Default, GitReference::Name);
        let limits = &self.client.limits;
        let limits =
            Limits { time: request.timeout.unwrap_or(limits.time).min(MAX_TIME), ..limits.clone() };
        let selection = Selection::default();
        match &url {
            GitUrl::Local(path) => {
                Ok(remote_tree(self.client.open_local(path, &url, &reference, &selection)?))
            }
            GitUrl::Remote(address) => {
                watched(&url.to_string(), limits.time, &self.cancel, |stop| {
                    let session = Session::new(&self.client, &limits, stop);
                    let mut connection = Connection::open(&session, address)?;
                    let target = connection.target(&reference)?;
                    let key = (request.url.clone(), target.commit.to_string());
                    if let Some(known) = state.commits.get(&key) {
                        return Ok(known.clone());
                    }
                    let fetched = remote_tree(fetch(connection, &target, &selection)?);
                    state.commits.insert(key, fetched.clone());
                    Ok(fetched)
                })
            }
        }
    }

    fn fetch_file(&self, url: &str) -> Result<Vec<u8>, Error> {
        let http_url = HttpUrl::parse(url)?;
        let http = self.client.http()?;
        let time = self.client.limits.time.min(FILE_TIME);
        let budget = Rc::new(Budget::of_file(&self.client.limits));
        watched(&http_url.to_string(), time, &self.cancel, |stop| {
            let exchange = Exchange::new(&http, &http_url, &budget, stop);
            let mut response = exchange.get(&http_url.url, &HeaderMap::new())?;
            let mut content = Vec::new();
            while let Some(chunk) = exchange.chunk(&mut response)? {
                content.extend_from_slice(&chunk);
            }
            Ok(content)
        })
    }
}

impl RemoteTrees for Remotes {
    fn repository(&self, request: &RepositoryRequest) -> Result<RemoteTree, RemoteError> {
        let mut state = self.state();
        let key = (request.url.clone(), request.reference.clone());
        if let Some(known) = state.references.get(&key) {
            return Ok(known.clone());
        }
        let tree = self.fetch_repository(&mut state, request).map_err(remote_error)?;
        state.references.insert(key, tree.clone());
        Ok(tree)
    }

    fn file(&self, url: &str) -> Result<Vec<u8>, RemoteError> {
        let mut state = self.state();
        if let Some(known) = state.files.get(url) {
            return Ok(known.clone());
        }
        let content = self.fetch_file(url).map_err(remote_error)?;
        state.files.insert(url.to_owned(), content.clone());
        Ok(content)
    }
}

fn remote_tree(checkout: Checkout) -> RemoteTree {
    let Checkout { commit, tree, root, .. } = checkout;
    RemoteTree { tree, root, commit }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn remote_error(error: Error) -> RemoteError {
    let message = crate::error::chain(&error);
    RemoteError { message, hint: error.hint().map(ToOwned::to_owned) }
}
