//! The `flumen` command.
//!
//! Arguments come in through [`cli`] and [`args`], one module in [`commands`] calls the libraries, [`view`] draws what they
//! return, and everything that is printed goes through [`ui`]: data to stdout, conversation to stderr. Exit status 1 means that
//! the input is wrong (or, of two things compared, that they differ), 2 that the command line is, and 3
//! that plans wait for somebody's decision.

mod args;
mod build_id;
mod building;
mod cli;
mod commands;
mod deliver;
mod error;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod math;
mod memory;
mod runtime;
mod signals;
mod ui;
mod view;

use std::ffi::OsString;

pub use crate::memory::Allocator;
use crate::{cli::Cli, ui::Ui};

/// Runs the command that `args` (the program's name first) ask for, and returns the exit status.
pub fn run(args: impl Iterator<Item = OsString>) -> u8 {
    let ui = Ui::new();
    match Cli::parse(args).and_then(|cli| commands::run(&cli, &ui)) {
        Ok(()) => 0,
        Err(error) => error.report(&ui),
    }
}
