//! The encryption of cosign's key files: a secret box whose key scrypt makes from a password.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use crypto_secretbox::{KeyInit as _, Nonce, XSalsa20Poly1305, aead::Aead as _};
use scrypt::Params;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{KeyError, Password};

const KDF: &str = "scrypt";
const CIPHER: &str = "nacl/secretbox";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const SALT_BYTES: usize = 32;

/// What cosign writes: 64 MB of memory and some tenths of a second.
const COST: Cost = Cost { n: 1 << 16, r: 8, p: 1 };

/// A file may ask for four times the memory and sixteen times the work of [`COST`], not more: it can
/// come from somebody else.
const MAX_MEMORY: u64 = 4 * COST.memory();
const MAX_WORK: u64 = 16 * COST.memory();

#[derive(Serialize, Deserialize)]
struct File {
    kdf: Kdf,
    cipher: Cipher,
    ciphertext: String,
}

#[derive(Serialize, Deserialize)]
struct Kdf {
    name: String,
    params: Cost,
    salt: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Cost {
    #[serde(rename = "N")]
    n: u64,
    r: u32,
    p: u32,
}

#[derive(Serialize, Deserialize)]
struct Cipher {
    name: String,
    nonce: String,
}

/// Opens the content of a key file.
pub(crate) fn open(file: &[u8], password: &Password) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let damaged = |reason| move |_| KeyError::Damaged { reason };
    let file: File =
        serde_json::from_slice(file).map_err(|_| KeyError::Damaged { reason: "not JSON" })?;
    if file.kdf.name != KDF || file.cipher.name != CIPHER {
        return Err(KeyError::OtherEncryption);
    }
    let salt = STANDARD.decode(&file.kdf.salt).map_err(damaged("its salt"))?;
    let nonce = STANDARD.decode(&file.cipher.nonce).map_err(damaged("its nonce"))?;
    let nonce: [u8; NONCE_BYTES] =
        nonce.try_into().map_err(|_| KeyError::Damaged { reason: "its nonce" })?;
    let ciphertext = STANDARD.decode(&file.ciphertext).map_err(damaged("its ciphertext"))?;
    let cipher = cipher(password, &salt, file.kdf.params)?;
    cipher
        .decrypt(Nonce::from_slice(&nonce), &*ciphertext)
        .map(Zeroizing::new)
        .map_err(|_| KeyError::WrongPassword)
}

/// The content of a key file that the password opens.
pub(crate) fn seal(content: &[u8], password: &Password) -> Result<Vec<u8>, KeyError> {
    let mut salt = [0; SALT_BYTES];
    let mut nonce = [0; NONCE_BYTES];
    for random in [&mut salt[..], &mut nonce[..]] {
        aws_lc_rs::rand::fill(random).map_err(|_| KeyError::Failed)?;
    }
    let ciphertext = cipher(password, &salt, COST)?
        .encrypt(Nonce::from_slice(&nonce), content)
        .map_err(|_| KeyError::Failed)?;
    let file = File {
        kdf: Kdf { name: KDF.to_owned(), params: COST, salt: STANDARD.encode(salt) },
        cipher: Cipher { name: CIPHER.to_owned(), nonce: STANDARD.encode(nonce) },
        ciphertext: STANDARD.encode(ciphertext),
    };
    serde_json::to_vec(&file).map_err(|_| KeyError::Failed)
}

fn cipher(password: &Password, salt: &[u8], cost: Cost) -> Result<XSalsa20Poly1305, KeyError> {
    let params = cost.params()?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    scrypt::scrypt(password.as_bytes(), salt, &params, &mut *key).map_err(|_| KeyError::Failed)?;
    Ok(XSalsa20Poly1305::new((&*key).into()))
}

impl Cost {
    /// Bytes that scrypt walks through, once for each `p`.
    const fn memory(self) -> u64 {
        self.n.saturating_mul(self.r as u64).saturating_mul(128)
    }

    fn params(self) -> Result<Params, KeyError> {
        if self.memory() > MAX_MEMORY || self.memory().saturating_mul(u64::from(self.p)) > MAX_WORK
        {
            return Err(KeyError::TooExpensive);
        }
        let damaged = KeyError::Damaged { reason: "its parameters" };
        if !self.n.is_power_of_two() {
            return Err(damaged);
        }
        let log_n = self.n.trailing_zeros().try_into().map_err(|_| KeyError::TooExpensive)?;
        Params::new(log_n, self.r, self.p, KEY_BYTES).map_err(|_| damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_opens_what_it_sealed() {
        let password = Password::new("secret");
        let sealed = seal(b"content", &password).expect("sealed");
        assert_eq!(&**open(&sealed, &password).expect("opened"), b"content");
        let other = Password::new("Secret");
        assert_eq!(open(&sealed, &other).err(), Some(KeyError::WrongPassword));
    }

    #[test]
    fn no_file_can_ask_for_more_than_the_budget() {
        for (n, r, p) in [(1_u64 << 40, 8, 1), (1 << 16, u32::MAX, 1), (1 << 16, 8, u32::MAX)] {
            let cost = Cost { n, r, p };
            assert_eq!(cost.params().err(), Some(KeyError::TooExpensive), "{n} {r} {p}");
        }
        for (n, r, p) in [(0, 8, 1), (3, 8, 1), (1 << 16, 0, 1), (1 << 16, 8, 0)] {
            let cost = Cost { n, r, p };
            assert!(matches!(cost.params(), Err(KeyError::Damaged { .. })), "{n} {r} {p}");
        }
        let costly = r#"{
            "kdf": {"name": "scrypt", "params": {"N": 1099511627776, "r": 8, "p": 1}, "salt": ""},
            "cipher": {"name": "nacl/secretbox", "nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
            "ciphertext": ""
        }"#;
        let error = open(costly.as_bytes(), &Password::new("")).err();
        assert_eq!(error, Some(KeyError::TooExpensive));
    }
}
