//! Output for programs, as JSON or YAML.

use clap::ValueEnum;
use serde::Serialize;

use crate::{error::CommandError, ui::Ui, view::listing};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Structured {
    Json,
    Yaml,
}

impl Structured {
    pub(crate) fn print(self, answer: &impl Serialize, ui: &Ui) -> Result<(), CommandError> {
        let text = match self {
            Self::Json => listing::to_json(answer)?,
            Self::Yaml => listing::to_yaml(answer)?,
        };
        ui.data(text.as_bytes())
    }
}
