//! What a deploy says while it runs.

use flumen_apply::{Progress as Step, Report};
use flumen_pipeline::deploy::{Observer, Plan, Status};

use crate::{
    ui::Ui,
    view::printable::{Lines, printable},
};

const MAX_LINE_BYTES: usize = 1 << 10;
/// A plan is read by somebody, or stored; more than this is not read.
const MAX_PLAN: (usize, usize) = (5_000, 1 << 20);

/// Prints one line for each event, with the name of the component before it.
pub(super) struct DeployProgress<'a> {
    component: &'a str,
    ui: &'a Ui,
}

impl<'a> DeployProgress<'a> {
    pub(super) const fn new(component: &'a str, ui: &'a Ui) -> Self {
        Self { component, ui }
    }
}

impl Observer for DeployProgress<'_> {
    fn status(&self, status: Status) {
        self.log(&status.to_string());
    }

    fn log(&self, line: &str) {
        let line = printable(line, Lines::Escape, MAX_LINE_BYTES);
        self.ui.talk(&format!("{}: {line}\n", self.component));
    }

    fn plan(&self, plan: &Plan) {
        let text = printable(&plan.text, Lines::Keep(MAX_PLAN.0), MAX_PLAN.1);
        self.ui.talk(&format!("{text}\n"));
    }
}

impl Report for DeployProgress<'_> {
    fn report(&self, progress: &Step<'_>) {
        match progress {
            Step::Changed(change) | Step::Pruned(change) => {
                self.log(&format!("{} {}", change.id, change.action.as_str()));
            }
            Step::Waiting(pending) => {
                for one in *pending {
                    self.log(&format!("waits for {}: {}", one.id, one.why));
                }
            }
            Step::Deferred(objects) => {
                for id in *objects {
                    self.log(&format!("{id} waits until its kind is served"));
                }
            }
            Step::Terminating(objects) => {
                for id in *objects {
                    self.log(&format!("{id} is going"));
                }
            }
            Step::Reviewing { .. } => {}
        }
    }
}
