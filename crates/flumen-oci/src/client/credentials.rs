//! Who we are: credentials of the user, and where they come from.

use std::{convert::Infallible, fmt, io, path::Path, str::FromStr};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use docker_credential::{CredentialRetrievalError, DockerCredential};
use reqwest::header::HeaderValue;

use super::options::Timeouts;
use crate::{Error, Result, docker_hub};

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

    /// As the password of a user, the way registries want to see it.
    pub(super) fn basic(&self, user: &str) -> Option<HeaderValue> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{}", self.0));
        secret_header(&format!("Basic {pair}"))
    }

    /// As a token; none if it has characters that would end the header.
    pub(super) fn bearer(&self) -> Option<HeaderValue> {
        secret_header(&format!("Bearer {}", self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

fn secret_header(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
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
        Ok(match text.split_once(':') {
            Some((user, password)) => Self::password(user, password),
            None => Self::bearer(text),
        })
    }
}

impl Credentials {
    pub fn password(user: &str, password: &str) -> Self {
        Self(Kind::Password { user: user.to_owned(), password: Secret::new(password) })
    }

    /// A token that buys others at the registry's token service.
    pub fn refresh(token: &str) -> Self {
        Self(Kind::Refresh(Secret::new(token)))
    }

    /// A token that the registry is shown as it is.
    pub fn bearer(token: &str) -> Self {
        Self(Kind::Bearer(Secret::new(token)))
    }

    /// What Docker's configuration or one of the helpers named there has for this host.
    pub(super) async fn from_docker(
        host: &str,
        config: &Path,
        timeouts: &Timeouts,
    ) -> Result<Option<Self>> {
        let unusable = |reason: String| Error::Credentials { host: host.to_owned(), reason };
        let text = match tokio::fs::read(config).await {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(unusable(format!("cannot read `{}`: {error}", config.display())));
            }
        };
        let names: Vec<String> = docker_hub::logins(host).into_iter().map(str::to_owned).collect();
        // A helper is a program, and nobody knows how long it takes.
        let lookup = tokio::task::spawn_blocking(move || {
            let look = |name: &String| match docker_credential::get_credential_from_reader(
                text.as_slice(),
                name,
            ) {
                Err(error) if has_none(&error) => None,
                found => Some(found),
            };
            let none = || Err(CredentialRetrievalError::NoCredentialConfigured);
            names.iter().find_map(look).unwrap_or_else(none)
        });
        let found = tokio::time::timeout(timeouts.total, lookup)
            .await
            .map_err(|_| unusable("the credential helper does not answer".to_owned()))?
            .map_err(|_| unusable("the credential helper broke".to_owned()))?;
        match found {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(Self::password(&user, &password)))
            }
            Ok(DockerCredential::IdentityToken(token)) => Ok(Some(Self::refresh(&token))),
            Err(error) if has_none(&error) => Ok(None),
            Err(error) => {
                let place = config.display();
                Err(unusable(format!("{} (configured in `{place}`)", reason(&error))))
            }
        }
    }
}

/// Whether there is nothing for this host, which is no failure.
fn has_none(error: &CredentialRetrievalError) -> bool {
    match error {
        CredentialRetrievalError::NoCredentialConfigured => true,
        // All helpers say it with these words, because Docker compares them.
        CredentialRetrievalError::HelperFailure { stdout, stderr, .. } => {
            [stdout, stderr].iter().any(|text| text.contains("credentials not found"))
        }
        _ => false,
    }
}

/// The reason in words. What a helper prints is not repeated: it may be what must stay hidden.
fn reason(error: &CredentialRetrievalError) -> String {
    match error {
        CredentialRetrievalError::HelperFailure { helper, .. } => {
            format!("the credential helper `{helper}` failed")
        }
        CredentialRetrievalError::HelperCommunicationError => {
            "the credential helper cannot be started".to_owned()
        }
        CredentialRetrievalError::MalformedHelperResponse => {
            "the credential helper gave an answer that cannot be read".to_owned()
        }
        _ => "the entry cannot be read".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show() {
        for text in ["user:hush", "hush"] {
            let credentials: Credentials = text.parse().expect("anything will do");
            assert!(!format!("{credentials:?}").contains("hush"));
        }
    }
}
