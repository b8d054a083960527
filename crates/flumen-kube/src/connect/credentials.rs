//! Credentials: what a request carries so that the server knows its sender.

mod plugin;
mod token_file;

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use rustls::{crypto::CryptoProvider, sign::CertifiedKey};

use self::{plugin::Plugin, token_file::TokenFile};
use super::{
    Target,
    kubeconfig::{AuthProvider, User},
};
use crate::ConfigError;

pub(super) enum Credentials {
    /// None, or only a client certificate of the kubeconfig.
    Connection,
    Header(HeaderValue),
    File(TokenFile),
    Plugin(Plugin),
}

/// Authorization and client certificate of a request.
#[derive(Clone, Default)]
pub(super) struct Current {
    pub(super) authorization: Option<HeaderValue>,
    /// A certificate that is not in the kubeconfig.
    pub(super) certificate: Option<Arc<CertifiedKey>>,
    /// Which run of the plugin gave this.
    run: u64,
}

impl Credentials {
    /// The first kind that the kubeconfig has. A plugin does not run yet.
    pub(super) fn new(
        target: &Target,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, ConfigError> {
        let user = &target.user;
        if let Some(provider) = &user.auth_provider {
            return from_auth_provider(provider).map(Self::Header);
        }
        if let Some(header) = basic(user)? {
            return Ok(Self::Header(header));
        }
        if let Some(token) = &user.token {
            return bearer(token).map(Self::Header);
        }
        if let Some(path) = &user.token_file {
            return TokenFile::new(path.clone()).map(Self::File);
        }
        match &user.exec {
            Some(exec) => Plugin::new(exec, &target.cluster, provider.clone()).map(Self::Plugin),
            None => Ok(Self::Connection),
        }
    }

    /// Returns the current credentials. Reads the token file or runs the plugin again if that is due.
    pub(super) async fn current(&self) -> Result<Current, ConfigError> {
        let authorization = match self {
            Self::Connection => None,
            Self::Header(header) => Some(header.clone()),
            Self::File(file) => Some(file.current()),
            Self::Plugin(plugin) => return plugin.current().await,
        };
        Ok(Current { authorization, ..Current::default() })
    }

    /// Drops credentials that the server rejected, so that the next request runs the plugin again.
    pub(super) async fn reject(&self, rejected: &Current) {
        if let Self::Plugin(plugin) = self {
            plugin.reject(rejected).await;
        }
    }
}

fn basic(user: &User) -> Result<Option<HeaderValue>, ConfigError> {
    let (Some(name), Some(password)) = (&user.username, &user.password) else { return Ok(None) };
    header(&format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))).map(Some)
}

fn bearer(token: &str) -> Result<HeaderValue, ConfigError> {
    header(&format!("Bearer {token}"))
}

fn header(value: &str) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| unusable("the token has characters that cannot be sent".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Supports the ID token of `oidc`, without refreshing it. kubectl 1.26 removed `gcp` and `azure`.
fn from_auth_provider(provider: &AuthProvider) -> Result<HeaderValue, ConfigError> {
    let name = provider.name.escape_debug();
    match (provider.name.as_str(), &provider.id_token) {
        ("oidc", Some(token)) => bearer(token),
        ("oidc", None) => Err(unusable(
            "the `auth-provider` has no `id-token`; log in, or use a credential plugin (`exec`)"
                .to_owned(),
        )),
        ("gcp", _) => Err(unusable(
            "the `auth-provider` `gcp` is not supported; use the credential plugin \
             `gke-gcloud-auth-plugin`"
                .to_owned(),
        )),
        ("azure", _) => Err(unusable(
            "the `auth-provider` `azure` is not supported; use the credential plugin `kubelogin`"
                .to_owned(),
        )),
        _ => Err(unusable(format!(
            "the `auth-provider` `{name}` is not supported; use a credential plugin (`exec`)"
        ))),
    }
}

fn unusable(reason: String) -> ConfigError {
    ConfigError::Credentials { reason }
}

#[cfg(test)]
mod tests;
