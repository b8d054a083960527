//! Credentials in Secrets, as Docker's configuration has them.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flumen_oci::{client::Credentials, registry_names};
use serde::Deserialize;

use super::SecretData;

const CONFIG: &str = ".dockerconfigjson";
/// The form before that: the entries alone.
const FORMER_CONFIG: &str = ".dockercfg";

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    auths: Entries,
}

/// By registry, which may have a scheme, a path, and `*` in the name of the host.
type Entries = BTreeMap<String, Entry>;

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    /// Both of them in Base64.
    #[serde(default)]
    auth: String,
    #[serde(default)]
    identitytoken: String,
    #[serde(default)]
    registrytoken: String,
}

/// What the Secrets have for a repository, given as `host/path`. The most specific entry counts, of
/// several the first.
///
/// A Secret of another kind has nothing; that is no error.
pub(super) fn find(
    secrets: &[SecretData],
    repository: &str,
) -> Result<Option<Credentials>, String> {
    let mut best: Option<(usize, Entry)> = None;
    for secret in secrets {
        for (registry, entry) in entries(secret)? {
            let registry = normal(&registry);
            let is_better = best.as_ref().is_none_or(|(length, _)| registry.len() > *length);
            if is_better && fits(registry, repository) {
                best = Some((registry.len(), entry));
            }
        }
    }
    best.map_or(Ok(None), |(_, entry)| entry.credentials())
}

fn entries(secret: &SecretData) -> Result<Entries, String> {
    // What it says may hold a password, so no message repeats it.
    let invalid = |key: &str| format!("the value of '{key}' is not a configuration of Docker");
    if let Some(text) = secret.get(CONFIG) {
        let config: Config = serde_json::from_slice(text).map_err(|_| invalid(CONFIG))?;
        return Ok(config.auths);
    }
    match secret.get(FORMER_CONFIG) {
        Some(text) => serde_json::from_slice(text).map_err(|_| invalid(FORMER_CONFIG)),
        None => Ok(Entries::new()),
    }
}

/// Without what does not tell registries apart.
fn normal(registry: &str) -> &str {
    let name = registry.split_once("://").map_or(registry, |(_, name)| name);
    let name = name.trim_end_matches('/');
    ["/v1", "/v2"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

fn fits(registry: &str, repository: &str) -> bool {
    let (host, path) = registry.split_once('/').unwrap_or((registry, ""));
    let (own_host, own_path) = repository.split_once('/').unwrap_or((repository, ""));
    let is_below = own_path
        .strip_prefix(path)
        .is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'));
    is_below && registry_names(own_host).iter().any(|own_host| host_fits(host, own_host))
}

/// A star stands for a part of one label.
fn host_fits(pattern: &str, host: &str) -> bool {
    let (patterns, labels): (Vec<&str>, Vec<&str>) =
        (pattern.split('.').collect(), host.split('.').collect());
    patterns.len() == labels.len()
        && patterns.iter().zip(labels).all(|(pattern, label)| match pattern.split_once('*') {
            Some((start, end)) => {
                label.len() >= start.len() + end.len()
                    && label.starts_with(start)
                    && label.ends_with(end)
            }
            None => *pattern == label,
        })
}

impl Entry {
    fn credentials(self) -> Result<Option<Credentials>, String> {
        if !self.registrytoken.is_empty() {
            return Ok(Some(Credentials::bearer(&self.registrytoken)));
        }
        if !self.identitytoken.is_empty() {
            return Ok(Some(Credentials::refresh(&self.identitytoken)));
        }
        if !self.username.is_empty() || !self.password.is_empty() {
            return Ok(Some(Credentials::password(&self.username, &self.password)));
        }
        if self.auth.is_empty() {
            return Ok(None);
        }
        let invalid = || "the value of 'auth' is not a user and a password".to_owned();
        let pair = BASE64_STANDARD.decode(self.auth.trim()).map_err(|_| invalid())?;
        let pair = String::from_utf8(pair).map_err(|_| invalid())?;
        let (user, password) = pair.split_once(':').ok_or_else(invalid)?;
        Ok(Some(Credentials::password(user, password.trim_end_matches('\0'))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(key: &str, json: &str) -> SecretData {
        SecretData::from([(key.to_owned(), json.as_bytes().to_vec())])
    }

    /// Tells users apart: passwords do not show.
    fn user(secrets: &[SecretData], repository: &str) -> Option<String> {
        let found = find(secrets, repository).expect("readable")?;
        let shown = format!("{found:?}");
        assert!(!shown.contains("hush"), "{shown}");
        shown.split('"').nth(1).map(str::to_owned)
    }

    #[test]
    fn the_most_specific_entry_counts() {
        let config = r#"{"auths": {
            "registry.example.com": {"username": "all", "password": "hush"},
            "https://registry.example.com/org/": {"username": "org", "password": "hush"},
            "*.example.org": {"auth": "c3RhcjpodXNo"},
            "registry.example.net/v2/": {"username": "net", "password": "hush"}
        }}"#;
        let secrets = [secret(CONFIG, config)];
        let check = |repository: &str, expected: Option<&str>| {
            assert_eq!(user(&secrets, repository).as_deref(), expected, "{repository}");
        };
        check("registry.example.com/app", Some("all"));
        check("registry.example.com/org/app", Some("org"));
        check("registry.example.com/organisation/app", Some("all"));
        check("a.example.org/app", Some("star"));
        check("a.b.example.org/app", None);
        check("registry.example.net/app", Some("net"));
        check("registry.example.com:5000/app", None);
    }

    #[test]
    fn docker_hub_has_several_names() {
        for key in ["https://index.docker.io/v1/", "docker.io", "registry-1.docker.io"] {
            let config = format!(r#"{{"auths": {{"{key}": {{"username": "hub"}}}}}}"#);
            let secrets = [secret(CONFIG, &config)];
            for repository in ["docker.io/org/app", "index.docker.io/org/app"] {
                assert_eq!(user(&secrets, repository).as_deref(), Some("hub"), "{key}");
            }
            assert_eq!(user(&secrets, "registry.example.com/org/app"), None);
        }
    }

    #[test]
    fn several_secrets_are_asked_in_their_order() {
        let first = secret(FORMER_CONFIG, r#"{"a.example.com": {"username": "first"}}"#);
        let second = secret(CONFIG, r#"{"auths": {"a.example.com": {"username": "second"}}}"#);
        assert_eq!(user(&[first, second], "a.example.com/app").as_deref(), Some("first"));
    }

    #[test]
    fn other_secrets_have_nothing_and_broken_ones_are_told() {
        assert!(user(&[secret("password", "hush")], "a.example.com/app").is_none());
        for broken in ["", "{", r#"{"auths": {"a": {"username": 1}}}"#] {
            let error = find(&[secret(CONFIG, broken)], "a/b").expect_err(broken);
            assert_eq!(error, "the value of '.dockerconfigjson' is not a configuration of Docker");
        }
        let broken = secret(CONFIG, r#"{"auths": {"a": {"auth": "hush"}}}"#);
        assert!(!find(&[broken], "a/b").expect_err("no pair").contains("hush"));
    }
}
