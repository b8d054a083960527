//! `--status-selector`: objects by one of their conditions.

use flumen_yaml::Node;

use super::{
    Kind,
    kinds::Readiness,
    object::{Conditions, text_at},
};
use crate::error::CommandError;

/// `type=status` or `type!=status`. An object without the condition is only selected by the second.
#[derive(Debug)]
pub(crate) struct StatusSelector<'a> {
    condition: &'a str,
    status: &'a str,
    is_negated: bool,
}

impl<'a> StatusSelector<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, CommandError> {
        let negated = text.split_once("!=").map(|parts| (parts, true));
        let parts = negated.or_else(|| text.split_once('=').map(|parts| (parts, false)));
        let ((condition, status), is_negated) = parts.ok_or_else(|| {
            CommandError::brief(format!(
                "expected status selector in type=status or type!=status format, but found: {text}"
            ))
        })?;
        Ok(Self { condition, status, is_negated })
    }

    pub(crate) fn selects(&self, kind: &Kind, object: &Node) -> bool {
        let is_status = |status: &str| status.eq_ignore_ascii_case(self.status);
        let matches = if matches!(kind.readiness, Readiness::Always(_)) {
            self.condition.eq_ignore_ascii_case("ready") && is_status("true")
        } else {
            let condition = Conditions::of(object).find(self.condition);
            condition.is_some_and(|condition| is_status(text_at(condition, &["status"])))
        };
        matches != self.is_negated
    }
}
