//! Repositories over ssh: `git-upload-pack` on the other side, and no program on this one.
//!
//! The library is asynchronous underneath; what gix gets is a reader and a writer that block, and
//! that give up when they are told to.

mod algorithms;
mod known_hosts;
mod pipe;
mod tunnel;

use std::sync::Arc;

use gix::protocol::transport::{
    Protocol,
    client::{blocking_io::Transport, git},
};
use parking_lot::Mutex;
use russh::{
    client::{self, Config, Handle, Handler},
    keys::{
        self, Algorithm, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey,
        PublicKeyOrCertificate,
    },
};

pub use self::algorithms::SshAlgorithms;
use self::known_hosts::{KnownHost, Verdict};
use crate::{
    Access, Error, SshIdentity, connection::Session, error::chain, transport::Failure, url::SshUrl,
    waiting::Waiter,
};

/// Who asks, unless the address says so: what hosts of repositories are used to.
const USUAL_USER: &str = "git";

/// Connects to a server, proves who we are and starts the program that hands out packs.
pub(crate) fn connect(
    session: &Session<'_>,
    url: &SshUrl,
    failure: &Failure,
) -> Result<Box<dyn Transport>, Error> {
    let identity = session.client.access.ssh.as_ref();
    let identity = identity.ok_or_else(|| Error::NoIdentity { url: url.to_string() })?;
    if identity.known_hosts.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::NoKnownHosts { url: url.to_string() });
    }
    let key = private_key(identity)?;
    let known = KnownHost::find(&String::from_utf8_lossy(&identity.known_hosts), &url.known_as());

    let waiter = Waiter::new()?;
    let opening = open(url, key, known, &session.client.access);
    let opened = waiter
        .wait(session.stop, opening)
        .ok_or_else(|| Error::Unreachable { url: url.to_string(), reason: "stopped".to_owned() })?;
    let (handle, channel) = opened?;
    let (reader, writer) = pipe::split(channel, handle, waiter, url, session, failure);
    let line = git::blocking_io::Connection::new(
        reader,
        writer,
        Protocol::V2,
        url.path.as_str(),
        None::<(&str, Option<u16>)>,
        git::ConnectMode::Process,
        false,
    );
    Ok(Box::new(line.custom_url(Some(url.to_string().into()))))
}

async fn open(
    url: &SshUrl,
    key: PrivateKey,
    known: KnownHost,
    access: &Access,
) -> Result<(Handle<HostCheck>, russh::Channel<client::Msg>), Error> {
    let unreachable =
        |error: russh::Error| Error::Unreachable { url: url.to_string(), reason: chain(&error) };
    let mut config = Config::default();
    access.ssh_algorithms.prefer(&mut config.preferred, known.algorithms());
    let refused = Arc::new(Mutex::new(None));
    let check = HostCheck { known, refused: Arc::clone(&refused) };
    let stream = tunnel::open(url, access.proxy.as_ref()).await?;
    // Git asks in short lines, and waits for the answer.
    let _ = stream.set_nodelay(true);
    let connected = client::connect_stream(Arc::new(config), stream, check).await;
    let mut handle = connected.map_err(|error| {
        let shown = refused.lock().take();
        let host = url.known_as();
        match shown {
            Some((Verdict::Revoked, kind)) => Error::RevokedHost { host, kind },
            Some((_, kind)) => Error::UnknownHost { host, kind },
            None => unreachable(error),
        }
    })?;

    let user = url.user.as_deref().unwrap_or(USUAL_USER);
    let kind = key.algorithm();
    let hash = if matches!(kind, Algorithm::Rsa { .. }) {
        // Servers of today refuse SHA-1, so those that do not say what they take get something better.
        handle
            .best_supported_rsa_hash()
            .await
            .map_err(unreachable)?
            .unwrap_or(Some(HashAlg::Sha256))
    } else {
        None
    };
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
    let outcome = handle.authenticate_publickey(user, key).await.map_err(unreachable)?;
    if !outcome.success() {
        let (host, user) = (url.known_as(), user.to_owned());
        return Err(Error::Refused { host, user, kind: kind.as_str().to_owned() });
    }
    let channel = handle.channel_open_session().await.map_err(unreachable)?;
    // Many servers refuse variables, and then speak the older version of the protocol.
    channel.set_env(false, "GIT_PROTOCOL", "version=2").await.map_err(unreachable)?;
    let command = format!("git-upload-pack {}", quoted(&url.path));
    channel.exec(true, command).await.map_err(unreachable)?;
    Ok((handle, channel))
}

/// Compares the key of a server with what is known of it.
struct HostCheck {
    known: KnownHost,
    /// Why a key was refused, and its type.
    refused: Arc<Mutex<Option<(Verdict, String)>>>,
}

impl Handler for HostCheck {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        let (verdict, kind) = match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => {
                (self.known.judge(key), PublicKey::algorithm(key).as_str().to_owned())
            }
            PublicKeyOrCertificate::Certificate(certificate) => {
                (Verdict::Unknown, certificate.algorithm().to_certificate_type())
            }
        };
        if verdict == Verdict::Known {
            return Ok(true);
        }
        *self.refused.lock() = Some((verdict, kind));
        Ok(false)
    }
}

impl SshIdentity {
    /// Whether the key is encrypted, and there is nothing to open it with.
    pub fn is_locked(&self) -> bool {
        matches!(private_key(self), Err(Error::Identity { reason: LOCKED }))
    }
}

const LOCKED: &str = "is encrypted, and there is no password for it";

fn private_key(identity: &SshIdentity) -> Result<PrivateKey, Error> {
    let unusable = |reason| Error::Identity { reason };
    let text = std::str::from_utf8(&identity.key).map_err(|_| unusable("is no text"))?;
    let passphrase = identity.passphrase.as_deref().filter(|it| !it.is_empty());
    let key = keys::decode_secret_key(text, passphrase);
    key.map_err(|error| match (error, passphrase) {
        (keys::Error::KeyIsEncrypted, None) => unusable(LOCKED),
        (_, Some(_)) => unusable("cannot be read, or its password is another one"),
        (_, None) => unusable("cannot be read"),
    })
}

/// A path as a shell reads it back.
fn quoted(path: &str) -> String {
    let mut quoted = String::from("'");
    for letter in path.chars() {
        match letter {
            '\'' | '!' => {
                quoted.push_str("'\\");
                quoted.push(letter);
                quoted.push('\'');
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(quoted("/srv/a b.git"), "'/srv/a b.git'");
        assert_eq!(quoted("it's; rm !"), "'it'\\''s; rm '\\!''");
    }

    #[test]
    fn keys_that_cannot_be_used_are_not_shown() {
        let identity = SshIdentity {
            key: b"-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n".to_vec(),
            passphrase: None,
            known_hosts: Vec::new(),
        };
        let error = private_key(&identity).expect_err("no key");
        assert_eq!(
            format!("{error} {error:?}"),
            "the ssh key cannot be read Identity { reason: \"cannot be read\" }"
        );
    }
}
