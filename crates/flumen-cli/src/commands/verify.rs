//! `flumen verify artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Verify signatures
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Verify the signature of an artifact
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &VerifyArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
