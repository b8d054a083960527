//! One module for each subcommand.

pub(crate) mod build;
pub(crate) mod completion;
pub(crate) mod version;

use crate::{
    cli::{Cli, Command},
    error::CommandError,
    ui::Ui,
};

pub(crate) fn run(cli: &Cli, ui: &Ui) -> Result<(), CommandError> {
    match &cli.command {
        Command::Build(args) => build::run(args, ui),
        Command::Completion(args) => completion::run(args, ui),
        Command::Version(args) => version::run(args, ui),
    }
}
