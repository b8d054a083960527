//! Signatures that are made with `OpenPGP` keys.

use std::time::SystemTime;

use pgp::{
    composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey},
    packet::{Signature, SubpacketData},
    types::{KeyDetails as _, Tag},
};

use crate::Signed;

/// The id of the key that made a signature, which is that of the whole key if a part of it did.
pub(super) fn signer(signed: &Signed, rings: &[String], now: SystemTime) -> Result<String, String> {
    let mut unreadable = None;
    let mut was_tried = false;
    // A signature that cannot be read was made by nobody.
    let signature = DetachedSignature::from_string(signed.signature.trim()).ok();
    for ring in rings {
        let keys = match keys(ring) {
            Ok(keys) => keys,
            Err(error) => {
                unreadable
                    .get_or_insert_with(|| format!("unable to read armored key ring: {error}"));
                continue;
            }
        };
        was_tried = true;
        let Some((signature, _)) = &signature else { continue };
        for key in keys {
            let candidate = Key { key: &key, now };
            if candidate.has_made(&signature.signature, &signed.payload) {
                let id = key.primary_key.legacy_key_id();
                return Ok(id.to_string().to_uppercase());
            }
        }
    }
    match unreadable {
        Some(reason) if !was_tried => Err(reason),
        _ => {
            Err("unable to verify payload with any of the given key rings: no matching key".into())
        }
    }
}

fn keys(ring: &str) -> pgp::errors::Result<Vec<SignedPublicKey>> {
    let (keys, _) = SignedPublicKey::from_string_many(ring)?;
    keys.collect()
}

/// A key, and the time at which it must be good.
struct Key<'a> {
    key: &'a SignedPublicKey,
    now: SystemTime,
}

impl Key<'_> {
    fn has_made(&self, signature: &Signature, payload: &[u8]) -> bool {
        if !self.has_begun(signature)
            || self.is_over(signature.created(), signature.signature_expiration_time())
        {
            return false;
        }
        let Some(own) = self.own_signature() else { return false };
        let primary = &self.key.primary_key;
        if self.is_revoked() || self.is_over(Some(primary.created_at()), own.key_expiration_time())
        {
            return false;
        }
        if may_sign(own) && signature.verify(primary, payload).is_ok() {
            return true;
        }
        self.key
            .public_subkeys
            .iter()
            .any(|part| self.is_signing_part(part) && signature.verify(&part.key, payload).is_ok())
    }

    /// The newest of the signatures with which the key speaks about itself.
    fn own_signature(&self) -> Option<&Signature> {
        let primary = &self.key.primary_key;
        let users = self.key.details.users.iter().flat_map(|user| {
            let signatures = user.signatures.iter().filter(|it| it.is_certification());
            signatures.filter(|it| it.verify_certification(primary, Tag::UserId, &user.id).is_ok())
        });
        let direct = self.key.details.direct_signatures.iter();
        users
            .chain(direct.filter(|it| it.verify_key(primary).is_ok()))
            .filter(|it| self.has_begun(it))
            .max_by_key(|it| it.created())
    }

    fn is_revoked(&self) -> bool {
        let primary = &self.key.primary_key;
        self.key.details.revocation_signatures.iter().any(|it| it.verify_key(primary).is_ok())
    }

    /// Whether a part of the key was made to sign, and may still do so.
    fn is_signing_part(&self, part: &SignedPublicSubKey) -> bool {
        use pgp::packet::SignatureType::{SubkeyBinding, SubkeyRevocation};

        let primary = &self.key.primary_key;
        let of_type = |kind| {
            part.signatures.iter().filter(move |it| {
                it.typ() == Some(kind) && it.verify_subkey_binding(primary, &part.key).is_ok()
            })
        };
        if of_type(SubkeyRevocation).next().is_some() {
            return false;
        }
        let newest =
            of_type(SubkeyBinding).filter(|it| self.has_begun(it)).max_by_key(|it| it.created());
        newest.is_some_and(|binding| {
            // The part must agree, or anybody could call somebody else's part theirs.
            let agrees = binding
                .embedded_signature()
                .is_some_and(|it| it.verify_primary_key_binding(&part.key, primary).is_ok());
            agrees
                && may_sign(binding)
                && !self.is_over(Some(part.key.created_at()), binding.key_expiration_time())
        })
    }

    fn has_begun(&self, signature: &Signature) -> bool {
        signature.created().is_some_and(|created| SystemTime::from(created) <= self.now)
    }

    /// Whether something that began then has ended by now.
    fn is_over(
        &self,
        begin: Option<pgp::types::Timestamp>,
        length: Option<pgp::types::Duration>,
    ) -> bool {
        let (Some(begin), Some(length)) = (begin, length) else { return false };
        let seconds = u64::from(length.as_secs());
        seconds != 0
            && SystemTime::from(begin) + std::time::Duration::from_secs(seconds) <= self.now
    }
}

/// Keys from before there were flags may do everything.
fn may_sign(about: &Signature) -> bool {
    let has_flags = about.config().is_some_and(|config| {
        config.hashed_subpackets().any(|it| matches!(it.data, SubpacketData::KeyFlags(_)))
    });
    !has_flags || about.key_flags().sign()
}
