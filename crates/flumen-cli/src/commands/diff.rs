//! `flumen diff artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Show differences
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Show how two artifacts differ
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &DiffArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
