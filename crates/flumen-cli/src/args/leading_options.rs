//! Options before the command, which `flux` and `kubectl` accept for options of all their commands.
//!
//! Here every option belongs to a command, so they are moved behind the command that takes them.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Returns the arguments with the command first. If no command accepts the options before it, the arguments stay
/// unchanged, and the parser reports the error.
pub(crate) fn moved(args: Vec<OsString>, definition: impl FnOnce() -> Command) -> Vec<OsString> {
    if !args.get(1).is_some_and(is_option) {
        return args;
    }
    let Some((command, place)) = find(&args, &definition()) else { return args };
    [&args[..1], &args[command..place], &args[1..command], &args[place..]].concat()
}

fn is_option(arg: impl AsRef<OsStr>) -> bool {
    arg.as_ref().as_encoded_bytes().starts_with(b"-")
}

/// Returns the index of the command, and the one after the first of its words that accepts all options before it.
fn find(args: &[OsString], definition: &Command) -> Option<(usize, usize)> {
    (2..args.len()).find_map(|first| {
        let mut command = definition;
        for (index, word) in args.iter().enumerate().skip(first) {
            command = command.find_subcommand(word)?;
            if takes(command, &args[1..first]) {
                return Some((first, index + 1));
            }
        }
        None
    })
}

/// Whether all of these are options of the command with their values.
fn takes(command: &Command, options: &[OsString]) -> bool {
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let is_whole = match option.to_str().and_then(|option| lacks_value(command, option)) {
            None => false,
            Some(false) => true,
            Some(true) => options.next().is_some(),
        };
        if !is_whole {
            return false;
        }
    }
    true
}

/// Whether the value of an option is the next argument; `None` if the command has no such option.
fn lacks_value(command: &Command, option: &str) -> Option<bool> {
    if let Some(long) = option.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let has_name = |arg: &&Arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        let arg = command.get_arguments().find(has_name)?;
        return Some(value.is_none() && needs_value(arg));
    }
    let letters = option.strip_prefix('-').filter(|letters| !letters.is_empty())?;
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        if needs_value(arg) {
            return Some(rest.as_str().is_empty());
        }
        if rest.as_str().starts_with('=') {
            break;
        }
    }
    Some(false)
}

/// Switches have a value only after `=`.
fn needs_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let args = line.split(' ').map(OsString::from).collect();
        let moved = moved(args, Cli::definition);
        assert_eq!(moved.join(OsStr::new(" ")), expected, "{line}");
    }

    #[test]
    fn options_go_behind_the_command_that_takes_them() {
        check("flumen -n apps get ks", "flumen get -n apps ks");
        check("flumen -napps -A get ks web", "flumen get -napps -A ks web");
        check("flumen --context=get get ks", "flumen get --context=get ks");
        check("flumen --context get get ks", "flumen get --context get ks");
        check("flumen --verbose -An apps get all", "flumen get --verbose -An apps all");
        check(
            "flumen --context x --timeout 1m reconcile source git fleet",
            "flumen reconcile --context x --timeout 1m source git fleet",
        );
        check(
            "flumen --insecure-registry list artifacts oci://x/y",
            "flumen list artifacts --insecure-registry oci://x/y",
        );
        check("flumen -n apps -k app diff", "flumen diff -n apps -k app");
    }

    #[test]
    fn what_no_command_takes_stays() {
        for line in [
            "flumen",
            "flumen get ks -n apps",
            "flumen -n",
            "flumen -n get",
            "flumen -n get ks",
            "flumen --frobnicate get ks",
            "flumen --help get",
            "flumen --version",
            "flumen -- get ks",
            "flumen - get ks",
            "flumen -n apps frobnicate",
            "flumen -n apps --help get ks",
        ] {
            check(line, line);
        }
    }
}
