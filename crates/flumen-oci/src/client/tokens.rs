//! Token services: where registries send those who want to use them.

use std::time::Duration;

use reqwest::{
    Body, Method, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Deserialize;
use tokio::time::Instant;

use super::{
    answer::Answer,
    connections::{self, Connections, Peer},
    credentials::{Kind, Secret},
    options::Timeouts,
    retry::Retry,
};
use crate::{Error, Result};

const CLIENT_ID: &str = "flumen";
const MAX_ANSWER: usize = 64 << 10;
/// What the token specification says when the service does not.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(1);
/// A lifetime of years is as good as this, and dates have an end.
const MAX_LIFETIME: Duration = Duration::from_hours(24);
/// A token is not used in its last seconds: it has to live until the request arrives.
const MARGIN: Duration = Duration::from_secs(10);

/// What a token service gave out.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) header: HeaderValue,
    pub(super) expires: Instant,
}

/// A request for a token.
#[derive(Debug)]
pub(super) struct TokenRequest<'a> {
    pub(super) realm: Url,
    pub(super) service: Option<&'a str>,
    pub(super) scopes: Vec<&'a str>,
    pub(super) connections: &'a Connections,
    pub(super) timeouts: &'a Timeouts,
}

#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
    expires_in: Option<u64>,
}

impl TokenRequest<'_> {
    /// Buys a token with what there is: a password, another token, or nothing.
    pub(super) async fn send(&self, kind: Option<&Kind>) -> Result<Token> {
        let answer = match kind {
            Some(Kind::Refresh(token)) => {
                let grant = [("grant_type", "refresh_token"), ("refresh_token", token.expose())];
                self.post(&grant).await?
            }
            Some(Kind::Password { user, password }) => {
                let answer = self.get(Some((user, password))).await?;
                // Services that only know OAuth 2 want it posted.
                if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
                    let grant = [
                        ("grant_type", "password"),
                        ("username", user),
                        ("password", password.expose()),
                    ];
                    self.post(&grant).await?
                } else {
                    answer
                }
            }
            Some(Kind::Bearer(_)) | None => self.get(None).await?,
        };
        let answer = answer.to(&Method::GET, kind.is_some());
        self.read(&answer.expect(&[StatusCode::OK], "a token")?)
    }

    fn read(&self, answer: &Answer) -> Result<Token> {
        let invalid = || Error::Protocol {
            host: connections::authority(&self.realm),
            reason: "an invalid token".to_owned(),
        };
        let answer: TokenAnswer = serde_json::from_slice(&answer.body).map_err(|_| invalid())?;
        let text = if answer.token.is_empty() { &answer.access_token } else { &answer.token };
        let header = Secret::new(text).bearer().filter(|_| !text.is_empty()).ok_or_else(invalid)?;
        let lifetime = answer.expires_in.map_or(DEFAULT_LIFETIME, Duration::from_secs);
        let lifetime = lifetime.min(MAX_LIFETIME).saturating_sub(MARGIN);
        Ok(Token { header, expires: Instant::now() + lifetime })
    }

    async fn get(&self, password: Option<(&str, &Secret)>) -> Result<Answer> {
        let mut url = self.realm.clone();
        let mut headers = HeaderMap::new();
        {
            let mut query = url.query_pairs_mut();
            if let Some(service) = self.service {
                query.append_pair("service", service);
            }
            for scope in &self.scopes {
                query.append_pair("scope", scope);
            }
            if let Some((user, password)) = password {
                query.append_pair("account", user);
                headers.extend(password.basic(user).map(|value| (AUTHORIZATION, value)));
            }
        }
        self.exchange(Method::GET, &url, headers, String::new()).await
    }

    async fn post(&self, grant: &[(&str, &str)]) -> Result<Answer> {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", CLIENT_ID)
            .append_pair("service", self.service.unwrap_or_default())
            .append_pair("scope", &self.scopes.join(" "))
            .extend_pairs(grant)
            .finish();
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, form_type)]);
        self.exchange(Method::POST, &self.realm, headers, form).await
    }

    /// Asks the service, and follows it nowhere.
    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: String,
    ) -> Result<Answer> {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut retry = Retry::new(self.timeouts.total);
        loop {
            let (method, headers, body) =
                (method.clone(), headers.clone(), Body::from(body.clone()));
            let idle = self.timeouts.idle;
            let sent = self.connections.send(Peer::Other, method, url, headers, body, idle);
            let (what, deadline) = ("the token", retry.deadline());
            let answer =
                Answer::read(sent.await?, what, MAX_ANSWER, self.timeouts, deadline).await?;
            if !retry.after_answer(answer.status, &answer.headers).await {
                return Ok(answer);
            }
        }
    }
}
