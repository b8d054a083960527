//! Who asks, and what they may do.

mod bootstrap;
mod certificates;
mod escalation;
mod impersonation;
mod jwt;
mod rbac;
mod rules;
mod service_accounts;
mod static_tokens;

use http::{HeaderMap, Response, header::AUTHORIZATION};
use rustls::pki_types::CertificateDer;
use serde_json::json;
use thiserror::Error;

use crate::{
    Api, ApiError, Reason, User,
    http::{Asked, Body, RequestInfo, respond},
    state::{StateDir, StateError},
};

pub use certificates::{ClientAuthority, ClientAuthorityError};
pub(crate) use certificates::{Presented, organizations};
use rbac::Following;
pub(crate) use rbac::Rbac;
pub(crate) use service_accounts::{ACCOUNTS, Bound, ISSUER, Reference, ServiceAccounts};
pub use static_tokens::{StaticTokens, TokenFileError};

const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// Whom the server knows.
#[derive(Clone, Debug, Default)]
pub struct AuthOptions {
    pub tokens: StaticTokens,
    /// Whose certificates tell who a client is; without one, no client is asked for a certificate.
    pub client_authority: Option<ClientAuthority>,
}

/// Why the server cannot know anyone.
#[derive(Debug, Error)]
pub enum AuthError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error("the key of service accounts cannot be used")]
    Key,
    #[error("cannot make the roles that every server has")]
    Policy(#[from] ApiError),
}

#[derive(Debug)]
pub(crate) struct Auth {
    tokens: StaticTokens,
    client_authority: Option<ClientAuthority>,
    accounts: ServiceAccounts,
    rbac: Rbac,
    _following: Following,
}

impl Auth {
    pub(crate) async fn open(
        api: &Api,
        options: AuthOptions,
        state: &StateDir,
    ) -> Result<Self, AuthError> {
        let AuthOptions { tokens, client_authority } = options;
        let accounts = ServiceAccounts::open(api, state)?;
        bootstrap::ensure(api).await?;
        let (rbac, following) = Rbac::follow(api).await?;
        api.set_rbac(rbac.clone());
        Ok(Self { tokens, client_authority, accounts, rbac, _following: following })
    }

    /// What the certificate of a connection says of its client.
    pub(crate) fn read_certificate(&self, chain: &[CertificateDer<'_>]) -> Presented {
        self.client_authority.as_ref().map(|authority| authority.read(chain)).unwrap_or_default()
    }

    /// The first valid credential wins. An invalid one is a 401; none at all is anonymous.
    pub(crate) async fn authenticate(
        &self,
        asked: &Asked,
        presented: &Presented,
    ) -> Result<User, ApiError> {
        let certificate = presented.user();
        if let Ok(Some(user)) = certificate {
            let mut user = user.clone();
            user.groups.push(AUTHENTICATED.to_owned());
            return Ok(user);
        }
        match bearer(asked.header(AUTHORIZATION)) {
            Some(token) => {
                let user = self.user_of_token(token, &[]).await;
                user.map(|(user, _)| user).ok_or_else(unauthorized)
            }
            None if certificate.is_err() => Err(unauthorized()),
            None => Ok(anonymous()),
        }
    }

    /// The user of a token for one of some audiences; for this server if there are none.
    pub(crate) async fn user_of_token(
        &self,
        token: &str,
        wanted: &[String],
    ) -> Option<(User, Vec<String>)> {
        let own = [ISSUER.to_owned()];
        let wanted = if wanted.is_empty() { &own } else { wanted };
        let (mut user, audiences) = match self.tokens.user(token) {
            Some(user) => {
                let audiences: Vec<String> =
                    wanted.iter().filter(|audience| **audience == own[0]).cloned().collect();
                if audiences.is_empty() {
                    return None;
                }
                (user.clone(), audiences)
            }
            None => self.accounts.user(token, wanted).await?,
        };
        user.groups.push(AUTHENTICATED.to_owned());
        Some((user, audiences))
    }

    pub(crate) fn impersonate(&self, headers: &HeaderMap, user: User) -> Result<User, ApiError> {
        let other = impersonation::user(headers, |request| self.authorize(&user, request))?;
        Ok(other.unwrap_or(user))
    }

    pub(crate) fn authorize(&self, user: &User, info: &RequestInfo) -> Result<(), ApiError> {
        self.rbac.allows(user, info).map(drop).map_err(|why| forbidden(user, info, &why))
    }

    pub(crate) fn rbac(&self) -> &Rbac {
        &self.rbac
    }

    pub(crate) fn accounts(&self) -> &ServiceAccounts {
        &self.accounts
    }

    /// What others need to verify tokens.
    pub(crate) fn document(&self, path: &str) -> Option<Response<Body>> {
        let (media_type, document) = match path {
            "/.well-known/openid-configuration" => (
                "application/json",
                json!({
                    "issuer": ISSUER,
                    "jwks_uri": format!("{ISSUER}/openid/v1/jwks"),
                    "response_types_supported": ["id_token"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["ES256"],
                }),
            ),
            "/openid/v1/jwks" => ("application/jwk-set+json", self.accounts.key_set()),
            _ => return None,
        };
        Some(respond::bytes(200, media_type, document.to_string()))
    }
}

fn anonymous() -> User {
    User { name: ANONYMOUS.to_owned(), groups: vec![UNAUTHENTICATED.to_owned()], ..User::default() }
}

fn unauthorized() -> ApiError {
    ApiError::new(401, Some(Reason::Unauthorized), "Unauthorized")
}

fn forbidden(user: &User, info: &RequestInfo, why: &str) -> ApiError {
    let (name, verb) = (&user.name, &info.verb);
    let Some(of) = &info.resource else {
        let text = sanitized(&format!("User {name:?} cannot {verb} path {:?}", info.path), why);
        return ApiError::forbidden("", "", "", &text);
    };
    let place = match of.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let resource = of.qualified();
    let group = &of.group;
    let text =
        format!("User {name:?} cannot {verb} resource {resource:?} in API group {group:?} {place}");
    ApiError::forbidden(group, &of.resource, &of.name, &sanitized(&text, why))
}

/// Browsers may show the text; nothing in it should be markup.
fn sanitized(text: &str, why: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if why.is_empty() { text } else { format!("{text}: {why}") }
}

/// The token of an `Authorization` header. Other schemes are no credentials at all.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn service_account_name(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT}{namespace}:{name}")
}

/// Namespace and name of the service account that a user is.
fn split_service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// A service account as a user.
pub(crate) fn service_account(namespace: &str, name: &str) -> User {
    User {
        name: service_account_name(namespace, name),
        groups: service_account_groups(namespace),
        ..User::default()
    }
}

fn service_account_groups(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
}
