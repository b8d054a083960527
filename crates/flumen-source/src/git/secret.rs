//! What the Secrets of a repository say.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use flumen_api::{GitProvider, GitRepository, LocalReference};
use flumen_git::{
    Access, Authorization, ClientCertificate, GitUrl, Proxy, SshIdentity, TrustedKeys,
};
use url::Url;

use super::GitError;

/// The data of a Secret.
pub type SecretData = BTreeMap<String, Vec<u8>>;

/// The data of the Secrets that a repository names.
#[derive(Clone, Default)]
pub struct GitSecrets {
    /// Of `spec.secretRef`.
    pub credentials: Option<SecretData>,
    /// Of `spec.proxySecretRef`.
    pub proxy: Option<SecretData>,
    /// Of `spec.verify.secretRef`.
    pub keys: Option<SecretData>,
}

impl GitSecrets {
    /// Changes when other keys are trusted. Then signatures are to be verified again, although the commit is the same.
    pub fn keys_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.keys.hash(&mut hasher);
        hasher.finish()
    }
}

impl std::fmt::Debug for GitSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitSecrets").finish_non_exhaustive()
    }
}

/// What is longer is no address of a proxy; as in Flux.
const MAX_PROXY_LENGTH: usize = 2048;

/// Which keys of a Secret hold ssh keys; all others hold `OpenPGP` keys.
const SSH_KEYS: &str = ".sshpub";

/// The address of a repository. Paths of this machine are none.
pub(super) fn address(url: &str) -> Result<GitUrl, GitError> {
    let invalid = |reason: &str| {
        // What is no URL may still hold a password.
        let shown = Url::parse(url).map_or_else(
            |_| url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned(),
            |mut url| {
                let _ = url.set_password(None);
                url.to_string()
            },
        );
        GitError::Url { url: shown, reason: reason.to_owned() }
    };
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https" | "ssh") {
        return Err(invalid("it does not begin with http://, https:// or ssh://"));
    }
    GitUrl::parse(url).map_err(|error| invalid(&error.to_string()))
}

/// How the server is reached.
pub(super) fn access(
    object: &GitRepository,
    secrets: &GitSecrets,
    proxy: Option<Proxy>,
) -> Result<Access, GitError> {
    let empty = SecretData::new();
    let data = secrets.credentials.as_ref().unwrap_or(&empty);
    check_provider(object, data)?;
    let url = &object.spec.url;
    let mut access = if url.to_ascii_lowercase().starts_with("ssh:") {
        Access { ssh: Some(identity(object, data)?), ..Access::default() }
    } else {
        Access {
            authorization: authorization(url, data)?,
            authorities: filled(data, "ca.crt").or_else(|| filled(data, "caFile")).cloned(),
            certificate: filled(data, "tls.crt")
                .zip(filled(data, "tls.key"))
                .map(|(chain, key)| ClientCertificate { chain: chain.clone(), key: key.clone() }),
            ..Access::default()
        }
    };
    access.proxy = proxy;
    Ok(access)
}

/// The proxy of a repository that names one.
pub(super) fn proxy(
    object: &GitRepository,
    secrets: &GitSecrets,
) -> Result<Option<Proxy>, GitError> {
    let (Some(reference), Some(data)) = (&object.spec.proxy_secret_ref, &secrets.proxy) else {
        return Ok(None);
    };
    let secret = named(object, Some(reference));
    let invalid = |reason: String| GitError::Proxy(format!("secret '{secret}': {reason}"));
    let address = data.get("address").ok_or_else(|| invalid("key 'address' not found".into()))?;
    let address = String::from_utf8_lossy(address);
    if address.is_empty() {
        return Err(invalid("proxy address is empty".into()));
    }
    if address.len() > MAX_PROXY_LENGTH {
        let limit = format!("proxy URL exceeds maximum length of {MAX_PROXY_LENGTH} characters");
        return Err(invalid(limit));
    }
    let url = Url::parse(&address).map_err(|error| {
        // The address is not shown: it may hold a password.
        invalid(format!("failed to parse proxy address: {error}"))
    })?;
    if !matches!(url.scheme(), "http" | "https" | "socks5") {
        let scheme = url.scheme();
        let known = "proxy URL must use one of the supported schemes (http, https, socks5)";
        return Err(invalid(format!("{known}, got '{scheme}'")));
    }
    let (username, password) = (text(data, "username"), text(data, "password"));
    Ok(Some(Proxy { url, username, password }))
}

