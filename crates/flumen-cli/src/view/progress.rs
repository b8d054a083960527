//! Progress of transfers.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::Args;
use flumen_oci::{Observer, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::Ui;

/// How much a command that moves content says.
#[derive(Debug, Args)]
pub(crate) struct TalkArgs {
    /// Say nothing on stderr but warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

impl TalkArgs {
    pub(crate) const fn ui(&self, ui: &Ui) -> Ui {
        ui.quiet_if(self.quiet)
    }

    /// Shows how far transfers are until it is dropped, with all its clones.
    pub(crate) fn watch(&self) -> Watch {
        if self.quiet { Watch::default() } else { Watch::by(Progress::new()) }
    }
}

/// Faster transfers show no line.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on stderr that appears after a second, on a terminal only, and vanishes with the transfer.
struct Progress {
    bar: ProgressBar,
    is_shown: AtomicBool,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, is_shown: AtomicBool::new(false) }
    }
}

impl Observer for Progress {
    fn found(&self, bytes: u64) {
        self.bar.inc_length(bytes);
    }

    fn done(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.bar.elapsed() >= PATIENCE && !self.is_shown.swap(true, Ordering::Relaxed) {
            // Draws nothing where stderr is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn lost(&self, bytes: u64) {
        self.bar.dec(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
