//! Answers for programs: JSON or YAML of the same fields.

use clap::ValueEnum;
use flumen_yaml::{Budget, Text};
use serde::Serialize;

use crate::{error::CommandError, ui::Ui};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Structured {
    Json,
    Yaml,
}

impl Structured {
    pub(crate) fn print(self, answer: &impl Serialize, ui: &Ui) -> Result<(), CommandError> {
        let unprintable = |error: &dyn ToString| CommandError::failure(error.to_string());
        let mut json = serde_json::to_string_pretty(answer).map_err(|error| unprintable(&error))?;
        json.push('\n');
        if self == Self::Json {
            return ui.data(json.as_bytes());
        }
        // JSON is YAML, and our writer knows how people write it.
        let mut yaml = Vec::new();
        let nodes = flumen_yaml::read(&Text::from(json), 1, &Budget::default());
        for node in nodes.map_err(|error| unprintable(&error))? {
            flumen_yaml::emit(&node, &mut yaml).map_err(|error| unprintable(&error))?;
        }
        ui.data(&yaml)
    }
}
