//! Progress of a run: one line on stdout for each object, and on stderr what it waits for.

use std::{
    io::{IsTerminal as _, stderr},
    time::Duration,
};

use flumen_apply::{Action, Pending, Progress, Report};
use flumen_object::ObjectId;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::{
    error::CommandError,
    ui::Ui,
    view::printable::{Lines, printable},
};

/// Interval between lines about waiting where stderr is no terminal.
const PACE: Duration = Duration::from_secs(5);
/// Number of objects that are named at the same time.
const NAMED: usize = 5;
const MAX_LINE: usize = 1 << 10;

/// Prints the steps of a run.
#[derive(Debug)]
pub(crate) struct RunReport<'a> {
    ui: &'a Ui,
    /// Suffix of each line, such as ` (server dry run)`.
    suffix: &'static str,
    /// Unchanged objects have been printed before.
    only_changes: bool,
    display: Display,
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    /// Why printing failed.
    failure: Option<CommandError>,
    pending: Vec<ObjectId>,
    at: Option<Instant>,
    /// What was waited for last, and whether a line has told that.
    last: Option<String>,
    is_told: bool,
}

impl<'a> RunReport<'a> {
    pub(crate) fn new(ui: &'a Ui) -> Self {
        Self {
            ui,
            suffix: "",
            only_changes: false,
            display: Display::new(),
            said: Mutex::default(),
        }
    }

    pub(crate) fn with_suffix(ui: &'a Ui, suffix: &'static str) -> Self {
        Self { suffix, ..Self::new(ui) }
    }

    pub(crate) fn of_changes(ui: &'a Ui) -> Self {
        Self { only_changes: true, ..Self::new(ui) }
    }

    /// Ends the display; an error when not every line could be printed.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        let said = self.said.into_inner();
        said.failure.map_or(Ok(()), Err)
    }

    /// Prints what a failed run was waiting for, because a display has vanished by then.
    pub(crate) fn last_words(&self) {
        let said = self.said();
        if let Some(last) = said.last.as_ref().filter(|_| !said.is_told) {
            self.display.vanish();
            self.ui.talk(last);
        }
    }

    /// One line of the result: what happened to an object.
    pub(crate) fn object(&self, id: &ObjectId, action: &str) {
        let line = printable(&format!("{id} {action}{}", self.suffix), Lines::Escape, MAX_LINE);
        let print = || self.ui.data(format!("{line}\n").as_bytes());
        let printed = match &self.display.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        };
        if let Err(error) = printed {
            self.said().failure.get_or_insert(error);
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock()
    }

    fn waiting(&self, pending: &[Pending]) {
        let named: Vec<String> = pending
            .iter()
            .take(NAMED)
            .map(|one| printable(&format!("{}: {}", one.id, one.why), Lines::Escape, MAX_LINE))
            .collect();
        let ids = pending.iter().map(|one| one.id.clone()).collect();
        self.show("waiting for", named, ids);
    }

    fn deferred(&self, objects: &[ObjectId]) {
        let named = objects.iter().take(NAMED).map(|id| {
            let text = format!("{id}: {} is not served yet", id.gvk.kind);
            printable(&text, Lines::Escape, MAX_LINE)
        });
        self.show("waiting for the kinds of", named.collect(), objects.to_vec());
    }

    fn show(&self, doing: &str, mut named: Vec<String>, pending: Vec<ObjectId>) {
        if pending.is_empty() {
            self.said().last = None;
            return self.display.show(String::new());
        }
        if pending.len() > named.len() {
            named.push(format!("and {} more", pending.len() - named.len()));
        }
        let objects = if pending.len() == 1 { "object" } else { "objects" };
        let head = format!("{doing} {} {objects}", pending.len());
        self.display.show(format!("{head}\n  {}", named.join("\n  ")));
        let line = format!("{head}: {}\n", named.join("; "));
        let mut said = self.said();
        said.is_told = said.last.as_ref() == Some(&line) && said.is_told;
        let is_due = said.at.is_none_or(|at| at.elapsed() >= PACE);
        if self.display.0.is_none() && said.pending != pending && is_due {
            said.pending = pending;
            said.at = Some(Instant::now());
            said.is_told = true;
            self.ui.talk(&line);
        }
        said.last = Some(line);
    }
}

impl Report for RunReport<'_> {
    fn report(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Changed(change)
                if self.only_changes && change.action == Action::Unchanged => {}
            Progress::Changed(change) | Progress::Pruned(change) => {
                self.said().last = None;
                self.display.show(String::new());
                self.object(&change.id, change.action.as_str());
            }
            Progress::Waiting(pending) => self.waiting(pending),
            Progress::Deferred(objects) => self.deferred(objects),
            Progress::Reviewing { objects } => {
                self.display.show(format!("asking the cluster about {objects} objects"));
            }
            Progress::Terminating(objects) => {
                self.display.show(format!("waiting until {} objects are gone", objects.len()));
            }
        }
    }
}

/// Shows on a terminal what is going on, until it is dropped.
#[derive(Debug)]
struct Display(Option<ProgressBar>);

impl Display {
    fn new() -> Self {
        Self(stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        }))
    }

    fn show(&self, text: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(text);
        }
    }

    fn vanish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.vanish();
    }
}
