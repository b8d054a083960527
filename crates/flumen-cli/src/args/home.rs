//! Options of every command for the local cluster.

use std::path::PathBuf;

use clap::Args;
use flumen_local::{Error, Home};

use crate::{
    args::env,
    error::{CommandError, Failure},
};

#[derive(Debug, Args)]
pub(crate) struct HomeArgs {
    /// Directory of the cluster; the default is in your state directory
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

impl HomeArgs {
    pub(crate) fn home(&self) -> Result<Home, CommandError> {
        Ok(Home::new(match &self.data {
            Some(path) => std::path::absolute(path)
                .map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))?,
            None => env::local_cluster()?,
        }))
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let failure = Failure::chain(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint).into(),
            None => failure.into(),
        }
    }
}
