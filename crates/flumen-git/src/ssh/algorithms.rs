//! What is offered to ssh servers.

use std::borrow::Cow;

use russh::{Preferred, kex, keys::Algorithm};

/// Algorithms for ssh, the best first; the usual ones where there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshAlgorithms {
    key_exchange: Vec<kex::Name>,
    host_keys: Vec<Algorithm>,
}

/// Not algorithms, but words about the exchange itself that stand in the same list.
const EXTENSIONS: [kex::Name; 2] =
    [kex::EXTENSION_SUPPORT_AS_CLIENT, kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT];

impl SshAlgorithms {
    /// Takes the names of algorithms, and returns those that are not known here, too.
    pub fn new<'n>(key_exchange: &'n [String], host_keys: &'n [String]) -> (Self, Vec<&'n str>) {
        let mut unknown = Vec::new();
        let mut algorithms = Self::default();
        for name in key_exchange {
            match kex::Name::try_from(name.as_str()) {
                Ok(kex::NONE) | Err(()) => unknown.push(name.as_str()),
                Ok(known) => algorithms.key_exchange.push(known),
            }
        }
        for name in host_keys {
            match host_key(name) {
                Some(known) => algorithms.host_keys.push(known),
                None => unknown.push(name.as_str()),
            }
        }
        (algorithms, unknown)
    }

    /// What to prefer with a server whose known keys have these algorithms.
    pub(super) fn prefer(&self, preferred: &mut Preferred, known: Vec<Algorithm>) {
        if !self.key_exchange.is_empty() {
            let names = self.key_exchange.iter().copied().chain(EXTENSIONS);
            preferred.kex = Cow::Owned(names.collect());
        }
        let both: Vec<_> = self.host_keys.iter().filter(|it| known.contains(it)).cloned().collect();
        let keys = match (self.host_keys.is_empty(), both.is_empty()) {
            (true, _) => known,
            (false, false) => both,
            // Another key is shown then, and that is what is told.
            (false, true) => self.host_keys.clone(),
        };
        if !keys.is_empty() {
            preferred.key = Cow::Owned(keys);
        }
    }
}

/// An algorithm that servers sign with. Names of certificates are none: they are not asked for.
fn host_key(name: &str) -> Option<Algorithm> {
    Preferred::DEFAULT.key.iter().find(|known| known.as_str() == name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn known_algorithms_are_offered_in_their_order() {
        let exchange = names(&["diffie-hellman-group14-sha256", "curve25519-sha256", "none", "x"]);
        let keys = names(&["rsa-sha2-256", "ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-dss"]);
        let (algorithms, unknown) = SshAlgorithms::new(&exchange, &keys);
        assert_eq!(unknown, ["none", "x", "ssh-dss"]);
        let mut preferred = Preferred::default();
        algorithms.prefer(&mut preferred, Vec::new());
        let offered: Vec<&str> = preferred.kex.iter().map(AsRef::as_ref).collect();
        assert_eq!(
            offered,
            [
                "diffie-hellman-group14-sha256",
                "curve25519-sha256",
                "ext-info-c",
                "kex-strict-c-v00@openssh.com"
            ]
        );
        assert_eq!(preferred.key.len(), 3);

        // Of those only what can be compared with a known key.
        algorithms.prefer(&mut preferred, vec![Algorithm::Ed25519]);
        assert_eq!(*preferred.key, [Algorithm::Ed25519]);
    }

    #[test]
    fn without_a_choice_the_usual_ones_are_offered() {
        let (usual, unknown) = SshAlgorithms::new(&[], &[]);
        assert!(unknown.is_empty());
        let mut preferred = Preferred::default();
        usual.prefer(&mut preferred, Vec::new());
        assert_eq!(preferred.kex, Preferred::DEFAULT.kex);
        assert_eq!(preferred.key, Preferred::DEFAULT.key);
        usual.prefer(&mut preferred, vec![Algorithm::Ed25519]);
        assert_eq!(*preferred.key, [Algorithm::Ed25519]);
    }
}
