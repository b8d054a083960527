//! `flumen cache prune`.

use std::time::Duration;

use clap::Args;
use flumen_pipeline::prune::{Prune, Pruned, candidates, prune};
use jiff::Timestamp;

use crate::{
    args::{duration, env},
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
    view::listing::lines,
};

/// Remove old builds from the local store
///
/// Prints the ids of the builds that went. The last build of each component stays, because
/// `flumen component sync` copies it; content goes with the last build that has it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Builds of more than thirty days ago
  flumen cache prune

  # What would go if a week were enough
  flumen cache prune --older-than 168h --dry-run")]
pub(crate) struct PruneArgs {
    /// Age that a build must have
    #[arg(long, value_name = "DURATION", default_value = "720h", value_parser = duration::parse)]
    older_than: Duration,

    /// Remove everything, the last builds too
    #[arg(long, conflicts_with = "older_than")]
    all: bool,

    /// Only print what would go
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &PruneArgs, ui: &Ui) -> Result<(), CommandError> {
    let what = args.what()?;
    let pruned = block_on(async {
        let state = env::state()?;
        if args.dry_run {
            return Ok(Pruned { builds: candidates(&state, what).await?, ..Pruned::default() });
        }
        Ok(prune(&state, what).await?)
    })?;
    ui.data(lines(pruned.builds.iter().map(String::as_str)).as_bytes())?;
    let builds = pruned.builds.len();
    ui.talk(&if args.dry_run {
        format!("would remove {builds} builds\n")
    } else {
        format!("removed {builds} builds, {} blobs, {} bytes\n", pruned.blobs, pruned.bytes)
    });
    Ok(())
}

impl PruneArgs {
    fn what(&self) -> Result<Prune, CommandError> {
        if self.all {
            return Ok(Prune::All);
        }
        let moment = Timestamp::now()
            .checked_sub(self.older_than)
            .map_err(|_| Failure::new("`--older-than` goes back before all time"))?;
        Ok(Prune::Before(moment))
    }
}
