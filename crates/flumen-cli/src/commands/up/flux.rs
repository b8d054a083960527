//! Reconciling on the local cluster, and showing the progress.

use std::time::Duration;

use flumen_inspect::Overview;
use flumen_kube::Client;
use flumen_local::{Bootstrap, Home, LocalController};
use tokio::time::{Instant, timeout};

use super::live_view::{Pulse, Screen};
use crate::{
    error::{CommandError, Failure},
    ui::Ui,
    view::{narrator::Narrator, object_tree},
};

/// Installs what the controller starts from, and starts it.
pub(super) async fn start(
    bootstrap: &Bootstrap,
    client: &Client,
    home: &Home,
    patience: Duration,
    ui: &Ui,
) -> Result<LocalController, CommandError> {
    bootstrap.prepare(home, client, patience).await?;
    if !bootstrap.skipped.is_empty() {
        let names: Vec<String> = bootstrap.skipped.iter().map(ToString::to_string).collect();
        ui.step(&format!("not installed, because Flumen does their work: {}", names.join(", ")));
    }
    Ok(LocalController::start(home, bootstrap)?)
}

/// Prints the progress until everything is ready, then the tree.
pub(super) async fn until_ready(
    client: &Client,
    bootstrap: &Bootstrap,
    pulse: &mut Pulse,
    narrator: &mut Narrator,
    patience: Duration,
    ui: &Ui,
) -> Result<(), CommandError> {
    let begin = Instant::now();
    let mut missing = Vec::new();
    let ready = async {
        loop {
            let overview = Overview::read(client).await?;
            narrator.tell(&overview, ui);
            if overview.is_ready() && bootstrap.is_in(&overview) {
                return Ok::<_, CommandError>(Some(overview));
            }
            missing = overview.not_ready();
            if overview.is_stuck() || !pulse.next().await? {
                return Ok(None);
            }
        }
    };
    let Some(overview) = timeout(patience, ready).await.unwrap_or(Ok(None))? else {
        let seconds = begin.elapsed().as_secs();
        let message = format!("not everything is ready after {seconds}s: {}", missing.join("; "));
        return Err(Failure::new(message).into());
    };
    ui.success(&format!("everything is ready after {:.1}s", begin.elapsed().as_secs_f64()));
    ui.styled_data(&object_tree::render(&overview.into_forest()))
}

/// Prints the progress until the cluster stops.
pub(super) async fn narrate(
    client: &Client,
    pulse: &mut Pulse,
    narrator: &mut Narrator,
    ui: &Ui,
) -> Result<(), CommandError> {
    while pulse.next().await? {
        narrator.tell(&Overview::read(client).await?, ui);
    }
    Ok(())
}

/// Shows everything as a tree, which is redrawn in its place after changes.
pub(super) async fn show(client: &Client, pulse: &mut Pulse) -> Result<(), CommandError> {
    let screen = Screen::new();
    loop {
        screen.draw(object_tree::render(&Overview::read(client).await?.into_forest()));
        if !pulse.next().await? {
            return Ok(());
        }
    }
}
