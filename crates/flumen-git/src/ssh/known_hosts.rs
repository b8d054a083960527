//! The keys that a server may show, from the lines of a `known_hosts` file.

use aws_lc_rs::hmac;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use russh::keys::{Algorithm, HashAlg, PublicKey};

/// What a file says about one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownHost {
    keys: Vec<PublicKey>,
    revoked: Vec<PublicKey>,
}

/// What to think of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Known,
    Unknown,
    Revoked,
}

impl KnownHost {
    /// Finds the lines for a server, whose `name` has its port unless that is the usual one:
    /// `[host]:2222`. Lines that cannot be read say nothing, as with ssh.
    pub(crate) fn find(file: &str, name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let mut found = Self::default();
        for line in file.lines() {
            let mut words = line.split_whitespace().peekable();
            let marker = words.next_if(|word| word.starts_with('@'));
            let (Some(hosts), Some(kind), Some(key)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            if hosts.starts_with('#') || !names(hosts, &name) {
                continue;
            }
            let Ok(key) = PublicKey::from_openssh(&format!("{kind} {key}")) else { continue };
            match marker {
                None => found.keys.push(key),
                Some("@revoked") => found.revoked.push(key),
                // Keys of authorities sign certificates of servers, which are not asked for.
                Some(_) => {}
            }
        }
        found
    }

    /// What to ask a server for, so that it shows a key that can be compared.
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = Vec::new();
        for key in &self.keys {
            let these = match key.algorithm() {
                Algorithm::Rsa { .. } => [HashAlg::Sha512, HashAlg::Sha256]
                    .map(|hash| Algorithm::Rsa { hash: Some(hash) })
                    .to_vec(),
                other => vec![other],
            };
            algorithms.extend(
                these.into_iter().filter(|it| !algorithms.contains(it)).collect::<Vec<_>>(),
            );
        }
        algorithms
    }

    pub(crate) fn judge(&self, key: &PublicKey) -> Verdict {
        let is_among = |keys: &[PublicKey]| keys.iter().any(|it| it.key_data() == key.key_data());
        if is_among(&self.revoked) {
            Verdict::Revoked
        } else if is_among(&self.keys) {
            Verdict::Known
        } else {
            Verdict::Unknown
        }
    }
}

/// Whether the first field of a line names a server.
fn names(hosts: &str, name: &str) -> bool {
    if let Some(hashed) = hosts.strip_prefix("|1|") {
        return is_hash_of(hashed, name).unwrap_or(false);
    }
    let mut is_named = false;
    for pattern in hosts.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern, name) => return false,
            Some(_) => {}
            None => is_named |= matches(pattern, name),
        }
    }
    is_named
}

/// `salt|hash`, both in base64.
fn is_hash_of(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let salt = BASE64_STANDARD.decode(salt).ok()?;
    let hash = BASE64_STANDARD.decode(hash).ok()?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
    Some(hmac::verify(&key, name.as_bytes(), &hash).is_ok())
}

/// Whether a name in lower case fits a pattern, in which `*` and `?` stand for others.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    // `[host]:22` is the long form of `host`.
    let pattern = match pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix("]:22")) {
        Some(host) => host,
        None => &pattern,
    };
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut in_name) = (0, 0);
    // Where to go on when the last `*` has to stand for one more.
    let mut retry = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at, in_name));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match retry {
                Some((star, begin)) => {
                    retry = Some((star, begin + 1));
                    at = star + 1;
                    in_name = begin + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKU7dvrrYHoE1cbkbZ1pS3yOzBCyWBkfKNnJXaFGu1Qb";
    const OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBzZ0GgGAGrQCYcA+eKGDwN6mDCdyjxCMkuPVtYB0gcS";

    fn key(text: &str) -> PublicKey {
        PublicKey::from_openssh(text).expect("a key")
    }

    #[track_caller]
    fn check(line: &str, name: &str, expected: Verdict) {
        let file = format!("# a comment\n\n{line}\nnonsense\n");
        let verdict = KnownHost::find(&file, name).judge(&key(ED25519));
        assert_eq!(verdict, expected, "{line} for {name}");
    }

    #[test]
    fn servers_are_found_by_name_and_port() {
        check(&format!("host {ED25519} comment"), "host", Verdict::Known);
        check(&format!("a,HOST\t{ED25519}"), "Host", Verdict::Known);
        check(&format!("[host]:22 {ED25519}"), "host", Verdict::Known);
        check(&format!("[host]:2222 {ED25519}"), "[host]:2222", Verdict::Known);
        check(&format!("host {ED25519}"), "[host]:2222", Verdict::Unknown);
        check(&format!("[host]:2222 {ED25519}"), "host", Verdict::Unknown);
        check(&format!("host {OTHER}"), "host", Verdict::Unknown);
    }

    #[test]
    fn patterns_stand_for_names() {
        check(&format!("*.example.com {ED25519}"), "git.example.com", Verdict::Known);
        check(&format!("*.example.com {ED25519}"), "example.com", Verdict::Unknown);
        check(&format!("h?st {ED25519}"), "host", Verdict::Known);
        check(&format!("*,!host {ED25519}"), "host", Verdict::Unknown);
        check(&format!("*a*b* {ED25519}"), "xaxxbabc", Verdict::Known);
    }

    #[test]
    fn markers_count() {
        check(&format!("@revoked host {ED25519}\nhost {ED25519}"), "host", Verdict::Revoked);
        check(&format!("@cert-authority host {ED25519}"), "host", Verdict::Unknown);
    }

    #[test]
    fn hashed_names_are_compared() {
        let salt = [7_u8; 20];
        let hashing = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
        let hash = hmac::sign(&hashing, b"[host]:2222");
        let (salt, hash) = (BASE64_STANDARD.encode(salt), BASE64_STANDARD.encode(hash));
        let line = format!("|1|{salt}|{hash} {ED25519}");
        check(&line, "[host]:2222", Verdict::Known);
        check(&line, "[host]:2223", Verdict::Unknown);
        check(&format!("|1|{salt} {ED25519}"), "[host]:2222", Verdict::Unknown);
    }

    #[test]
    fn servers_are_asked_for_what_is_known() {
        let found = KnownHost::find(&format!("host {ED25519}\nhost {OTHER}"), "host");
        assert_eq!(found.algorithms(), [Algorithm::Ed25519]);
    }
}
