//! `flumen delete artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Delete
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Delete an artifact
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &DeleteArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
