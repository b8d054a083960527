//! Reads artifacts of every format: as one text, or into a directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use flumen_archive::{Budget, Directory, FileEntry, Sink as _};

use super::{
    About, Identities,
    checksum::Checksummed,
    layer::name_of,
    pack::FILE,
    read::{Found, Layout},
};
use crate::{Digest, Error, RawManifest, Repository, Result, Target, Watch};

/// Nobody else needs to read what was encrypted.
const SECRET_MODE: u32 = 0o600;

/// What a reader is given beside the artifact's name.
#[derive(Clone, Debug, Default)]
pub struct PullOptions {
    pub budget: Budget,
    /// Keys for artifacts that are encrypted.
    pub identities: Option<Identities>,
    /// Who is told how far it is.
    pub watch: Watch,
}

/// An artifact that was read and checked.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// What the tag or digest names: the manifest below, or an index that lists it.
    pub digest: Digest,
    pub manifest: RawManifest,
    pub about: About,
    /// All manifests as one multi-document YAML text.
    pub yaml: Bytes,
}

/// An artifact that was unpacked.
#[derive(Clone, Debug)]
pub struct PulledFiles {
    /// What the tag or digest names.
    pub digest: Digest,
    pub about: About,
    /// Paths relative to the directory, in the order of the archive.
    pub files: Vec<PathBuf>,
}

/// Reads an artifact of any format as manifests.
pub async fn pull(from: &Repository, target: &Target, options: &PullOptions) -> Result<Pulled> {
    let found = Found::resolve(from, target).await?;
    let yaml = found.plain_text(from, options).await?;
    let about = About::new(&found.manifest, &found.layout);
    Ok(Pulled { digest: found.digest, manifest: found.raw, about, yaml: yaml.into() })
}

/// Unpacks an artifact into a directory that exists.
///
/// All of it is unpacked beside its place and checked before anything moves, so a refusal leaves the
/// directory as it was, and files that are there are replaced by complete ones.
pub async fn pull_to_dir(
    from: &Repository,
    target: &Target,
    dir: &Path,
    options: &PullOptions,
) -> Result<PulledFiles> {
    let unusable = |source| Error::Io { path: dir.to_owned(), source };
    if !fs::metadata(dir).map_err(unusable)?.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let found = Found::resolve(from, target).await?;
    let staging = tempfile::Builder::new().prefix(".flumen-").tempdir_in(dir).map_err(unusable)?;
    let mut content = Directory::new(staging.path().to_owned());
    let digest = found.raw.digest();
    match &found.layout {
        Layout::Text { is_encrypted: true, .. } => {
            let plain = found.plain_text(from, options).await?;
            let entry = FileEntry { path: Path::new(FILE), mode: SECRET_MODE };
            content.file(&entry, &mut &*plain).map_err(unusable)?;
        }
        Layout::Text { checksum, .. } => {
            let read = found.read(from, options, Checksummed::new(content)).await?;
            let (unpacked, actual) = read.finish();
            check(&actual, checksum, digest)?;
            content = unpacked;
        }
        _ => content = found.read(from, options, content).await?,
    }
    if content.files().is_empty() {
        return Err(Error::NotManifests { digest: digest.clone(), found: "empty".to_owned() });
    }
    content.settle(&name_of(digest))?;
    move_tree(staging.path(), dir)?;
    Ok(PulledFiles {
        digest: found.digest,
        about: About::new(&found.manifest, &found.layout),
        files: content.files().to_vec(),
    })
}

impl Found {
    /// The text of all manifests, decrypted and compared with its checksum.
    async fn plain_text(&self, from: &Repository, options: &PullOptions) -> Result<Vec<u8>> {
        let identities = match &self.layout {
            Layout::Text { is_encrypted: true, .. } => {
                Some(options.identities.as_ref().ok_or(Error::Encrypted)?)
            }
            _ => None,
        };
        let digest = self.raw.digest();
        let nothing =
            |found: &str| Error::NotManifests { digest: digest.clone(), found: found.to_owned() };
        let text = self.text(from, options).await?;
        if !text.has_files() {
            return Err(nothing("empty"));
        }
        let mut text = text.finish().ok_or_else(|| nothing("a tree without manifests"))?;
        if let Some(identities) = identities {
            text = decrypt(&text, identities, digest)?;
        }
        if let Layout::Text { checksum, .. } = &self.layout {
            check(&Digest::of(&text), checksum, digest)?;
        }
        Ok(text)
    }
}

fn decrypt(secret: &[u8], identities: &Identities, digest: &Digest) -> Result<Vec<u8>> {
    identities.decrypt(secret).map_err(|reason| Error::Undecryptable {
        digest: digest.clone(),
        reason: reason.to_owned(),
    })
}

fn check(actual: &Digest, checksum: &str, digest: &Digest) -> Result<()> {
    if actual.hex() != checksum {
        return Err(Error::ChecksumMismatch { digest: digest.clone() });
    }
    Ok(())
}

/// Moves what is in one directory into another, after making sure that all of it can.
fn move_tree(from: &Path, to: &Path) -> Result<()> {
    let mut moves = Vec::new();
    plan(from, to, &mut moves)?;
    for (old, new) in moves {
        fs::rename(&old, &new).map_err(|source| Error::Io { path: new, source })?;
    }
    Ok(())
}

/// A directory that is there is entered, anything else is replaced or created. Links in the target
/// are replaced, never followed.
fn plan(from: &Path, to: &Path, moves: &mut Vec<(PathBuf, PathBuf)>) -> Result<()> {
    let unusable = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| Error::Io { path, source }
    };
    for entry in fs::read_dir(from).map_err(unusable(from))? {
        let entry = entry.map_err(unusable(from))?;
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        let is_dir = entry.file_type().map_err(unusable(&old))?.is_dir();
        let there = match fs::symlink_metadata(&new) {
            Ok(there) => Some(there.file_type()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(&new)(error)),
        };
        match there {
            Some(there) if is_dir && there.is_dir() => plan(&old, &new, moves)?,
            Some(there) if is_dir != there.is_dir() => {
                return Err(unusable(&new)(io::ErrorKind::AlreadyExists.into()));
            }
            _ => moves.push((old, new)),
        }
    }
    Ok(())
}
