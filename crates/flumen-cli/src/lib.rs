//! The `flumen` command.
//!
//! Arguments come in through [`cli`], one module in [`commands`] does the work, and everything that
//! is printed goes through [`ui`]: data to stdout, conversation to stderr. Exit status 1 means that
//! the input is wrong (or, of two things compared, that they differ), 2 that the command line is, and 3
//! that plans wait for somebody's decision.

mod artifact_args;
mod build_id;
mod cli;
mod cluster_args;
mod commands;
mod deliver;
mod delivery_source;
mod detached;
mod diagnostic;
mod duration;
mod env;
mod error;
mod examples;
mod flux;
mod flux_up;
mod home_args;
mod interrupt;
mod inventory_args;
mod key_files;
mod kustomizer_config;
mod leading_options;
mod listing;
mod live_view;
mod local_delivery;
mod memory;
mod narrator;
mod output;
mod plan_text;
mod printable;
mod progress;
mod refusals;
mod registry_args;
mod remotes;
mod run_args;
mod run_report;
mod runtime;
mod signals;
mod size;
mod structured;
mod tree_view;
mod ui;
mod verify_args;

use std::{ffi::OsString, process::ExitCode};

use crate::{cli::Cli, ui::Ui};

/// Runs the command that `args` (the program's name first) ask for.
pub fn run(args: impl Iterator<Item = OsString>) -> ExitCode {
    let ui = Ui::new();
    match Cli::parse(args).and_then(|cli| commands::run(&cli, &ui)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(&ui),
    }
}
