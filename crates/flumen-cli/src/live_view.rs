//! What runs, drawn again in its place whenever it changes.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use flumen_apiserver::{Api, Changes, WatchError};
use flumen_kube::Client;
use flumen_object::ObjectId;
use futures_util::FutureExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::sleep;

use crate::{
    error::{CommandError, Failure},
    tree_view,
};

/// Changes come in bursts, and nobody reads faster.
const PAUSE: Duration = Duration::from_millis(200);

/// Whether there is a screen to draw on again and again.
pub(crate) fn has_screen() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows applied objects and what became of them, or all workloads if nothing was applied. Goes on
/// until it is dropped; what was drawn last stays.
pub(crate) async fn show(
    api: &Api,
    client: &Client,
    applied: &[ObjectId],
) -> Result<(), CommandError> {
    let screen = Screen::new();
    let mut changes = follow(api)?;
    loop {
        // Whatever else has changed is drawn at once.
        while changes.next().now_or_never().is_some_and(|change| change.is_ok()) {}
        let tree = match applied {
            [] => tree_view::of_workloads(client).await?,
            applied => tree_view::of(client, applied).await?,
        };
        screen.draw(tree);
        match changes.next().await {
            Ok(_) => sleep(PAUSE).await,
            Err(WatchError::Lagged) => changes = follow(api)?,
            Err(WatchError::Closed) => return Ok(()),
        }
    }
}

fn follow(api: &Api) -> Result<Changes, Failure> {
    api.changes().map_err(|error| Failure::chain(&error).within("following what runs"))
}

struct Screen(ProgressBar);

impl Screen {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // Without a template it draws as well, only with a mark before the text.
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn draw(&self, text: String) {
        self.0.set_message(text);
        self.0.force_draw();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
