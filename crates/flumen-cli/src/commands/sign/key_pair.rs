//! `flumen sign generate-key-pair`.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use flumen_sign::{Password, PrivateKey};

use crate::{
    args::key_files,
    error::{CommandError, Failure},
    ui::Ui,
};

const PRIVATE: u32 = 0o600;
const PUBLIC: u32 = 0o644;

/// Make a key pair to sign with
///
/// Writes PREFIX.key, encrypted with the password, and PREFIX.pub. Without a password the encryption
/// protects nothing. Files that exist are never replaced.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Example:
  COSIGN_PASSWORD=… flumen sign generate-key-pair --output-key-prefix release")]
pub(super) struct KeyPairArgs {
    /// Path of the two files, without what follows the dot
    #[arg(long, value_name = "PREFIX", default_value = "cosign")]
    output_key_prefix: PathBuf,

    /// File with the password; the default is the variable `COSIGN_PASSWORD`
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

pub(super) fn run(args: &KeyPairArgs, ui: &Ui) -> Result<(), CommandError> {
    let password = key_files::password(args.password_file.as_deref())?;
    if password.is_none() {
        ui.warnings(
            &["no password is given: everybody who can read the key can use it".to_owned()],
        );
    }
    let key = PrivateKey::generate().and_then(|key| {
        let text = key.to_encrypted_pem(&password.unwrap_or_else(|| Password::new([])))?;
        Ok((key, text))
    });
    let (key, text) =
        key.map_err(|error| CommandError::failure(format!("cannot make a key: {error}")))?;

    let private = with_suffix(&args.output_key_prefix, ".key");
    let public = with_suffix(&args.output_key_prefix, ".pub");
    create(&private, text.as_bytes(), PRIVATE)?;
    create(&public, key.public_key().to_pem().as_bytes(), PUBLIC).inspect_err(|_| {
        // Half of a pair is of no use, and would be in the way of the next try.
        let _ = fs::remove_file(&private);
    })?;
    for path in [private, public] {
        ui.success(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The prefix may have dots of its own, so this is not an extension.
fn with_suffix(prefix: &Path, suffix: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn create(path: &Path, content: &[u8], mode: u32) -> Result<(), CommandError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path).and_then(|mut file| file.write_all(content)).map_err(|error| {
        let path = path.display();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::new(format!("`{path}` exists already"))
                .hint("keys are never replaced; choose another `--output-key-prefix`")
                .into(),
            _ => CommandError::failure(format!("cannot write `{path}`: {error}")),
        }
    })
}
