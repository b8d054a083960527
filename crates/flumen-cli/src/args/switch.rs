//! Switches that take a value, as those of Go programs do.

use clap::{Arg, ArgAction};

/// Accepts `--switch=false`, too, which scripts for programs in Go use.
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

/// Parses the spellings of Go's flag packages.
pub(crate) fn parse_switch(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("expected true or false"),
    }
}
