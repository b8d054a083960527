//! Artifacts that only some may read, by age.

use std::{
    fmt,
    io::{self, Read, Write as _},
    path::Path,
    str::FromStr,
    sync::Arc,
};

use age::{
    Decryptor, Encryptor,
    armor::{ArmoredReader, ArmoredWriter, Format},
    x25519,
};

use crate::{Error, Result};

/// Who may read an artifact: a file with a public key on each line.
#[derive(Clone)]
pub struct Recipients(Vec<x25519::Recipient>);

/// Private keys: a file with one on each line, as `age-keygen` writes it.
#[derive(Clone)]
pub struct Identities(Arc<[x25519::Identity]>);

impl Recipients {
    /// Reads the text of a file; its name is for messages.
    pub fn parse(text: &str, file: &Path) -> Result<Self> {
        parse_lines(text, file, "recipient").map(Self)
    }

    /// The text as an armoured age file.
    pub(super) fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>> {
        let recipients = self.0.iter().map(|recipient| recipient as &dyn age::Recipient);
        let encryptor = Encryptor::with_recipients(recipients)
            .map_err(|error| Error::packing(io::Error::other(error)))?;
        let encrypt = || {
            let armor = ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?;
            let mut writer = encryptor.wrap_output(armor)?;
            writer.write_all(plain)?;
            writer.finish()?.finish()
        };
        encrypt().map_err(Error::packing)
    }
}

impl Identities {
    /// Reads the text of a file; its name is for messages.
    pub fn parse(text: &str, file: &Path) -> Result<Self> {
        parse_lines(text, file, "identity").map(|identities| Self(identities.into()))
    }

    /// What an age file holds, armoured or not. The reader fails if the file was changed.
    pub(super) fn decrypt<'a>(
        &self,
        secret: impl Read + 'a,
    ) -> Result<impl Read + 'a, age::DecryptError> {
        let decryptor = Decryptor::new_buffered(ArmoredReader::new(io::BufReader::new(secret)))?;
        decryptor.decrypt(self.0.iter().map(|identity| identity as &dyn age::Identity))
    }
}

/// One key a line; blank lines and comments are skipped. No message quotes a line: it may be secret.
fn parse_lines<K: FromStr>(text: &str, file: &Path, kind: &'static str) -> Result<Vec<K>> {
    let mut keys = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = line.parse().map_err(|_| Error::InvalidKey {
            kind,
            file: file.to_owned(),
            line: number,
        })?;
        keys.push(key);
    }
    if keys.is_empty() {
        return Err(Error::InvalidKey { kind, file: file.to_owned(), line: 0 });
    }
    Ok(keys)
}

impl fmt::Debug for Recipients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipients({})", self.0.len())
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identities({})", self.0.len())
    }
}
