//! What a kustomize build asks for that is not on this machine.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use flumen_kustomize::{RemoteError, RemoteTree, RemoteTrees, RepositoryRequest};
use reqwest::header::HeaderMap;

use crate::{
    Checkout, Error, GitReference, GitUrl, Limits,
    checkout::{fetch, open_local},
    connection::Connection,
    http::{Exchange, Http},
    limits::watched,
    url::HttpUrl,
};

/// A kustomization may ask for more time than usual, but not for ever.
const MAX_TIME: Duration = Duration::from_mins(10);

/// Files are small: those who take longer are not going to answer.
const FILE_TIME: Duration = Duration::from_secs(30);

/// Repositories and files from the network, each fetched once.
#[derive(Debug)]
pub struct Remotes {
    limits: Limits,
    cancel: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Made when it is needed first: most builds are local.
    http: Option<Arc<Http>>,
    /// What references stood for when they were asked for first. A branch that moves while a build
    /// runs does not tear it apart.
    references: HashMap<(String, Option<String>), RemoteTree>,
    commits: HashMap<(String, String), RemoteTree>,
    files: HashMap<String, Vec<u8>>,
}

impl Remotes {
    /// Whoever raises `cancel` ends what is being fetched.
    pub fn new(limits: Limits, cancel: Arc<AtomicBool>) -> Self {
        Self { limits, cancel, state: Mutex::default() }
    }

    /// One thing is fetched at a time: whoever asks for the same in the meantime finds it here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetch_repository(
        &self,
        state: &mut State,
        request: &RepositoryRequest,
    ) -> Result<RemoteTree, Error> {
        let url = GitUrl::parse(&request.url)?;
        let reference = request.reference.clone().map_or(GitReference::Default, GitReference::Name);
        let limits = Limits {
            time: request.timeout.unwrap_or(self.limits.time).min(MAX_TIME),
            ..self.limits.clone()
        };
        match &url {
            GitUrl::Ssh(_) => Err(Error::Ssh { url: url.to_string() }),
            GitUrl::Local(path) => Ok(remote_tree(open_local(path, &url, &reference, &limits)?)),
            GitUrl::Http(http_url) => {
                let http = state.http()?;
                watched(&url.to_string(), limits.time, &self.cancel, |stop| {
                    let mut connection = Connection::open(&http, http_url, &limits, stop)?;
                    let target = connection.target(&reference)?;
                    let key = (request.url.clone(), target.commit.to_string());
                    if let Some(known) = state.commits.get(&key) {
                        return Ok(known.clone());
                    }
                    let fetched = remote_tree(fetch(connection, http_url, &target, &limits)?);
                    state.commits.insert(key, fetched.clone());
                    Ok(fetched)
                })
            }
        }
    }

    fn fetch_file(&self, state: &mut State, url: &str) -> Result<Vec<u8>, Error> {
        let http_url = HttpUrl::parse(url)?;
        let http = state.http()?;
        let time = self.limits.time.min(FILE_TIME);
        watched(&http_url.to_string(), time, &self.cancel, |stop| {
            let mut exchange = Exchange::new(&http, &http_url, self.limits.file_bytes, stop);
            let mut response = exchange.get(&http_url.url, &HeaderMap::new())?;
            let mut content = Vec::new();
            while let Some(chunk) = exchange.chunk(&mut response)? {
                content.extend_from_slice(&chunk);
            }
            Ok(content)
        })
    }
}

impl State {
    fn http(&mut self) -> Result<Arc<Http>, Error> {
        if let Some(http) = &self.http {
            return Ok(Arc::clone(http));
        }
        let http = Arc::new(Http::new()?);
        self.http = Some(Arc::clone(&http));
        Ok(http)
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
        let content = self.fetch_file(&mut state, url).map_err(remote_error)?;
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
