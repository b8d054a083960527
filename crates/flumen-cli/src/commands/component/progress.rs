//! What a build says while it runs.

use flumen_pipeline::job::{Observer, Status};

use crate::{
    ui::Ui,
    view::printable::{Lines, printable},
};

const MAX_LINE_BYTES: usize = 1 << 10;

/// Prints one line for each event, with the name of the component before it.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    component: String,
    ui: &'a Ui,
}

impl<'a> Progress<'a> {
    pub(super) fn new(component: &str, ui: &'a Ui) -> Self {
        Self { component: component.to_owned(), ui }
    }
}

impl Observer for Progress<'_> {
    fn status(&self, status: Status) {
        self.log(&status.to_string());
    }

    fn log(&self, line: &str) {
        let line = printable(line, Lines::Escape, MAX_LINE_BYTES);
        self.ui.talk(&format!("{}: {line}\n", self.component));
    }
}
