//! What is shown to servers, and what servers must show.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use url::Url;

use crate::SshAlgorithms;

/// How repositories are reached. Nothing in it is ever printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// For the server of the repository, instead of what its address carries.
    pub authorization: Option<Authorization>,
    /// Authorities in PEM form that are trusted besides those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Shown to servers that ask for one.
    pub certificate: Option<ClientCertificate>,
    /// Instead of what the environment says.
    pub proxy: Option<Proxy>,
    pub ssh: Option<SshIdentity>,
    pub ssh_algorithms: SshAlgorithms,
}

/// What an HTTP server wants to see.
#[derive(Clone, PartialEq, Eq)]
pub enum Authorization {
    Basic { username: String, password: String },
    Bearer(String),
}

/// A certificate of the client and its key, both in PEM form.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    pub chain: Vec<u8>,
    pub key: Vec<u8>,
}

/// A server in between: `http`, `https` or `socks5`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub url: Url,
    pub username: String,
    pub password: String,
}

/// Who we are over ssh, and whom we trust.
#[derive(Clone, PartialEq, Eq)]
pub struct SshIdentity {
    /// A private key in one of the forms that `ssh-keygen` writes.
    pub key: Vec<u8>,
    /// Of an encrypted key.
    pub passphrase: Option<String>,
    /// Lines as in the file of that name.
    pub known_hosts: Vec<u8>,
}

impl Authorization {
    /// The value of the `Authorization` header.
    pub(crate) fn header(&self) -> String {
        match self {
            Self::Basic { username, password } => {
                format!("Basic {}", BASE64_STANDARD.encode(format!("{username}:{password}")))
            }
            Self::Bearer(token) => format!("Bearer {token}"),
        }
    }
}

/// Says that there is something, and not what.
macro_rules! hidden {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

hidden!(Access, Authorization, ClientCertificate, Proxy, SshIdentity);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorization_is_a_header() {
        let basic =
            Authorization::Basic { username: "me".to_owned(), password: "sécret".to_owned() };
        assert_eq!(basic.header(), "Basic bWU6c8OpY3JldA==");
        assert_eq!(Authorization::Bearer("t0ken".to_owned()).header(), "Bearer t0ken");
    }

    #[test]
    fn secrets_are_not_printed() {
        let access = Access {
            authorization: Some(Authorization::Bearer("t0ken".to_owned())),
            ssh: Some(SshIdentity {
                key: b"k3y".to_vec(),
                passphrase: Some("w0rds".to_owned()),
                known_hosts: Vec::new(),
            }),
            ..Access::default()
        };
        let shown = format!("{access:?} {:?} {:?}", access.authorization, access.ssh);
        assert_eq!(shown, "Access { .. } Some(Authorization { .. }) Some(SshIdentity { .. })");
    }
}
