//! Convincing a registry: passwords and tokens.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{
    Body, Method, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use tokio::{sync::OnceCell, time::Instant};

use super::{
    answer::Answer,
    challenge::Challenge,
    connections::{self, Connections, Peer},
    credentials::{Credentials, Kind, Secret},
    options::{ClientOptions, Timeouts},
    retry::Retry,
};
use crate::{Error, Result};

const CLIENT_ID: &str = "flumen";
const MAX_TOKEN_ANSWER: usize = 64 << 10;
/// What the token specification says when the service does not.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(1);
/// A token is not used in its last seconds: it has to live until the request arrives.
const MARGIN: Duration = Duration::from_secs(10);

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

#[derive(Clone, Debug)]
struct Token {
    header: HeaderValue,
    expires: Instant,
}

#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
    expires_in: Option<u64>,
}

impl Auth {
    pub(super) fn new(host: &str, options: &ClientOptions) -> Self {
        Self {
            host: host.to_owned(),
            allows_plain_http: options.insecure,
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
        *lock(&self.challenge) = Some(challenge.clone());
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
            (_, Some(Kind::Bearer(token))) => self.bearer(token.expose()).map(Some),
            (Challenge::Basic, Some(Kind::Password { user, password })) => {
                basic(user, password).map(Some)
            }
            (Challenge::Basic, _) => Ok(None),
            (Challenge::Bearer { realm, service, scope: asked }, kind) => {
                let _buying = self.buying.lock().await;
                if let Some(token) = lock(&self.tokens).get(scope)
                    && token.expires > Instant::now()
                {
                    return Ok(Some(token.header.clone()));
                }
                let wish = TokenWish {
                    realm: self.realm(realm)?,
                    service: service.as_deref(),
                    scopes: scopes(scope, asked.as_deref()),
                };
                let token = self.buy(&wish, kind, connections).await?;
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

    async fn buy(
        &self,
        wish: &TokenWish<'_>,
        kind: Option<&Kind>,
        connections: &Connections,
    ) -> Result<Token> {
        let answer = match kind {
            Some(Kind::Refresh(token)) => {
                let grant = [("grant_type", "refresh_token"), ("refresh_token", token.expose())];
                self.post(wish, &grant, connections).await?
            }
            Some(Kind::Password { user, password }) => {
                let answer = self.get(wish, Some((user, password)), connections).await?;
                // Services that only know OAuth 2 want it posted.
                if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
                    let grant = [
                        ("grant_type", "password"),
                        ("username", user),
                        ("password", password.expose()),
                    ];
                    self.post(wish, &grant, connections).await?
                } else {
                    answer
                }
            }
            Some(Kind::Bearer(_)) | None => self.get(wish, None, connections).await?,
        };
        let answer = answer.with_credentials(kind.is_some());
        let answer = answer.expect(&[StatusCode::OK], "a token")?;
        let invalid = || Error::Protocol {
            host: connections::authority(&answer.url),
            reason: "an invalid token".to_owned(),
        };
        let token: TokenAnswer = serde_json::from_slice(&answer.body).map_err(|_| invalid())?;
        let text = if token.token.is_empty() { &token.access_token } else { &token.token };
        if text.is_empty() {
            return Err(invalid());
        }
        let lifetime = token.expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
        // A lifetime of years is as good as one of a day, and dates have an end.
        let lifetime = lifetime.min(Duration::from_hours(24)).saturating_sub(MARGIN);
        Ok(Token { header: self.bearer(text)?, expires: Instant::now() + lifetime })
    }

    async fn get(
        &self,
        wish: &TokenWish<'_>,
        password: Option<(&str, &Secret)>,
        connections: &Connections,
    ) -> Result<Answer> {
        let mut url = wish.realm.clone();
        let mut headers = HeaderMap::new();
        {
            let mut query = url.query_pairs_mut();
            if let Some(service) = wish.service {
                query.append_pair("service", service);
            }
            for scope in &wish.scopes {
                query.append_pair("scope", scope);
            }
            if let Some((user, password)) = password {
                query.append_pair("account", user);
                headers.insert(AUTHORIZATION, basic(user, password)?);
            }
        }
        self.exchange(Method::GET, &url, headers, String::new(), connections).await
    }

    async fn post(
        &self,
        wish: &TokenWish<'_>,
        grant: &[(&str, &str)],
        connections: &Connections,
    ) -> Result<Answer> {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", CLIENT_ID)
            .append_pair("service", wish.service.unwrap_or_default())
            .append_pair("scope", &wish.scopes.join(" "))
            .extend_pairs(grant)
            .finish();
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, form_type)]);
        self.exchange(Method::POST, &wish.realm, headers, form, connections).await
    }

    /// Asks the token service, and follows it nowhere.
    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: String,
        connections: &Connections,
    ) -> Result<Answer> {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let (idle, mut retry) = (self.timeouts.idle, Retry::new(self.timeouts.total));
        loop {
            let (method, headers, body) =
                (method.clone(), headers.clone(), Body::from(body.clone()));
            let response = connections.send(Peer::Other, method, url, headers, body, idle).await?;
            let deadline = retry.deadline();
            let (what, limit) = ("the token", MAX_TOKEN_ANSWER);
            let answer = Answer::read(response, what, limit, &self.timeouts, deadline).await?;
            if !retry.after_answer(answer.status, &answer.headers).await {
                return Ok(answer);
            }
        }
    }

    fn bearer(&self, token: &str) -> Result<HeaderValue> {
        secret_header(&format!("Bearer {token}")).ok_or_else(|| Error::Protocol {
            host: self.host.clone(),
            reason: "a token with invalid characters".to_owned(),
        })
    }
}

struct TokenWish<'a> {
    realm: Url,
    service: Option<&'a str>,
    scopes: Vec<&'a str>,
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

fn basic(user: &str, password: &Secret) -> Result<HeaderValue> {
    let pair = BASE64_STANDARD.encode(format!("{user}:{}", password.expose()));
    secret_header(&format!("Basic {pair}")).ok_or_else(|| Error::Credentials {
        host: String::new(),
        reason: "invalid characters".to_owned(),
    })
}

fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing that holds these locks can leave the data half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
