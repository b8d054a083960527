//! `flumen tag artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Add tags
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Add tags to an artifact
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &TagArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
