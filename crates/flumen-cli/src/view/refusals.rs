//! Errors of runs: every refused object with a hint.

use std::collections::BTreeSet;

use flumen_apply::{Error, ObjectError};

use crate::{
    error::{CommandError, Failure},
    ui::{ERROR, HINT, Ui},
    view::printable::{Lines, printable},
};

const MAX_MESSAGE: usize = 2 << 10;
const MAX_HINT: usize = 1 << 10;

/// Prints the refused objects, and returns the error of the whole run.
///
/// One refused object is the error itself; several have a line each.
pub(crate) fn told(error: Error, ui: &Ui) -> CommandError {
    let (errors, summary) = match &error {
        Error::Rejected(errors) => {
            (errors, "would be refused, so that nothing of their stage was applied")
        }
        Error::ApplyFailed(errors) => (errors, "were refused"),
        Error::PruneFailed(errors) => (errors, "could not be deleted"),
        _ => return error.into(),
    };
    if errors.len() < 2 {
        return error.into();
    }
    list(errors, ui);
    CommandError::failure(format!("{} objects {summary}", errors.len()))
}

/// Prints one line for each object, and each hint once.
pub(crate) fn list(errors: &[ObjectError], ui: &Ui) {
    let mut hints = BTreeSet::new();
    for error in errors {
        let message = printable(&error.to_string(), Lines::Escape, MAX_MESSAGE);
        ui.talk(&format!("{ERROR}✗{ERROR:#} {message}\n"));
        if let Some(hint) = error.hint.as_deref().filter(|hint| hints.insert(*hint)) {
            let hint = printable(hint, Lines::Escape, MAX_HINT);
            ui.talk(&format!("  {HINT}hint{HINT:#}: {hint}\n"));
        }
    }
}

/// Prints the refused objects of a plan, which continues where a run would stop.
pub(crate) fn planned(errors: &[ObjectError], ui: &Ui) -> Result<(), CommandError> {
    match errors {
        [] => Ok(()),
        [one] => {
            let failure = Failure::new(one.to_string());
            Err(match &one.hint {
                Some(hint) => failure.hint(hint.as_str()).into(),
                None => failure.into(),
            })
        }
        many => {
            list(many, ui);
            Err(CommandError::failure(format!("{} objects would be refused", many.len())))
        }
    }
}
