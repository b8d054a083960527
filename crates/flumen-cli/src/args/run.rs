//! Options that say how objects reach the cluster.

use std::time::Duration;

use clap::{Args, ValueEnum};
use flumen_apply::{Options, Prune};

use crate::args::{duration, inventory::Site};

/// How the cluster is asked what would happen.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is applied")]
pub(crate) struct ReviewArgs {
    /// Delete and recreate objects when a field of them changes that cannot
    #[arg(long)]
    force: bool,

    /// Fail for kinds that the cluster does not serve, instead of waiting for them
    #[arg(long)]
    strict_kinds: bool,

    /// How long all of it may take
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    pub(crate) timeout: Duration,

    /// Requests that are under way at the same time
    #[arg(long, value_name = "NUMBER", default_value = "16", value_parser = parse_concurrency)]
    concurrency: usize,
}

/// How a run goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is applied")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    prune: PruneArgs,

    /// Wait until all objects are healthy, and deleted ones are gone
    #[arg(long)]
    wait: bool,

    /// Apply the objects that pass, although others of the same stage do not
    #[arg(long)]
    keep_going: bool,

    /// Create the namespace of the inventory if it is not there
    #[arg(long)]
    pub(crate) create_namespace: bool,

    /// Only say what would happen: `server` asks the cluster, `client` reads the source and asks nobody
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(crate) dry_run: Option<DryRun>,

    #[command(flatten)]
    pub(crate) review: ReviewArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    Server,
    Client,
}

impl RunArgs {
    pub(crate) fn options(&self, site: &Site) -> Options {
        Options {
            prune: self.prune.mode(),
            wait: self.wait,
            keep_going: self.keep_going,
            ..self.review.options(site)
        }
    }
}

/// What becomes of objects that are gone from the source.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is applied")]
pub(crate) struct PruneArgs {
    /// Delete objects of the inventory that are no longer among those delivered
    #[arg(long)]
    prune: bool,

    /// Let `--prune` delete more than half of an inventory, or all of it
    #[arg(long, requires = "prune")]
    allow_large_prune: bool,

    /// Whether `--prune` stops before it deletes more than half of an inventory of ten or more objects
    #[arg(long, value_enum, value_name = "SWITCH", default_value = "on")]
    prune_guard: Guard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Guard {
    On,
    Off,
}

fn parse_concurrency(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| (1..=256).contains(number)).ok_or("expected 1 to 256")
}

impl ReviewArgs {
    pub(crate) fn options(&self, site: &Site) -> Options {
        Options {
            default_namespace: Some(site.owner.namespace.clone()),
            timeout: self.timeout,
            concurrency: self.concurrency,
            force: self.force,
            strict_kinds: self.strict_kinds,
            ..Options::new(site.owner.clone())
        }
    }
}

impl PruneArgs {
    pub(crate) fn mode(&self) -> Prune {
        if !self.prune {
            Prune::Off
        } else if self.allow_large_prune || self.prune_guard == Guard::Off {
            Prune::Unguarded
        } else {
            Prune::Guarded
        }
    }
}
