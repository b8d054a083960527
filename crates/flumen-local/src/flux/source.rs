//! Directories of this machine that are served as sources.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use flumen_controller::{GIT_REPOSITORY, Key, OCI_REPOSITORY};
use flumen_object::Object;
use serde_json::json;

use super::{NAMESPACE, NOWHERE, bootstrap::objects_of_json};
use crate::{DeliveryError, directory_name};

/// A directory and the source that is served from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSource {
    /// Namespace and name of a source that exists in a repository.
    named: Option<(String, String)>,
    directory: PathBuf,
}

impl LocalSource {
    /// Parses `DIR` or `NAMESPACE/NAME=DIR`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((name, directory)) = text.split_once('=') else {
            return Ok(Self { named: None, directory: PathBuf::from(text) });
        };
        match name.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => Ok(Self {
                named: Some((namespace.to_owned(), name.to_owned())),
                directory: PathBuf::from(directory),
            }),
            _ => Err("expected `DIR` or `NAMESPACE/NAME=DIR`".to_owned()),
        }
    }

    /// Parses `NAMESPACE/NAME=DIR`, for callers that create no sources.
    pub fn parse_named(text: &str) -> Result<Self, String> {
        Self::parse(text)?.only_named()
    }

    fn only_named(self) -> Result<Self, String> {
        self.named.as_ref().ok_or("expected `NAMESPACE/NAME=DIR`")?;
        Ok(self)
    }

    /// Whether the source exists in a repository.
    pub fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// Adds the source, under both kinds that it can have.
    pub fn add_to(&self, sources: &mut BTreeMap<Key, PathBuf>) -> Result<(), DeliveryError> {
        if !self.directory.is_dir() {
            return Err(DeliveryError::NotADirectory { path: self.directory.clone() });
        }
        let (namespace, name) = self.name();
        for kind in [&GIT_REPOSITORY, &OCI_REPOSITORY] {
            sources.insert(Key::new(kind, &namespace, &name), self.directory.clone());
        }
        Ok(())
    }

    /// Returns the source as an object, if it is in no repository.
    pub(super) fn mirror(&self) -> Result<Option<Object>, DeliveryError> {
        if self.named.is_some() {
            return Ok(None);
        }
        let (namespace, name) = self.name();
        let source = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"interval": "10m", "url": format!("{NOWHERE}/{name}")},
        });
        Ok(objects_of_json(&source.to_string())?.into_iter().next())
    }

    fn name(&self) -> (String, String) {
        let after_directory = |directory: &Path| (NAMESPACE.to_owned(), directory_name(directory));
        self.named.clone().unwrap_or_else(|| after_directory(&self.directory))
    }
}

/// As [`LocalSource::parse`] reads it.
impl fmt::Display for LocalSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((namespace, name)) = &self.named {
            write!(f, "{namespace}/{name}=")?;
        }
        write!(f, "{}", self.directory.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_for_a_source_of_its_name_or_of_another() {
        let check = |text: &str, namespace: &str, name: &str, is_made: bool| {
            let source = LocalSource::parse(text).expect(text);
            assert_eq!(source.name(), (namespace.to_owned(), name.to_owned()), "{text}");
            assert_eq!(source.mirror().expect("objects").is_some(), is_made, "{text}");
            assert_eq!(LocalSource::parse_named(text).is_err(), is_made, "{text}");
        };
        check("/srv/My_Shop", "flux-system", "my-shop", true);
        check("apps/podinfo=../podinfo", "apps", "podinfo", false);
        for wrong in ["podinfo=dir", "/x=dir", "apps/=dir"] {
            assert!(LocalSource::parse(wrong).is_err(), "{wrong}");
        }
    }
}
