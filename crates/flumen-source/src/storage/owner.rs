//! Whose artifact it is, and where it is published.

use std::{fmt, path::PathBuf};

use super::StorageError;

/// Directories of the storage itself.
pub(super) const BLOBS: &str = "blobs";
pub(super) const TREES: &str = "trees";
pub(super) const TEMPORARY: &str = "temp";

/// As long as Kubernetes allows names to be.
const MAX_NAME: usize = 253;
/// As long as file systems allow names to be.
const MAX_FILE_NAME: usize = 255;

/// The object that an artifact belongs to.
///
/// Its names become directories, so only names that stay one directory are taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The kind in lower case.
    kind: String,
    namespace: String,
    name: String,
}

impl Owner {
    pub fn new(kind: &str, namespace: &str, name: &str) -> Result<Self, StorageError> {
        let kind = kind.to_ascii_lowercase();
        let is_ours = [BLOBS, TREES, TEMPORARY].contains(&kind.as_str());
        if is_ours || kind.is_empty() || !kind.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(invalid("kind", &kind));
        }
        for (what, text) in [("namespace", namespace), ("name", name)] {
            if !is_object_name(text) {
                return Err(invalid(what, text));
            }
        }
        Ok(Self { kind, namespace: namespace.to_owned(), name: name.to_owned() })
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The path of one of its files below the root, as it is published.
    pub(super) fn path(&self, file_name: &str) -> Result<String, StorageError> {
        if !is_file_name(file_name) {
            return Err(invalid("file name", file_name));
        }
        Ok(format!("{self}/{file_name}"))
    }

    /// Its directory below the root.
    pub(super) fn directory(&self) -> PathBuf {
        [&self.kind, &self.namespace, &self.name].into_iter().collect()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// Takes a published path apart. None if nothing can ever be published under it.
pub(super) fn parse_path(path: &str) -> Option<(Owner, &str)> {
    let mut parts = path.split('/');
    let (kind, namespace, name, file) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !is_file_name(file) || kind.bytes().any(|b| b.is_ascii_uppercase())
    {
        return None;
    }
    Some((Owner::new(kind, namespace, name).ok()?, file))
}

/// A name as the API server takes it: it cannot be a path.
fn is_object_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| is_inner(byte) || b"-.".contains(&byte))
        && name.bytes().next().is_some_and(is_inner)
        && name.bytes().last().is_some_and(is_inner)
}

/// `<digest>.tar.gz` and the like, never hidden.
fn is_file_name(name: &str) -> bool {
    (1..=MAX_FILE_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:+@".contains(&byte))
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

fn invalid(what: &'static str, text: &str) -> StorageError {
    StorageError::InvalidName { what, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_directory() {
        for (kind, namespace, name) in [
            ("gitrepository", "..", "app"),
            ("gitrepository", "default", ".."),
            ("gitrepository", "default", "a/b"),
            ("gitrepository", "default", "a\0b"),
            ("gitrepository", "default", "a\\b"),
            ("gitrepository", "", "app"),
            ("gitrepository", "default", ".hidden"),
            ("../etc", "default", "app"),
            ("", "default", "app"),
            (BLOBS, "default", "app"),
            ("Trees", "default", "app"),
            (TEMPORARY, "default", "app"),
        ] {
            assert!(Owner::new(kind, namespace, name).is_err(), "{kind}/{namespace}/{name}");
        }
        assert!(Owner::new("GitRepository", "default", &"a".repeat(254)).is_err());
        let owner = Owner::new("GitRepository", "default", "app").expect("valid");
        assert_eq!(owner.path("1.tar.gz").expect("valid"), "gitrepository/default/app/1.tar.gz");
        for file in ["", ".", "..", "../x", "a/b", ".lock", "a b", "a\n"] {
            assert!(owner.path(file).is_err(), "{file:?}");
        }
    }

    #[test]
    fn published_paths_have_four_parts() {
        let path = "ocirepository/default/app/sha256:0a.tar.gz";
        let (owner, file) = parse_path(path).expect("a path");
        assert_eq!(owner.path(file).expect("the same"), path);
        for path in [
            "",
            "/",
            "blobs/sha256/00",
            "blobs/sha256/00/11",
            "trees/sha256/00/x.yaml",
            "gitrepository/default/app",
            "gitrepository/default/app/",
            "gitrepository/default/app/a/b",
            "gitrepository/default/../default/app",
            "GitRepository/default/app/a.tar.gz",
            "/gitrepository/default/app/a.tar.gz",
        ] {
            assert!(parse_path(path).is_none(), "{path:?}");
        }
    }
}
