//! Asking somebody about a plan.

use std::{
    io::{self, IsTerminal as _},
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
};

use flumen_pipeline::deploy::{Ask, Plan, Subject, Verdict};
use tokio::sync::Mutex;

use crate::ui::Ui;

const QUESTION: &str =
    "[y]es, [n]o, [s]kip it and go on, [r]etry the plan, [a]ll of them from here on? ";

/// Asks on the terminal, one plan at a time; nobody is there without a terminal.
pub(super) struct Terminal<'a> {
    ui: &'a Ui,
    one_at_a_time: Mutex<()>,
    /// Somebody has said yes to everything.
    all: AtomicBool,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(ui: &'a Ui) -> Self {
        Self { ui, one_at_a_time: Mutex::default(), all: AtomicBool::new(false) }
    }

    async fn question(&self, subject: &Subject, plan: &Plan) -> Option<Verdict> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let _turn = self.one_at_a_time.lock().await;
        loop {
            if self.all.load(Ordering::Relaxed) {
                return Some(Verdict::Approve);
            }
            let (component, count) = (&subject.component, plan.changes.len());
            self.ui.talk(&format!("{component}: apply {count} changes? {QUESTION}"));
            match read_line().await?.trim() {
                "y" | "yes" => return Some(Verdict::Approve),
                "n" | "no" => return Some(Verdict::Deny),
                "s" | "skip" => return Some(Verdict::DenyAndContinue),
                "r" | "retry" => return Some(Verdict::Retry),
                "a" | "all" => self.all.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
    }
}

impl Ask for Terminal<'_> {
    fn ask<'a>(
        &'a self,
        subject: &'a Subject,
        plan: &'a Plan,
    ) -> Pin<Box<dyn Future<Output = Option<Verdict>> + Send + 'a>> {
        Box::pin(self.question(subject, plan))
    }
}

/// A line of what is typed; `None` at the end of it.
async fn read_line() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|length| (length > 0).then_some(line))
    });
    read.await.ok()?.ok()?
}
