//! `flumen status`.

use clap::Args;
use flumen_local::{Home, State};
use serde::Serialize;

use crate::{
    args::home::HomeArgs,
    error::{CommandError, Failure},
    ui::Ui,
    view::{listing, structured::Structured},
};

/// Say whether a cluster runs on this machine, and where
///
/// Exits with 1 when none runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  flumen status
  export KUBECONFIG=$(flumen status -o json | jq -r .kubeconfig)")]
pub(crate) struct StatusArgs {
    /// Print as JSON or YAML
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Structured>,

    #[command(flatten)]
    home: HomeArgs,
}

/// A running cluster, as it is printed.
#[derive(Serialize)]
struct Running {
    server: String,
    registry: String,
    kubeconfig: String,
    data: String,
    pid: i32,
    started: String,
    version: String,
}

pub(crate) fn run(args: &StatusArgs, ui: &Ui) -> Result<(), CommandError> {
    let home = args.home.home()?;
    match home.state()? {
        State::Running(record) => {
            let running = Running {
                server: record.server,
                registry: record.registry,
                kubeconfig: home.kubeconfig().display().to_string(),
                data: home.path().display().to_string(),
                pid: record.pid,
                started: record.started,
                version: record.version,
            };
            match args.output {
                Some(format) => format.print(&running, ui),
                None => ui.data(running.lines().as_bytes()),
            }
        }
        State::Changing => Err(Failure::new("a cluster is starting or ending")
            .hint("look again in a moment")
            .into()),
        State::Stopped => Err(nothing_runs(&home, "it holds what the last one left")),
        State::Absent => Err(nothing_runs(&home, "there is nothing yet")),
    }
}

fn nothing_runs(home: &Home, what_is_there: &str) -> CommandError {
    Failure::new(format!("nothing runs in `{}`; {what_is_there}", home.path().display()))
        .hint("`flumen up` starts a cluster")
        .into()
}

impl Running {
    fn lines(&self) -> String {
        listing::lines([
            &*format!("API server  {}", self.server),
            &*format!("registry    {}", self.registry),
            &*format!("kubeconfig  {}", self.kubeconfig),
            &*format!("process     {}, since {}", self.pid, self.started),
        ])
    }
}
