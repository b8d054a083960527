//! Who asks, and what they may do.

mod static_tokens;

use http::{HeaderMap, Response, header::AUTHORIZATION};
use thiserror::Error;

use crate::{
    Answer, Api, ApiError, Call, Reason, User,
    http::{Asked, Body, RequestInfo},
    state::{StateDir, StateError},
};

pub use static_tokens::{StaticTokens, TokenFileError};

/// Whom the server knows.
#[derive(Clone, Debug, Default)]
pub struct AuthOptions {
    pub tokens: StaticTokens,
}

/// Why the server cannot know anyone.
#[derive(Debug, Error)]
pub enum AuthError {
    #[error(transparent)]
    State(#[from] StateError),
}

#[derive(Debug)]
pub(crate) struct Auth {
    tokens: StaticTokens,
}

const AUTHENTICATED: &str = "system:authenticated";

impl Auth {
    pub(crate) async fn open(
        _api: &Api,
        options: AuthOptions,
        _state: &StateDir,
    ) -> Result<Self, AuthError> {
        Ok(Self { tokens: options.tokens })
    }

    pub(crate) fn authenticate(&self, asked: &Asked) -> Result<User, ApiError> {
        let Some(token) = bearer(asked.header(AUTHORIZATION)) else { return Ok(anonymous()) };
        let mut user = self.tokens.user(token).cloned().ok_or_else(unauthorized)?;
        user.groups.push(AUTHENTICATED.to_owned());
        Ok(user)
    }

    pub(crate) fn impersonate(&self, _headers: &HeaderMap, user: User) -> Result<User, ApiError> {
        Ok(user)
    }

    pub(crate) fn authorize(&self, _user: &User, _info: &RequestInfo) -> Result<(), ApiError> {
        Ok(())
    }

    /// Answers what is about users and tokens and not about objects.
    pub(crate) async fn handle(
        &self,
        _api: &Api,
        _call: &Call,
    ) -> Option<Result<Answer, ApiError>> {
        None
    }

    pub(crate) fn document(&self, _path: &str) -> Option<Response<Body>> {
        None
    }
}

fn anonymous() -> User {
    User {
        name: "system:anonymous".to_owned(),
        groups: vec!["system:unauthenticated".to_owned()],
        ..User::default()
    }
}

fn unauthorized() -> ApiError {
    ApiError::new(401, Some(Reason::Unauthorized), "Unauthorized")
}

/// The token of an `Authorization` header. Other schemes are no credentials at all.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
