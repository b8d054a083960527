//! What can go wrong between us and an API server.

use std::time::Duration;

/// The answer of a server that refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub code: u16,
    /// Such as `NotFound` or `Invalid`; empty when the answer gave none.
    pub reason: String,
    pub message: String,
    /// Reason, message and field of each cause, such as `FieldManagerConflict`.
    pub causes: Vec<Cause>,
    /// How long the server wants us to wait.
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server answered, and refused.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
}

impl Error {
    pub const fn status(&self) -> Option<&Status> {
        match self {
            Self::Refused(status) => Some(status),
        }
    }

    /// The server says that there is no such object.
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(|status| status.code == 404)
    }

    /// The revision of a watch or of a page is too old.
    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(|status| status.code == 410)
    }
}
