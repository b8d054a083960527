//! Registry credentials that component files refer to by name.

use std::{collections::BTreeMap, fs, path::Path};

use flumen_oci::client::Credentials;

use crate::{Error, Result, state::unusable};

/// Credentials by name, from a TOML file with lines like `ci = "user:password"`.
#[derive(Clone, Debug, Default)]
pub struct StoredCredentials {
    by_name: BTreeMap<String, Credentials>,
}

impl StoredCredentials {
    pub fn load(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|source| unusable(path, source))?;
        // What the reader says may quote a line, and with it a password.
        let texts: BTreeMap<String, String> = toml::from_str(&text)
            .map_err(|_| Error::InvalidCredentials { path: path.to_owned() })?;
        let parsed = texts.into_iter().map(|(name, text)| {
            let Ok(credentials) = text.parse();
            (name, credentials)
        });
        Ok(Self { by_name: parsed.collect() })
    }

    pub fn get(&self, name: &str) -> Result<Credentials> {
        let found = self.by_name.get(name).cloned();
        found.ok_or_else(|| Error::NoCredentials { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<StoredCredentials> {
        let file = tempfile::NamedTempFile::new().expect("file");
        fs::write(file.path(), text).expect("written");
        StoredCredentials::load(file.path())
    }

    #[test]
    fn credentials_are_found_by_name_and_never_shown() {
        let stored = load("ci = \"robot:s3cret\"\n").expect("credentials");
        let found = stored.get("ci").expect("they are there");
        assert!(!format!("{found:?} {stored:?}").contains("s3cret"));
        assert!(matches!(stored.get("other"), Err(Error::NoCredentials { .. })));
    }

    #[test]
    fn a_broken_file_is_not_quoted() {
        let error = load("ci = robot:s3cret\n").expect_err("no string");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}
