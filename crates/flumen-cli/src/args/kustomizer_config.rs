//! kustomizer's configuration, so that inventories of kustomizer keep their field manager.
//!
//! ```yaml
//! apiVersion: kustomizer.dev/v1
//! kind: Config
//! fieldManager:
//!   name: kustomizer
//!   group: inventory.kustomizer.dev
//! ```
//!
//! `applyOrder` has no effect: objects are applied in stages, each in the usual order of kinds.

use std::path::Path;

use flumen_yaml::{Budget, Node};

use crate::{
    args::{env, key_files::read_text_if_any},
    error::{CommandError, Failure},
};

/// The name of the field manager, and the prefix of labels of applied objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldManager {
    pub(crate) name: String,
    pub(crate) group: String,
}

impl Default for FieldManager {
    fn default() -> Self {
        Self { name: "kustomizer".to_owned(), group: "inventory.kustomizer.dev".to_owned() }
    }
}

impl FieldManager {
    /// Returns the field manager of the user's configuration, or kustomizer's own.
    pub(crate) fn configured() -> Result<Self, CommandError> {
        let Some(path) = env::kustomizer_config() else { return Ok(Self::default()) };
        match read_text_if_any(&path)? {
            Some(text) => Self::read(&text, &path),
            None => Ok(Self::default()),
        }
    }

    fn read(text: &str, path: &Path) -> Result<Self, CommandError> {
        let failure = |problem: String| {
            Failure::new(format!("`{}`: {problem}", path.display()))
                .hint("`fieldManager` needs `name` and `group`; without the file, kustomizer's own names count")
        };
        let documents = flumen_yaml::read(&text.into(), 1, &Budget::default())
            .map_err(|error| failure(error.to_string()))?;
        let Some(manager) = documents.first().and_then(|config| config.get("fieldManager")) else {
            return Ok(Self::default());
        };
        let field = |key: &str| {
            let value = manager.get(key).and_then(Node::as_str).filter(|value| !value.is_empty());
            value
                .map(str::to_owned)
                .ok_or_else(|| failure(format!("`fieldManager.{key}` is empty")))
        };
        Ok(Self { name: field("name")?, group: field("group")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FieldManager, String> {
        FieldManager::read(text, Path::new("config")).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn a_manager_of_ones_own_is_taken_over() {
        let config = "kind: Config\nfieldManager: {name: shop, group: inv.shop.example.com}\n";
        let expected =
            FieldManager { name: "shop".to_owned(), group: "inv.shop.example.com".to_owned() };
        assert_eq!(read(config), Ok(expected));
    }

    #[test]
    fn without_one_it_is_that_of_kustomizer() {
        for text in ["", "kind: Config\n", "applyOrder: {first: [Namespace]}\n"] {
            assert_eq!(read(text), Ok(FieldManager::default()), "{text}");
        }
    }

    #[test]
    fn half_a_manager_is_refused() {
        for (text, problem) in [
            ("fieldManager: {name: shop}\n", "`fieldManager.group` is empty"),
            ("fieldManager: {group: g, name: ''}\n", "`fieldManager.name` is empty"),
            ("fieldManager: [\n", "yaml: "),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(problem), "{error}");
        }
    }
}
