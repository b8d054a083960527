//! Progress of reconciliations, one line for each change.

use std::collections::BTreeMap;

use flumen_inspect::{Overview, State};

use crate::ui::Ui;

/// Prints messages of sources and Kustomizations that have changed since the last call.
#[derive(Default)]
pub(crate) struct Narrator {
    said: BTreeMap<String, String>,
}

impl Narrator {
    pub(crate) fn tell(&mut self, overview: &Overview, ui: &Ui) {
        for unit in &overview.units {
            if self.said.get(&unit.name) == Some(&unit.message) {
                continue;
            }
            self.said.insert(unit.name.clone(), unit.message.clone());
            let line = format!("{}: {}", unit.name, unit.message);
            if unit.state == State::Ready { ui.success(&line) } else { ui.step(&line) }
        }
    }
}
