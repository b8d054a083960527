//! `flumen component`: from component files to artifacts, and from there to clusters.

mod build;
mod deploy;
mod deploy_progress;
mod drift;
mod history;
mod interrupt;
mod list;
mod progress;
mod registries;
mod rollback;
mod run;
mod selection;
mod show;
mod site;
mod sync;
mod teardown;
mod terminal;
mod validate;

use clap::{Args, Subcommand};

use self::{
    build::BuildArgs, deploy::DeployArgs, drift::DriftArgs, history::HistoryArgs, list::ListArgs,
    rollback::RollbackArgs, show::ShowArgs, sync::SyncArgs, teardown::TeardownArgs,
    validate::ValidateArgs,
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
    Deploy(Box<DeployArgs>),
    Drift(Box<DriftArgs>),
    History(Box<HistoryArgs>),
    List(ListArgs),
    Rollback(Box<RollbackArgs>),
    Show(ShowArgs),
    Sync(Box<SyncArgs>),
    Teardown(Box<TeardownArgs>),
    Validate(ValidateArgs),
}

pub(crate) fn run(args: &ComponentArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Build(args) => build::run(args, ui),
        What::Deploy(args) => deploy::run(args, ui),
        What::Drift(args) => drift::run(args, ui),
        What::History(args) => history::run(args, ui),
        What::List(args) => list::run(args, ui),
        What::Rollback(args) => rollback::run(args, ui),
        What::Show(args) => show::run(args, ui),
        What::Sync(args) => sync::run(args, ui),
        What::Teardown(args) => teardown::run(args, ui),
        What::Validate(args) => validate::run(args, ui),
    }
}
