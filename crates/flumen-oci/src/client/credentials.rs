//! Who we are: credentials of the user, and where they come from.

use std::{convert::Infallible, fmt, str::FromStr};

use docker_credential::{CredentialRetrievalError, DockerCredential};

use super::options::Timeouts;
use crate::{Error, Result};

/// A text that is never shown.
#[derive(Clone)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Credentials for one registry.
#[derive(Clone, Debug)]
pub struct Credentials(pub(super) Kind);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Password {
        user: String,
        password: Secret,
    },
    /// Buys tokens at the registry's token service.
    Refresh(Secret),
    /// Is shown to the registry as it is.
    Bearer(Secret),
}

impl FromStr for Credentials {
    type Err = Infallible;

    /// Reads `user:password`, or a token alone.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(match text.split_once(':') {
            Some((user, password)) => {
                Kind::Password { user: user.to_owned(), password: Secret::new(password) }
            }
            None => Kind::Bearer(Secret::new(text)),
        }))
    }
}

impl Credentials {
    /// What Docker's configuration and its helpers have for this host.
    pub(super) async fn from_docker(host: &str, timeouts: &Timeouts) -> Result<Option<Self>> {
        let server = host.to_owned();
        // A helper is a program, and nobody knows how long it takes.
        let lookup =
            tokio::task::spawn_blocking(move || docker_credential::get_credential(&server));
        let unusable =
            |reason: &str| Error::Credentials { host: host.to_owned(), reason: reason.to_owned() };
        let found = tokio::time::timeout(timeouts.total, lookup)
            .await
            .map_err(|_| unusable("the credential helper does not answer"))?
            .map_err(|_| unusable("the credential helper broke"))?;
        match found {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(Self(Kind::Password { user, password: Secret::new(password) })))
            }
            Ok(DockerCredential::IdentityToken(token)) => {
                Ok(Some(Self(Kind::Refresh(Secret::new(token)))))
            }
            Err(
                CredentialRetrievalError::NoCredentialConfigured
                | CredentialRetrievalError::ConfigNotFound
                | CredentialRetrievalError::ConfigReadError,
            ) => Ok(None),
            // What helpers print is not repeated: it may hold what must stay hidden.
            Err(CredentialRetrievalError::HelperFailure { stdout, stderr, .. })
                if [&stdout, &stderr].iter().any(|text| text.contains("credentials not found")) =>
            {
                Ok(None)
            }
            Err(CredentialRetrievalError::HelperFailure { helper, .. }) => {
                Err(unusable(&format!("the credential helper `{helper}` failed")))
            }
            Err(CredentialRetrievalError::HelperCommunicationError) => {
                Err(unusable("the credential helper cannot be started"))
            }
            Err(CredentialRetrievalError::MalformedHelperResponse) => {
                Err(unusable("the credential helper answered nonsense"))
            }
            Err(
                CredentialRetrievalError::CredentialDecodingError
                | CredentialRetrievalError::CredentialMismatchError,
            ) => Err(unusable("the entry in Docker's configuration cannot be read")),
        }
    }
}
