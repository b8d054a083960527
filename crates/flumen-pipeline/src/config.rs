//! Component files: what they may say, and what they say.
//!
//! ```text
//! *.toml, *.json ─▶ read (keys, places) ─▶ unknown_keys ─▶ rules ─▶ Component
//! ```
//!
//! A mistake in one file does not hide the others: [`Components::load`] hands back what is right and
//! what is wrong.

mod component;
mod error;
mod format;
mod places;
mod read;
mod rules;
mod unknown_keys;

use std::{collections::BTreeMap, path::Path};

use flumen_fs::{Bounds, DiskTree, FsError, Tree};
use flumen_yaml::Pos;

use self::read::Form;

pub(crate) use self::{format::schema_of, places::Places, read::TomlFile, rules::is_name};

pub use self::{
    component::{Component, Inline, Kustomize, OciArtifact, RepositorySource, Source},
    error::ConfigError,
    format::{
        ComponentFile, HealthTable, KustomizeTable, LoadRestrictor, OciArtifactTable, RepoTable,
        schema,
    },
    rules::parse_duration,
};

/// No configuration is larger; manifests that are stand in files of their own.
const MAX_FILE: usize = 4 << 20;
const MAX_FILES: usize = 10_000;

/// The components of a directory.
#[derive(Debug, Default)]
pub struct Components {
    /// Those without a mistake, by name.
    pub components: BTreeMap<String, Component>,
    /// What is wrong with the others, in the order of the files.
    pub errors: Vec<ConfigError>,
}

impl Components {
    /// Reads every component file of a directory.
    pub fn load(dir: &Path) -> Result<Self, FsError> {
        let mut loaded = Self::default();
        let names = DiskTree.list(dir)?;
        let files = names.iter().map(|name| dir.join(name)).filter_map(|path| {
            let form = Form::of(&path)?;
            Some((path, form))
        });
        for (count, (path, form)) in files.enumerate() {
            if count == MAX_FILES {
                let message = format!("there are more than {MAX_FILES} component files");
                loaded.errors.push(ConfigError::new(&path, Pos::default(), message));
                break;
            }
            match load_file(&path, form) {
                Ok(component) => loaded.add(component),
                Err(error) => loaded.errors.push(error),
            }
        }
        Ok(loaded)
    }

    fn add(&mut self, component: Component) {
        match self.components.get(component.name()) {
            None => {
                self.components.insert(component.name().to_owned(), component);
            }
            Some(first) => {
                let message = format!("component `{}` is defined twice", component.name());
                let Pos { line, column } = first.name_pos;
                self.errors.push(
                    ConfigError::new(&component.file, component.name_pos, message)
                        .hint(format!("it is first at {}:{line}:{column}", first.file.display())),
                );
            }
        }
    }
}

fn load_file(path: &Path, form: Form) -> Result<Component, ConfigError> {
    let text = read_text(path)?;
    rules::check(path, read::parse(path, &text, form)?)
}

/// The text of a configuration file.
pub(crate) fn read_text(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |message: String| ConfigError::new(path, Pos::default(), message);
    let bytes =
        DiskTree.read(path, Bounds::Anywhere).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() > MAX_FILE {
        return Err(unreadable(format!("a configuration file has at most {MAX_FILE} bytes"))
            .hint("put a large manifest into a file and name it: manifest = \"./app.yaml\""));
    }
    String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests;
