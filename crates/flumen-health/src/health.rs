//! The verdict on an object.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    InProgress,
    Failed,
    Current,
    Terminating,
    NotFound,
    Unknown,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What is known of an object's health, in words as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub status: Status,
    /// For an unknown status: why it is unknown.
    pub message: String,
    /// `Reconciling` or `Stalled`, for those that are in progress or have failed.
    pub conditions: Vec<Condition>,
}

/// One entry of `status.conditions`; what is missing there is empty here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
}

impl Health {
    /// The object was looked for and is not there.
    pub fn not_found() -> Self {
        Self::bare(Status::NotFound, "Resource not found")
    }

    /// The object could not be read, or not be understood.
    pub fn unknown(why: &dyn fmt::Display) -> Self {
        Self::bare(Status::Unknown, why.to_string())
    }

    /// A status and its words, without conditions.
    pub(crate) fn bare(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), conditions: Vec::new() }
    }

    pub(crate) fn current(message: impl Into<String>) -> Self {
        Self::bare(Status::Current, message)
    }

    pub(crate) fn in_progress(reason: &str, message: impl Into<String>) -> Self {
        Self::bare(Status::InProgress, message).because("Reconciling", reason)
    }

    pub(crate) fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self::bare(Status::Failed, message).because("Stalled", reason)
    }

    fn because(mut self, kind: &str, reason: &str) -> Self {
        self.conditions.push(Condition {
            kind: kind.to_owned(),
            status: "True".to_owned(),
            reason: reason.to_owned(),
            message: self.message.clone(),
        });
        self
    }
}

impl Condition {
    pub(crate) fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }
}