/// The keys that may sign.
pub(super) fn trusted_keys(data: Option<&SecretData>) -> TrustedKeys {
    let mut keys = TrustedKeys::default();
    for (name, value) in data.into_iter().flatten() {
        let value = String::from_utf8_lossy(value).into_owned();
        let list = if name.ends_with(SSH_KEYS) { &mut keys.ssh } else { &mut keys.openpgp };
        list.push(value);
    }
    keys
}

fn authorization(url: &str, data: &SecretData) -> Result<Option<Authorization>, GitError> {
    let in_url = Url::parse(url).ok();
    let decoded =
        |part: &str| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
    let is_bearer = data.contains_key("bearerToken");
    let from_secret = |key: &str| if is_bearer { String::new() } else { text(data, key) };
    let mut username = from_secret("username");
    let mut password = from_secret("password");
    if username.is_empty() {
        username = in_url.as_ref().map(|url| decoded(url.username())).unwrap_or_default();
    }
    if password.is_empty() {
        let found = in_url.as_ref().and_then(Url::password);
        password = found.map(decoded).unwrap_or_default();
    }
    if username.is_empty() && !password.is_empty() {
        let scheme = in_url.as_ref().map_or("https", Url::scheme);
        return Err(GitError::Authentication(format!(
            "invalid '{scheme}' auth option: 'password' requires 'username' to be set"
        )));
    }
    let token = text(data, "bearerToken");
    match (username.is_empty(), token.is_empty()) {
        (false, false) => Err(GitError::Checkout {
            reason: "basic auth and bearer token cannot be set at the same time".to_owned(),
            hint: None,
        }),
        (false, true) => Ok(Some(Authorization::Basic { username, password })),
        (true, false) => Ok(Some(Authorization::Bearer(token))),
        (true, true) => Ok(None),
    }
}

fn identity(object: &GitRepository, data: &SecretData) -> Result<SshIdentity, GitError> {
    let required = |key: &str| {
        filled(data, key).cloned().ok_or_else(|| {
            let told = format!("invalid 'ssh' auth option: '{key}' is required");
            GitError::Authentication(told)
        })
    };
    let identity = SshIdentity {
        key: required("identity")?,
        known_hosts: required("known_hosts")?,
        passphrase: filled(data, "password").map(|it| String::from_utf8_lossy(it).into_owned()),
    };
    if identity.is_locked() {
        let secret = named(object, object.spec.secret_ref.as_ref());
        return Err(GitError::EncryptedKey { secret });
    }
    Ok(identity)
}

/// Says no to what only clouds can answer, and to Secrets that are meant for them.
fn check_provider(object: &GitRepository, data: &SecretData) -> Result<(), GitError> {
    let refused = |reason: String, is_final| Err(GitError::Provider { reason, is_final });
    let is_app = ["githubAppID", "githubAppClientID"].iter().any(|key| filled(data, key).is_some());
    match object.spec.provider.unwrap_or_default() {
        GitProvider::Generic if is_app => {
            let secret = named(object, object.spec.secret_ref.as_ref());
            let told = "has github app data but provider is not set to github";
            refused(format!("secretRef '{secret}' {told}"), false)
        }
        GitProvider::Generic => Ok(()),
        GitProvider::Github if !is_app => {
            let told = "secretRef with github app data must be specified when provider is set to \
                        github";
            refused(told.to_owned(), object.spec.secret_ref.is_none())
        }
        GitProvider::Github => refused(unavailable("github"), true),
        GitProvider::Aws => refused(unavailable("aws"), true),
        GitProvider::Azure => refused(unavailable("azure"), true),
    }
}

fn unavailable(provider: &str) -> String {
    format!("provider '{provider}' is not available yet; use a secretRef with credentials instead")
}

/// A Secret as messages name it.
fn named(object: &GitRepository, reference: Option<&LocalReference>) -> String {
    let name = reference.map_or("", |reference| reference.name.as_str());
    format!("{}/{name}", object.metadata.namespace)
}

fn filled<'a>(data: &'a SecretData, key: &str) -> Option<&'a Vec<u8>> {
    data.get(key).filter(|value| !value.is_empty())
}

fn text(data: &SecretData, key: &str) -> String {
    filled(data, key).map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default()
}
