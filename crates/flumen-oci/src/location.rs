//! Where artifacts are, as people write it: on a registry, in a directory or in a tar file.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{Digest, Error, Reference, Result, Target, reference::is_tag};

const ARCHIVE_SCHEME: &str = "oci-archive:";
const LAYOUT_SCHEME: &str = "oci-layout:";
const REGISTRY_SCHEME: &str = "oci://";
const ARCHIVE_EXTENSION: &str = "tar";

/// `oci://host/path:tag`, `./directory:tag` or `file.tar:tag`, each with a digest if one is given.
///
/// A path begins with `/` or `.` or ends in `.tar`, so that the name of a host whose scheme was forgotten
/// is not taken for one. `oci-layout:` and `oci-archive:` go before any other path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Registry(Reference),
    Disk(OnDisk),
}

/// A layout on disk and, if they are given, a tag and a digest in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    pub path: PathBuf,
    pub form: Form,
    pub tag: Option<String>,
    pub digest: Option<Digest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Directory,
    Archive,
}

impl Location {
    pub fn tag(&self) -> Option<&str> {
        match self {
            Self::Registry(reference) => reference.tag.as_deref(),
            Self::Disk(disk) => disk.tag.as_deref(),
        }
    }

    pub const fn digest(&self) -> Option<&Digest> {
        match self {
            Self::Registry(reference) => reference.digest.as_ref(),
            Self::Disk(disk) => disk.digest.as_ref(),
        }
    }

    /// What it names: the digest before the tag.
    pub fn target(&self) -> Option<Target> {
        let digest = self.digest().cloned().map(Target::Digest);
        digest.or_else(|| Some(Target::Tag(self.tag()?.to_owned())))
    }

    /// The same place with this tag and no digest.
    #[must_use]
    pub fn with_tag(&self, tag: Option<&str>) -> Self {
        let mut place = self.clone();
        let (old_tag, digest) = match &mut place {
            Self::Registry(reference) => (&mut reference.tag, &mut reference.digest),
            Self::Disk(disk) => (&mut disk.tag, &mut disk.digest),
        };
        *old_tag = tag.map(str::to_owned);
        *digest = None;
        place
    }
}

impl FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.starts_with(REGISTRY_SCHEME) {
            return text.parse().map(Self::Registry);
        }
        if let Some(rest) = text.strip_prefix(ARCHIVE_SCHEME) {
            return OnDisk::parse(rest, Some(Form::Archive)).map(Self::Disk);
        }
        if let Some(rest) = text.strip_prefix(LAYOUT_SCHEME) {
            return OnDisk::parse(rest, Some(Form::Directory)).map(Self::Disk);
        }
        let disk = OnDisk::parse(text, None)?;
        let is_path = text.starts_with('.') || disk.path.is_absolute();
        if is_path || disk.form == Form::Archive {
            return Ok(Self::Disk(disk));
        }
        Err(Error::InvalidLocation { text: text.to_owned() })
    }
}

impl OnDisk {
    fn parse(text: &str, form: Option<Form>) -> Result<Self> {
        let (rest, digest) = match text.rsplit_once('@') {
            Some((rest, digest)) if digest.contains(':') => (rest, Some(digest.parse()?)),
            _ => (text, None),
        };
        let (path, tag) = match rest.rsplit_once(':') {
            Some((path, tag)) if is_tag(tag) => (path, Some(tag.to_owned())),
            _ => (rest, None),
        };
        if path.is_empty() {
            return Err(Error::InvalidLocation { text: text.to_owned() });
        }
        let path = PathBuf::from(path);
        let form = form.unwrap_or_else(|| form_of(&path));
        Ok(Self { path, form, tag, digest })
    }
}

fn form_of(path: &Path) -> Form {
    match path.extension() {
        Some(extension) if extension == ARCHIVE_EXTENSION => Form::Archive,
        _ => Form::Directory,
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(reference) => reference.fmt(f),
            Self::Disk(disk) => disk.fmt(f),
        }
    }
}

impl fmt::Display for OnDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, path: &str, form: Form, tag: Option<&str>) {
        let Location::Disk(disk) = text.parse().expect(text) else { panic!("{text}: on disk") };
        assert_eq!(
            (disk.path.as_path(), disk.form, disk.tag.as_deref()),
            (Path::new(path), form, tag),
            "{text}"
        );
    }

    #[test]
    fn paths_are_told_from_registries() {
        check("./bundle", "./bundle", Form::Directory, None);
        check("../bundle:v1", "../bundle", Form::Directory, Some("v1"));
        check("/srv/bundle:v1", "/srv/bundle", Form::Directory, Some("v1"));
        check("bundle.tar", "bundle.tar", Form::Archive, None);
        check("a/bundle.tar:v1", "a/bundle.tar", Form::Archive, Some("v1"));
        check("oci-archive:bundle:v1", "bundle", Form::Archive, Some("v1"));
        check("oci-layout:bundle.tar", "bundle.tar", Form::Directory, None);
        let digest = Digest::of(b"");
        let pinned: Location = format!("./bundle:v1@{digest}").parse().expect("both");
        assert_eq!(pinned.target(), Some(Target::Digest(digest)));
        assert_eq!(pinned.tag(), Some("v1"));
        assert!(matches!("oci://host/app:v1".parse(), Ok(Location::Registry(_))));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "bundle", "host/app:v1", "https://host/app", "./a@sha256:00", "oci-layout:"]
        {
            assert!(text.parse::<Location>().is_err(), "{text:?}");
        }
    }
}
