//! Which components a command is about.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use clap::Args;
use flumen_pipeline::config::{Component, Components, ConfigError};

use crate::{
    error::{CommandError, Failure},
    ui::Ui,
};

#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Names of components; all if none is given
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Directory of the component files
    #[arg(short, long = "dir", value_name = "DIR", default_value = "components")]
    dir: PathBuf,
}

impl Selection {
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The components that were asked for; fails if any of them has a mistake.
    pub(super) fn load(&self, ui: &Ui) -> Result<Vec<Component>, CommandError> {
        let (components, errors) = self.load_what_is_right(ui)?;
        tell(&errors, ui)?;
        Ok(components)
    }

    /// All components, without which those that were asked for have no order, and the names of these.
    pub(super) fn load_all(
        &self,
        ui: &Ui,
    ) -> Result<(BTreeMap<String, Component>, BTreeSet<String>), CommandError> {
        let loaded = self.read()?;
        tell(&loaded.errors, ui)?;
        if let Some(name) = self.names.iter().find(|name| !loaded.components.contains_key(*name)) {
            return Err(unknown(name, &loaded));
        }
        let selected: BTreeSet<String> = match self.names.as_slice() {
            [] => loaded.components.keys().cloned().collect(),
            names => names.iter().cloned().collect(),
        };
        Ok((loaded.components, selected))
    }

    fn read(&self) -> Result<Components, CommandError> {
        let loaded = Components::load(&self.dir).map_err(|error| {
            Failure::chain(&error).hint("`-d DIR` names the directory of the component files")
        })?;
        if loaded.components.is_empty() && loaded.errors.is_empty() {
            let message = format!("no component files in `{}`", self.dir.display());
            return Err(Failure::new(message)
                .hint("component files end in .toml or .json; `-d DIR` names their directory")
                .into());
        }
        Ok(loaded)
    }

    /// The components that were asked for, as far as they are right, and what is wrong with others.
    pub(super) fn load_what_is_right(
        &self,
        ui: &Ui,
    ) -> Result<(Vec<Component>, Vec<ConfigError>), CommandError> {
        let mut loaded = self.read()?;
        if self.names.is_empty() {
            return Ok((loaded.components.into_values().collect(), loaded.errors));
        }
        let mut selected: Vec<Component> = Vec::new();
        for name in &self.names {
            match loaded.components.remove(name) {
                Some(component) => selected.push(component),
                None if selected.iter().any(|other| other.name() == name) => {}
                None => {
                    // The missing one may be in a file that has a mistake.
                    tell(&loaded.errors, ui)?;
                    return Err(unknown(name, &loaded));
                }
            }
        }
        Ok((selected, Vec::new()))
    }
}

/// Reports mistakes; the last of them is the failure of the command.
pub(super) fn tell(errors: &[ConfigError], ui: &Ui) -> Result<(), CommandError> {
    let Some((last, others)) = errors.split_last() else { return Ok(()) };
    for error in others {
        let _ = CommandError::from(error.clone()).report(ui);
    }
    Err(last.clone().into())
}

fn unknown(name: &str, loaded: &Components) -> CommandError {
    let names = loaded.components.keys().map(String::as_str);
    let failure = Failure::new(format!("there is no component `{name}`"));
    match flumen_expr::nearest(name, names) {
        Some(similar) => failure.hint(format!("did you mean `{similar}`?")).into(),
        None => failure.hint("`flumen component list` shows what there is").into(),
    }
}
