//! Convincing a registry: passwords and tokens.

use std::{collections::HashMap, path::PathBuf};

use parking_lot::{Mutex, MutexGuard};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderValue},
};
use tokio::{sync::OnceCell, time::Instant};

use super::{
    challenge::Challenge,
    connections::Connections,
    credentials::{Credentials, Kind},
    options::{ClientOptions, Timeouts},
    tokens::{Token, TokenRequest},
};
use crate::{Error, Result};

/// What a token allows: `repository:path:actions`, several of them with spaces between.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scope(String);

impl Scope {
    pub(super) fn new(repository: &str, actions: &str) -> Self {
        Self(format!("repository:{repository}:{actions}"))
    }

    /// Reading another repository as well.
    pub(super) fn and_pull(&self, repository: &str) -> Self {
        Self(format!("{} repository:{repository}:pull", self.0))
    }
}

/// What is known about the registry's wishes, and the tokens that it was satisfied with.
#[derive(Debug)]
pub(super) struct Auth {
    host: String,
    allows_plain_http: bool,
    timeouts: Timeouts,
    given: Option<Credentials>,
    docker_config: Option<PathBuf>,
    found: OnceCell<Option<Credentials>>,
    challenge: Mutex<Option<Challenge>>,
    tokens: Mutex<HashMap<Scope, Token>>,
    /// Held while a token is bought, so that many requests at once buy one.
    buying: tokio::sync::Mutex<()>,
}

impl Auth {
    pub(super) fn new(host: &str, options: &ClientOptions) -> Self {
        Self {
            host: host.to_owned(),
            allows_plain_http: options.allows_plain_http(),
            timeouts: options.timeouts,
            given: options.credentials.clone(),
            docker_config: options.docker_config.clone(),
            found: OnceCell::new(),
            challenge: Mutex::new(None),
            tokens: Mutex::new(HashMap::new()),
            buying: tokio::sync::Mutex::new(()),
        }
    }

    /// Whether there is anything to show, as far as anybody has asked.
    pub(super) fn has_credentials(&self) -> bool {
        self.given.is_some() || self.found.get().is_some_and(Option::is_some)
    }

    /// What to show, as far as the registry has said before what it wants to see.
    pub(super) async fn header(
        &self,
        scope: &Scope,
        connections: &Connections,
    ) -> Result<Option<HeaderValue>> {
        let challenge = lock(&self.challenge).clone();
        match challenge {
            Some(challenge) => self.satisfy(&challenge, scope, connections).await,
            None => Ok(None),
        }
    }

    /// What to show after a 401, or nothing if it was shown already.
    pub(super) async fn answer(
        &self,
        headers: &HeaderMap,
        scope: &Scope,
        shown: Option<&HeaderValue>,
        connections: &Connections,
    ) -> Result<Option<HeaderValue>> {
        let Some(challenge) = Challenge::from_headers(headers) else { return Ok(None) };
        // What was asked for this time says nothing about the next request.
        *lock(&self.challenge) = Some(challenge.without_scope());
        if shown.is_some() {
            // Somebody else may have replaced the token meanwhile; then theirs is good.
            let mut tokens = lock(&self.tokens);
            if tokens.get(scope).is_some_and(|token| Some(&token.header) == shown) {
                tokens.remove(scope);
            }
        }
        let header = self.satisfy(&challenge, scope, connections).await?;
        Ok(header.filter(|header| Some(header) != shown))
    }

    async fn satisfy(
        &self,
        challenge: &Challenge,
        scope: &Scope,
        connections: &Connections,
    ) -> Result<Option<HeaderValue>> {
        let credentials = self.credentials().await?;
        match (challenge, credentials.map(|credentials| &credentials.0)) {
            (_, Some(Kind::Bearer(token))) => {
                token.bearer().map(Some).ok_or_else(|| self.unusable("the token"))
            }
            (Challenge::Basic, Some(Kind::Password { user, password })) => {
                password.basic(user).map(Some).ok_or_else(|| self.unusable("the password"))
            }
            (Challenge::Basic, _) => Ok(None),
            (Challenge::Bearer { realm, service, scope: asked }, kind) => {
                let _buying = self.buying.lock().await;
                if let Some(token) = lock(&self.tokens).get(scope)
                    && token.expires > Instant::now()
                {
                    return Ok(Some(token.header.clone()));
                }
                let request = TokenRequest {
                    realm: self.realm(realm)?,
                    service: service.as_deref(),
                    scopes: scopes(scope, asked.as_deref()),
                    connections,
                    timeouts: &self.timeouts,
                };
                let token = request.send(kind).await?;
                let header = token.header.clone();
                lock(&self.tokens).insert(scope.clone(), token);
                Ok(Some(header))
            }
        }
    }

    async fn credentials(&self) -> Result<Option<&Credentials>> {
        if self.given.is_some() {
            return Ok(self.given.as_ref());
        }
        let Some(config) = &self.docker_config else { return Ok(None) };
        let search = || Credentials::from_docker(&self.host, config, &self.timeouts);
        Ok(self.found.get_or_try_init(search).await?.as_ref())
    }

    fn unusable(&self, what: &str) -> Error {
        let reason = format!("{what} has characters that cannot be sent");
        Error::Credentials { host: self.host.clone(), reason }
    }

    /// The address of the token service, if it is one that a password may be shown to.
    fn realm(&self, realm: &str) -> Result<Url> {
        let refused = |reason| Error::Protocol { host: self.host.clone(), reason };
        let url = Url::parse(realm)
            .map_err(|_| refused("a token service (realm) with an invalid address".to_owned()))?;
        let is_plain = match url.scheme() {
            "https" => false,
            "http" => true,
            _ => return Err(refused("a token service (realm) that is not HTTP".to_owned())),
        };
        if is_plain && !self.allows_plain_http {
            return Err(refused("a token service (realm) without HTTPS".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("a token service (realm) with credentials in it".to_owned()));
        }
        Ok(url)
    }
}

/// What we need, and what the registry says on top of it that we need.
fn scopes<'a>(scope: &'a Scope, asked: Option<&'a str>) -> Vec<&'a str> {
    let mut scopes: Vec<&str> = scope.0.split(' ').collect();
    let covers = |mine: &str, other: &str| {
        mine.rsplit_once(':').zip(other.rsplit_once(':')).is_some_and(|(mine, other)| {
            mine.0 == other.0
                && other.1.split(',').all(|action| mine.1.split(',').any(|a| a == action))
        })
    };
    for other in asked.into_iter().flat_map(|asked| asked.split(' ')) {
        if !other.is_empty() && !scopes.iter().any(|mine| covers(mine, other)) {
            scopes.push(other);
        }
    }
    scopes
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds these locks can leave the data half changed.
    mutex.lock()
}
