//! `flumen list artifacts`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// List what is there
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(alias = "artifact")]
    Artifacts(Box<ArtifactArgs>),
}

/// List the artifacts of a repository
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &ListArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifacts(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
