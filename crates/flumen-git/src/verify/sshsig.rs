//! Signatures that are made with ssh keys.

use russh::keys::{
    HashAlg, PublicKey,
    ssh_key::{self, SshSig, authorized_keys::AuthorizedKeys},
};

use crate::Signed;

/// What Git signs for: a signature that was made for something else does not count.
const NAMESPACE: &str = "git";

/// The fingerprint of the key that made a signature.
pub(super) fn signer(signed: &Signed, files: &[String]) -> Result<String, String> {
    let signature = SshSig::from_pem(signed.signature.trim())
        .map_err(|error| format!("unable to unarmor SSH signature: {error}"))?;
    let mut unreadable = None;
    let mut was_tried = false;
    let mut reasons: Vec<&str> = Vec::new();
    for file in files {
        let keys = match keys(file) {
            Ok(keys) => keys,
            Err(error) => {
                let told = "unable to parse authorized keys: unable to parse authorized key";
                unreadable.get_or_insert_with(|| format!("{told}: {error}"));
                continue;
            }
        };
        was_tried = true;
        for key in keys {
            let reason = match key.verify(NAMESPACE, &signed.payload, &signature) {
                Ok(()) => return Ok(key.fingerprint(HashAlg::Sha256).to_string()),
                Err(ssh_key::Error::PublicKey) => "public key does not match",
                Err(ssh_key::Error::Namespace) => "namespace does not match",
                Err(_) => "ssh: signature did not verify",
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    match unreadable {
        Some(reason) if !was_tried => Err(reason),
        _ => {
            reasons.insert(0, "no matching key");
            let reasons = reasons.join("\n");
            Err(format!(
                "unable to verify payload with any of the given authorized keys: {reasons}"
            ))
        }
    }
}

/// One line that cannot be read makes a file useless: it may be the one that matters.
fn keys(file: &str) -> ssh_key::Result<Vec<PublicKey>> {
    AuthorizedKeys::new(file).map(|entry| Ok(entry?.public_key().clone())).collect()
}
