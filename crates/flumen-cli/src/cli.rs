//! The command line as it is typed.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Parser, Subcommand};

use crate::{
    commands::{
        apiserver::ApiserverArgs, apply::ApplyArgs, build::BuildArgs, cache::CacheArgs,
        completion::CompletionArgs, component::ComponentArgs, controller::ControllerArgs,
        copy::CopyArgs, delete::DeleteArgs, diff::DiffArgs, down::DownArgs, events::EventsArgs,
        get::GetArgs, history::HistoryArgs, inspect::InspectArgs, list::ListArgs, plan::PlanArgs,
        pull::PullArgs, push::PushArgs, reconcile::ReconcileArgs, registry::RegistryArgs,
        reset::ResetArgs, resume::ResumeArgs, rollback::RollbackArgs, sign::SignArgs,
        status::StatusArgs, suspend::SuspendArgs, tag::TagArgs, tree::TreeArgs, up::UpArgs,
        verify::VerifyArgs, version::VersionArgs, wait::WaitArgs,
    },
    error::CommandError,
    flux::usage,
    leading_options,
    printable::is_unsafe,
};

/// Longer arguments are cut where a message quotes them.
const MAX_QUOTED: usize = 1 << 10;

/// Delivery engine for Kubernetes
///
/// Builds manifests from kustomizations, packs them into artifacts, and brings them to clusters.
#[derive(Debug, Parser)]
#[command(name = "flumen", version, disable_help_subcommand = true)]
#[command(
    after_help = "Run `flumen <COMMAND> --help` for the options of a command. They may stand before it, too."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Apiserver(ApiserverArgs),
    Apply(Box<ApplyArgs>),
    Build(Box<BuildArgs>),
    Cache(CacheArgs),
    Completion(CompletionArgs),
    Component(ComponentArgs),
    Controller(Box<ControllerArgs>),
    Copy(CopyArgs),
    Delete(DeleteArgs),
    Diff(Box<DiffArgs>),
    Down(DownArgs),
    Events(Box<EventsArgs>),
    Get(Box<GetArgs>),
    History(Box<HistoryArgs>),
    Inspect(InspectArgs),
    List(ListArgs),
    Plan(Box<PlanArgs>),
    Pull(PullArgs),
    Push(PushArgs),
    Reconcile(Box<ReconcileArgs>),
    Registry(RegistryArgs),
    Reset(ResetArgs),
    Resume(Box<ResumeArgs>),
    Rollback(Box<RollbackArgs>),
    Sign(SignArgs),
    Status(StatusArgs),
    Suspend(Box<SuspendArgs>),
    Tag(TagArgs),
    Tree(Box<TreeArgs>),
    Up(Box<UpArgs>),
    Verify(VerifyArgs),
    Version(VersionArgs),
    Wait(WaitArgs),
}

/// The same with `build` alone. Scripts start it thousands of times, and describing all the other
/// commands would cost more than a small build does.
#[derive(Debug, Parser)]
#[command(name = "flumen", disable_help_subcommand = true)]
struct BuildCli {
    #[command(subcommand)]
    command: BuildCommand,
}

#[derive(Debug, Subcommand)]
enum BuildCommand {
    Build(Box<BuildArgs>),
}

impl Cli {
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, CommandError> {
        let args = leading_options::moved(args.collect(), Self::definition);
        let parsed = if args.get(1).is_some_and(|first| first == "build") {
            parse_as::<BuildCli>(definition::<BuildCli>(), &args).map(
                |BuildCli { command: BuildCommand::Build(args) }| Self {
                    command: Command::Build(args),
                },
            )
        } else {
            parse_as::<Self>(Self::definition(), &args)
        };
        parsed.map_err(|error| {
            if usage::is_flux(&args) {
                return usage::answer(&args, error, Self::definition());
            }
            // Help and version quote nothing.
            let quotes_safely = !error.use_stderr() || args.iter().all(is_safe);
            CommandError::Usage { error, quotes_safely }
        })
    }

    /// All commands.
    pub(crate) fn definition() -> clap::Command {
        usage::with_options_anywhere(definition::<Self>())
    }
}

fn parse_as<P: Parser>(definition: clap::Command, args: &[OsString]) -> Result<P, clap::Error> {
    let mut matches = definition.try_get_matches_from(args)?;
    P::from_arg_matches_mut(&mut matches)
}

/// What `P` derives, with switches of `build` that take a value as those of Go programs do.
fn definition<P: Parser>() -> clap::Command {
    P::command().mut_subcommand("build", |build| {
        build
            .mut_args(accept_value)
            .mut_subcommand("artifact", |artifact| artifact.mut_args(accept_value))
    })
}

/// Whether a message can quote the argument as it is.
fn is_safe(arg: &OsString) -> bool {
    arg.len() <= MAX_QUOTED && !arg.to_string_lossy().contains(is_unsafe)
}

/// Lets a switch be written `--switch=false` too, which scripts made for programs in Go may do.
pub(crate) fn accept_value(arg: Arg) -> Arg {
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        return arg;
    }
    arg.action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .default_value("false")
        .default_missing_value("true")
        .hide_default_value(true)
        .value_name("BOOL")
        .value_parser(parse_switch)
}

/// The spellings that Go's flag packages know.
pub(crate) fn parse_switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false"),
    }
}
