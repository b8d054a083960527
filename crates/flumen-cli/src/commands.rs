//! One module for each subcommand.

pub(crate) mod apiserver;
pub(crate) mod apply;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod completion;
pub(crate) mod component;
pub(crate) mod controller;
pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod down;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod reconcile;
pub(crate) mod registry;
pub(crate) mod reset;
pub(crate) mod resume;
pub(crate) mod rollback;
pub(crate) mod sign;
pub(crate) mod status;
pub(crate) mod suspend;
pub(crate) mod tag;
pub(crate) mod tree;
pub(crate) mod up;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod wait;

use crate::{
    cli::{Cli, Command},
    error::CommandError,
    ui::Ui,
};

pub(crate) fn run(cli: &Cli, ui: &Ui) -> Result<(), CommandError> {
    match &cli.command {
        Command::Apiserver(args) => apiserver::run(args, ui),
        Command::Apply(args) => apply::run(args, ui),
        Command::Build(args) => build::run(args, ui),
        Command::Cache(args) => cache::run(args, ui),
        Command::Completion(args) => completion::run(args, ui),
        Command::Component(args) => component::run(args, ui),
        Command::Controller(args) => controller::run(args, ui),
        Command::Copy(args) => copy::run(args, ui),
        Command::Delete(args) => delete::run(args, ui),
        Command::Diff(args) => diff::run(args, ui),
        Command::Down(args) => down::run(args, ui),
        Command::Events(args) => events::run(args, ui),
        Command::Get(args) => get::run(args, ui),
        Command::History(args) => history::run(args, ui),
        Command::Inspect(args) => inspect::run(args, ui),
        Command::List(args) => list::run(args, ui),
        Command::Plan(args) => plan::run(args, ui),
        Command::Pull(args) => pull::run(args, ui),
        Command::Push(args) => push::run(args, ui),
        Command::Reconcile(args) => reconcile::run(args, ui),
        Command::Registry(args) => registry::run(args, ui),
        Command::Reset(args) => reset::run(args, ui),
        Command::Resume(args) => resume::run(args, ui),
        Command::Rollback(args) => rollback::run(args, ui),
        Command::Sign(args) => sign::run(args, ui),
        Command::Status(args) => status::run(args, ui),
        Command::Suspend(args) => suspend::run(args, ui),
        Command::Tag(args) => tag::run(args, ui),
        Command::Tree(args) => tree::run(args, ui),
        Command::Up(args) => up::run(args, ui),
        Command::Verify(args) => verify::run(args, ui),
        Command::Version(args) => version::run(args, ui),
        Command::Wait(args) => wait::run(args, ui),
    }
}
