//! The command line as it is typed.

mod groups;

use std::ffi::OsString;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{
    args::{flux_usage, leading_options, switch::accept_value},
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
    view::printable::is_unsafe,
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

/// Declares the commands: as an enum for clap, and each by itself.
macro_rules! commands {
    ($($name:literal => $variant:ident($arguments:ty),)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $name)] $variant($arguments),)*
        }

        impl Command {
            /// Parses arguments that begin with the name of a command, and describes no other: a description of all
            /// of them costs more than a small build. `None` if there is no such command.
            fn parse_alone(args: &[OsString]) -> Option<Result<Self, clap::Error>> {
                match args.get(1)?.to_str()? {
                    $($name => Some(parse_as::<$arguments>($name, args).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    "apiserver" => Apiserver(ApiserverArgs),
    "apply" => Apply(Box<ApplyArgs>),
    "build" => Build(Box<BuildArgs>),
    "cache" => Cache(CacheArgs),
    "completion" => Completion(CompletionArgs),
    "component" => Component(ComponentArgs),
    "controller" => Controller(Box<ControllerArgs>),
    "copy" => Copy(CopyArgs),
    "delete" => Delete(DeleteArgs),
    "diff" => Diff(Box<DiffArgs>),
    "down" => Down(DownArgs),
    "events" => Events(Box<EventsArgs>),
    "get" => Get(Box<GetArgs>),
    "history" => History(Box<HistoryArgs>),
    "inspect" => Inspect(InspectArgs),
    "list" => List(ListArgs),
    "plan" => Plan(Box<PlanArgs>),
    "pull" => Pull(PullArgs),
    "push" => Push(PushArgs),
    "reconcile" => Reconcile(Box<ReconcileArgs>),
    "registry" => Registry(RegistryArgs),
    "reset" => Reset(ResetArgs),
    "resume" => Resume(Box<ResumeArgs>),
    "rollback" => Rollback(Box<RollbackArgs>),
    "sign" => Sign(SignArgs),
    "status" => Status(StatusArgs),
    "suspend" => Suspend(Box<SuspendArgs>),
    "tag" => Tag(TagArgs),
    "tree" => Tree(Box<TreeArgs>),
    "up" => Up(Box<UpArgs>),
    "verify" => Verify(VerifyArgs),
    "version" => Version(VersionArgs),
    "wait" => Wait(WaitArgs),
}

impl Cli {
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, CommandError> {
        let args = leading_options::moved(args.collect(), Self::definition);
        let parsed = match Command::parse_alone(&args) {
            Some(parsed) => parsed.map(|command| Self { command }),
            None => Self::parse_any(&args),
        };
        parsed.map_err(|error| {
            if flux_usage::is_flux(&args) {
                return flux_usage::answer(&args, error, Self::definition());
            }
            // Help and version quote nothing.
            let quotes_safely = !error.use_stderr() || args.iter().all(is_safe);
            CommandError::Usage { error, quotes_safely }
        })
    }

    fn parse_any(args: &[OsString]) -> Result<Self, clap::Error> {
        let mut matches = Self::definition().try_get_matches_from(args)?;
        Self::from_arg_matches_mut(&mut matches)
    }

    /// All commands.
    pub(crate) fn definition() -> clap::Command {
        groups::with_headings(Self::command().mut_subcommands(adapted))
    }
}

/// Parses the arguments of one command, its name included.
fn parse_as<A: Args>(name: &'static str, args: &[OsString]) -> Result<A, clap::Error> {
    let command = adapted(A::augment_args(clap::Command::new(name)));
    let program = clap::Command::new("flumen").disable_help_subcommand(true).subcommand(command);
    let mut matches = program.try_get_matches_from(args)?;
    let (_, mut matches) = matches.remove_subcommand().unwrap_or_default();
    A::from_arg_matches_mut(&mut matches)
}

/// The command as it is derived, with switches that take a value as those of Go programs do where users of such
/// programs expect that.
fn adapted(command: clap::Command) -> clap::Command {
    if command.get_name() == "build" {
        return command
            .mut_args(accept_value)
            .mut_subcommand("artifact", |artifact| artifact.mut_args(accept_value));
    }
    flux_usage::with_options_anywhere(command)
}

/// Whether a message can quote the argument as it is.
fn is_safe(arg: &OsString) -> bool {
    arg.len() <= MAX_QUOTED && !arg.to_string_lossy().contains(is_unsafe)
}
