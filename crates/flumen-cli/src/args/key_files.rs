//! Small files that options name: keys, passwords and trusted roots.

use std::{io, path::Path};

use flumen_sign::{KeyError, Password, PrivateKey, PublicKey, TrustedRoot};

use crate::{
    args::env,
    error::{CommandError, Failure},
};

/// A key has a few kilobytes, a trusted root with all its certificates some ten.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn public_key(path: &Path) -> Result<PublicKey, CommandError> {
    PublicKey::from_pem(&read_text(path)?).map_err(|error| unusable(path, &error))
}

/// Reads a private key, whose password is in a file or in the environment.
pub(crate) fn private_key(
    path: &Path,
    password_file: Option<&Path>,
) -> Result<PrivateKey, CommandError> {
    let password = password(password_file)?;
    PrivateKey::from_pem(&read_text(path)?, password.as_ref())
        .map_err(|error| unusable(path, &error))
}

/// Returns the password from a file, or else from the environment.
pub(crate) fn password(file: Option<&Path>) -> Result<Option<Password>, CommandError> {
    let Some(file) = file else { return Ok(env::cosign_password()) };
    // Editors end a file with a line break, which is not part of the password.
    let text = read_text(file)?;
    Ok(Some(Password::new(text.trim_end_matches(['\r', '\n']))))
}

pub(crate) fn trusted_root(path: &Path) -> Result<TrustedRoot, CommandError> {
    TrustedRoot::from_json(&read_text(path)?)
        .map_err(|error| CommandError::failure(format!("`{}`: {error}", path.display())))
}

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    flumen_fs::read_text(path, MAX_BYTES).map_err(|error| unreadable(path, &error))
}

/// Reads a text file, if it exists.
pub(crate) fn read_text_if_any(path: &Path) -> Result<Option<String>, CommandError> {
    match flumen_fs::read_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failure(format!("cannot read `{}`: {error}", path.display()))
}

fn unusable(path: &Path, error: &KeyError) -> CommandError {
    let failure = Failure::new(format!("`{}`: {error}", path.display()));
    match error.hint() {
        Some(hint) => failure.hint(hint).into(),
        None => failure.into(),
    }
}
