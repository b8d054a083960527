//! Error messages with place, context and hint.
//!
//! ```text
//! error: overlay/kustomization.yaml:3:1: unknown field "namePrefx"
//!   |
//! 3 | namePrefx: dev-
//!   | ^
//!   while accumulating resources from 'overlay'
//! hint: did you mean `namePrefix`?
//! ```
//!
//! Nothing in it is trusted. Every part has a limit, so that the whole stays below 40 lines and
//! 16 KiB, and lines after the first of a message are indented, so that no name can pose as a
//! message of its own.

use std::{borrow::Cow, fmt::Write, path::Path};

use crate::{
    ui::{ERROR, GUTTER, HINT},
    view::printable::{Lines, mask_credentials, printable},
};

const MAX_MESSAGE_BYTES: usize = 6 << 10;
const MAX_MESSAGE_LINES: usize = 20;
const MAX_PATH_BYTES: usize = 1 << 10;
const MAX_CONTEXT: usize = 8;
const MAX_CONTEXT_BYTES: usize = 500;
const MAX_HINT_BYTES: usize = 1 << 10;
const MAX_HINT_LINES: usize = 5;
/// How much of a source line is shown, and how much of that stands before the place in question.
const SOURCE_CHARS: usize = 120;
const SOURCE_CHARS_BEFORE: usize = 80;

#[derive(Debug)]
pub(crate) struct Diagnostic<'a> {
    pub(crate) message: Cow<'a, str>,
    pub(crate) place: Option<Place<'a>>,
    /// What was being done, innermost first.
    pub(crate) context: &'a [String],
    pub(crate) hint: Option<&'a str>,
}

/// A place in a file; line 0 stands for the file as a whole.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a Path,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) text: Option<&'a str>,
}

impl<'a> Diagnostic<'a> {
    pub(crate) fn new(message: impl Into<Cow<'a, str>>) -> Self {
        Self { message: message.into(), place: None, context: &[], hint: None }
    }

    /// The whole as styled lines; files below `current_dir` are named relative to it.
    pub(crate) fn render(&self, current_dir: Option<&Path>) -> String {
        let mut out = format!("{ERROR}error{ERROR:#}: ");
        if let Some(place) = &self.place {
            place.render_name(current_dir, &mut out);
        }
        let lines = Lines::Keep(MAX_MESSAGE_LINES);
        push_indented(&mut out, &printable(&self.message, lines, MAX_MESSAGE_BYTES));
        if let Some(place) = &self.place {
            place.render_source(&mut out);
        }
        self.render_context(&mut out);
        if let Some(hint) = self.hint {
            let _ = write!(out, "{HINT}hint{HINT:#}: ");
            let lines = Lines::Keep(MAX_HINT_LINES);
            push_indented(&mut out, &printable(hint, lines, MAX_HINT_BYTES));
        }
        out
    }

    /// The steps nearest to the error matter most; the middle of a long context is left out.
    fn render_context(&self, out: &mut String) {
        let steps = self.context.len();
        let left_out = steps.saturating_sub(MAX_CONTEXT);
        let first_left_out = MAX_CONTEXT - 2;
        for (index, step) in self.context.iter().enumerate() {
            if left_out > 0 && index == first_left_out {
                let _ = writeln!(out, "  … {left_out} more steps");
            }
            if left_out == 0 || index < first_left_out || index >= first_left_out + left_out {
                let step = printable(step, Lines::Escape, MAX_CONTEXT_BYTES);
                // Kustomize's words name an activity or what came of it.
                let is_activity = step.split(' ').next().is_some_and(|word| word.ends_with("ing"));
                let _ = writeln!(out, "  {} {step}", if is_activity { "while" } else { "so:" });
            }
        }
    }
}

impl Place<'_> {
    fn render_name(&self, current_dir: Option<&Path>, out: &mut String) {
        let file = current_dir
            .and_then(|dir| self.file.strip_prefix(dir).ok())
            .filter(|relative| !relative.as_os_str().is_empty())
            .unwrap_or(self.file);
        out.push_str(&printable(&file.to_string_lossy(), Lines::Escape, MAX_PATH_BYTES));
        if self.line > 0 {
            let _ = write!(out, ":{}:{}", self.line, self.column);
        }
        out.push_str(": ");
    }

    fn render_source(&self, out: &mut String) {
        let Some(text) = self.text.filter(|text| self.line > 0 && !text.trim().is_empty()) else {
            return;
        };
        let column = usize::try_from(self.column.saturating_sub(1)).unwrap_or(usize::MAX);
        let skipped = column.saturating_sub(SOURCE_CHARS_BEFORE);
        // Before it is cut, because a part of an address does not look like one.
        let text = mask_credentials(text.trim_end());
        let mut chars = text.chars().skip(skipped);
        let before: String = chars.by_ref().take(column - skipped).collect();
        let after: String = chars.by_ref().take(SOURCE_CHARS - SOURCE_CHARS_BEFORE).collect();
        let is_cut = chars.next().is_some();

        let lead = if skipped > 0 { "…" } else { "" };
        let tail = if is_cut { "…" } else { "" };
        let before = printable(&before, Lines::Escape, usize::MAX);
        let after = printable(&after, Lines::Escape, usize::MAX);
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let gap = " ".repeat(lead.chars().count() + before.chars().count());
        let _ = writeln!(out, "{margin} {GUTTER}|{GUTTER:#}");
        let _ = writeln!(out, "{GUTTER}{number} |{GUTTER:#} {lead}{before}{after}{tail}");
        let _ = writeln!(out, "{margin} {GUTTER}|{GUTTER:#} {gap}{ERROR}^{ERROR:#}");
    }
}

/// Appends lines, all but the first of them indented.
fn push_indented(out: &mut String, text: &str) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push_str("  ");
        }
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests;
