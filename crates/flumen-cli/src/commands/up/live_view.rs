//! A tree of objects that is redrawn in its place after changes.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use flumen_apiserver::{Api, Changes, WatchError};
use flumen_inspect::Forest;
use flumen_kube::Client;
use flumen_object::ObjectId;
use futures_util::FutureExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::sleep;

use crate::{
    error::{CommandError, Failure},
    view::object_tree,
};

/// Changes come in bursts, which are drawn at once.
const PAUSE: Duration = Duration::from_millis(200);
/// Interval between requests to a cluster of another process.
const GLANCE: Duration = Duration::from_millis(500);

/// Whether there is a terminal to draw on.
pub(super) fn has_screen() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows applied objects and what they own, or all workloads if nothing was applied, until it is dropped. The last
/// drawing stays.
pub(super) async fn show(
    api: &Api,
    client: &Client,
    applied: &[ObjectId],
) -> Result<(), CommandError> {
    let screen = Screen::new();
    let mut pulse = Pulse::of(api)?;
    loop {
        let forest = match applied {
            [] => Forest::of_workloads(client).await?,
            applied => Forest::of_applied(client, applied).await?,
        };
        screen.draw(object_tree::render(&forest));
        if !pulse.next().await? {
            return Ok(());
        }
    }
}

/// When to redraw.
pub(super) enum Pulse {
    /// After changes in the cluster of this process.
    Changes(Api, Changes),
    /// In intervals, for the cluster of another process.
    Clock,
}

impl Pulse {
    pub(super) fn of(api: &Api) -> Result<Self, CommandError> {
        Ok(Self::Changes(api.clone(), follow(api)?))
    }

    /// Waits until the next drawing; false if there will be none.
    pub(super) async fn next(&mut self) -> Result<bool, CommandError> {
        let Self::Changes(api, changes) = self else {
            sleep(GLANCE).await;
            return Ok(true);
        };
        match changes.next().await {
            Ok(_) => {
                sleep(PAUSE).await;
                // One drawing shows all changes so far.
                while changes.next().now_or_never().is_some_and(|change| change.is_ok()) {}
            }
            Err(WatchError::Lagged) => *changes = follow(api)?,
            Err(WatchError::Closed) => return Ok(false),
        }
        Ok(true)
    }
}

fn follow(api: &Api) -> Result<Changes, Failure> {
    api.changes().map_err(|error| Failure::chain(&error).within("following what runs"))
}

pub(super) struct Screen(ProgressBar);

impl Screen {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // Without a template it draws as well, only with a mark before the text.
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(super) fn draw(&self, text: String) {
        self.0.set_message(text);
        self.0.force_draw();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
