//! The only way to print: stdout is data, stderr is conversation.

use std::{
    collections::HashSet,
    io::{self, IsTerminal as _, Write},
};

use anstyle::{AnsiColor, Style};

use crate::{
    error::CommandError,
    view::printable::{Lines, printable},
};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const GUTTER: Style = AnsiColor::Blue.on_default().bold();

/// More warnings than this say nothing new.
const MAX_WARNINGS: usize = 50;
const MAX_WARNING_BYTES: usize = 1 << 10;
const MAX_FAILURE_BYTES: usize = 6 << 10;

/// Where commands print. Colours appear only on a terminal, and not when `NO_COLOR` is set.
#[derive(Debug)]
pub(crate) struct Ui {
    is_quiet: bool,
}

impl Ui {
    pub(crate) const fn new() -> Self {
        Self { is_quiet: false }
    }

    /// The same, but if asked it says nothing of what goes well.
    pub(crate) const fn quiet_if(&self, is_quiet: bool) -> Self {
        Self { is_quiet: self.is_quiet || is_quiet }
    }

    /// Prints data that is complete.
    #[expect(clippy::unused_self, reason = "having a `Ui` is the permission to print")]
    pub(crate) fn data(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(|source| CommandError::Stdout { source })
    }

    /// Prints data for people, in colours where stdout is a terminal.
    #[expect(clippy::unused_self, reason = "having a `Ui` is the permission to print")]
    pub(crate) fn styled_data(&self, styled: &str) -> Result<(), CommandError> {
        let mut stdout = anstream::stdout().lock();
        stdout
            .write_all(styled.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|source| CommandError::Stdout { source })
    }

    /// Whether somebody is there to answer.
    #[expect(clippy::unused_self, reason = "having a `Ui` is the permission to ask")]
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks for a yes; anything else is a no.
    pub(crate) async fn confirm(&self, question: &str) -> bool {
        let question = printable(question, Lines::Escape, MAX_WARNING_BYTES);
        let answer = self.answer(&format!("{WARNING}?{WARNING:#} {question} [y/N] ")).await;
        answer.is_some_and(|answer| ["y", "yes"].contains(&answer.to_ascii_lowercase().as_str()))
    }

    /// What is typed in answer to a question; `None` at the end of the input.
    pub(crate) async fn answer(&self, styled_question: &str) -> Option<String> {
        self.talk(styled_question);
        // On a thread of its own, so that Ctrl-C is heard meanwhile.
        let typed = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|length| (length > 0).then_some(line))
        });
        typed.await.ok()?.ok()?.map(|line| line.trim().to_owned())
    }

    /// Prints what deserves attention but does not fail the command, each once.
    pub(crate) fn warnings(&self, warnings: &[String]) {
        let mut seen = HashSet::new();
        for warning in warnings.iter().filter(|warning| seen.insert(*warning)).take(MAX_WARNINGS) {
            // Kustomize's own mark, which says the same as ours.
            let warning = warning.strip_prefix("# Warning: ").unwrap_or(warning);
            let warning = printable(warning, Lines::Escape, MAX_WARNING_BYTES);
            self.talk(&format!("{WARNING}warning{WARNING:#}: {warning}\n"));
        }
        if seen.len() > MAX_WARNINGS {
            self.talk("… and more warnings\n");
        }
    }

    /// Says what is being done, as Flux says it.
    pub(crate) fn step(&self, doing: &str) {
        self.progress('►', doing);
    }

    /// Says what was achieved.
    pub(crate) fn success(&self, done: &str) {
        self.progress('✔', done);
    }

    /// Says what is being waited for.
    pub(crate) fn waiting(&self, for_what: &str) {
        self.progress('◎', for_what);
    }

    /// Says in one line what went wrong, as Flux says it. It is heard even by those who want to hear little.
    pub(crate) fn failure(&self, what: &str) {
        self.talk(&format!("✗ {}\n", printable(what, Lines::Escape, MAX_FAILURE_BYTES)));
    }

    /// Says in one line what deserves attention, as Flux says it.
    pub(crate) fn caution(&self, what: &str) {
        self.talk(&format!("⚠️  {}\n", printable(what, Lines::Escape, MAX_WARNING_BYTES)));
    }

    fn progress(&self, mark: char, text: &str) {
        if !self.is_quiet {
            let text = printable(text, Lines::Escape, MAX_WARNING_BYTES);
            self.talk(&format!("{mark} {text}\n"));
        }
    }

    /// Prints styled text that is safe for a terminal.
    #[expect(clippy::unused_self, reason = "having a `Ui` is the permission to print")]
    pub(crate) fn talk(&self, styled: &str) {
        // There is nobody left to tell when stderr is closed.
        let _ = anstream::stderr().write_all(styled.as_bytes());
    }
}
