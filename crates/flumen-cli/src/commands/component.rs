//! `flumen component`: from component files to artifacts.

mod build;
mod interrupt;
mod list;
mod progress;
mod registries;
mod selection;
mod show;
mod sync;
mod validate;

use clap::{Args, Subcommand};

use self::{
    build::BuildArgs, list::ListArgs, show::ShowArgs, sync::SyncArgs, validate::ValidateArgs,
};
use crate::{error::CommandError, ui::Ui};

/// Work with components
///
/// A component is a TOML or JSON file in the directory `components` that says where manifests come
/// from and how they are delivered.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ComponentArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Build(Box<BuildArgs>),
    List(ListArgs),
    Show(ShowArgs),
    Sync(Box<SyncArgs>),
    Validate(ValidateArgs),
}

pub(crate) fn run(args: &ComponentArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Build(args) => build::run(args, ui),
        What::List(args) => list::run(args, ui),
        What::Show(args) => show::run(args, ui),
        What::Sync(args) => sync::run(args, ui),
        What::Validate(args) => validate::run(args, ui),
    }
}
