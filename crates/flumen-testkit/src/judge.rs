//! Another tool whose answer counts.

use std::{path::PathBuf, process::Command};

use crate::{outside::skip, tools::tool};

/// One of [`TOOLS`](crate::TOOLS), ready to be asked.
#[derive(Debug)]
pub struct Judge {
    program: PathBuf,
}

impl Judge {
    /// `None` when the machine has no such tool; that is said as skipped.
    pub fn find(name: &str) -> Option<Self> {
        let program = tool(name);
        if program.is_none() {
            skip(&format!("what `{name}` judges"), "`cargo xtask tools` provides it");
        }
        program.map(|program| Self { program })
    }

    /// What it prints on standard output.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(arguments).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        output.stdout
    }

    /// The same as text, without the blanks around it.
    ///
    /// # Panics
    /// When it fails or prints something else.
    #[track_caller]
    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments)).expect("text").trim().to_owned()
    }

    /// # Panics
    /// When it does not start.
    pub fn refuses(&self, arguments: &[&str]) -> bool {
        !self.command(arguments).output().expect("it starts").status.success()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command
    }
}
