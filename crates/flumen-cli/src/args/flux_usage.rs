//! Usage errors as `flux` reports them: in one line, and with the help of a group whose command is missing or unknown.

use std::ffi::OsString;

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{args::switch::accept_value, error::CommandError};

/// Commands of Flux.
const COMMANDS: [&str; 6] = ["events", GET, "reconcile", "resume", "suspend", "tree"];
/// The command with kinds of our own, too.
const GET: &str = "get";
/// Kinds of `get` that Flux does not have.
const OURS: [&str; 3] = ["inventory", "inventories", "inv"];

/// A command of Flux in a group that is ours.
const BUILD_ARTIFACT: [&str; 2] = ["build", "artifact"];

/// Whether these arguments are those of a command of Flux.
pub(crate) fn is_flux(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default());
    if words.clone().take(2).eq(BUILD_ARTIFACT) {
        return true;
    }
    let command = words.next().unwrap_or_default();
    COMMANDS.contains(&command) && !(command == GET && words.any(|word| OURS.contains(&word)))
}

/// Accepts the options of these commands before and after the kind, and values of switches.
pub(crate) fn with_options_anywhere(command: Command) -> Command {
    if !COMMANDS.contains(&command.get_name()) {
        return command;
    }
    command.mut_args(|option| accept_value(option).global(true))
}

/// Turns a usage error into output or an error message; `definition` has all commands.
pub(crate) fn answer(args: &[OsString], error: clap::Error, definition: Command) -> CommandError {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            CommandError::Usage { error, quotes_safely: true }
        }
        ErrorKind::InvalidSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            CommandError::Help { text: group_help(args, definition) }
        }
        _ => CommandError::brief(words(args, &error)),
    }
}

/// Returns the help of the last command in the arguments.
fn group_help(args: &[OsString], mut definition: Command) -> String {
    definition.build();
    let mut group = &mut definition;
    for arg in args.iter().skip(1) {
        // Options and their values may stand between the words.
        let Some(name) = group.find_subcommand(arg).map(|found| found.get_name().to_owned()) else {
            continue;
        };
        match group.find_subcommand_mut(name) {
            Some(found) => group = found,
            None => return String::new(),
        }
    }
    group.render_help().to_string()
}

fn words(args: &[OsString], error: &clap::Error) -> String {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (option, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let option = option.split([' ', '=']).next().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => match option.strip_prefix('-') {
            Some(short) if !short.starts_with('-') => {
                let letter = short.chars().next().unwrap_or_default();
                format!("unknown shorthand flag: '{letter}' in {option}")
            }
            _ => format!("unknown flag: {option}"),
        },
        ErrorKind::InvalidValue if value.is_empty() => {
            // Only the last argument can lack its value, and it shows how the option was written.
            let last = args.last().map(|arg| arg.to_string_lossy()).unwrap_or_default();
            match last.strip_prefix('-') {
                Some(short) if !short.starts_with('-') => {
                    format!("flag needs an argument: '{short}' in {last}")
                }
                _ => format!("flag needs an argument: {option}"),
            }
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(|source| format!(": {source}"));
            let reason = reason.unwrap_or_default();
            format!("invalid argument {value:?} for {option:?} flag{reason}")
        }
        _ => first_line(error),
    }
}

/// Returns the message of the parser itself.
fn first_line(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let line = rendered.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
