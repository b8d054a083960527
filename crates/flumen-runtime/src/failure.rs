//! Why a reconciliation did not succeed, and what follows.

use std::time::Duration;

use crate::{Relation, Requeue, Severity};

/// A reconciliation that stopped early.
#[derive(Debug)]
pub struct Failure {
    pub reason: &'static str,
    pub message: Box<str>,
    pub class: Class,
    pub requeue: Requeue,
    /// Condition beside `Ready` that reports the failure, for kinds that have such.
    pub condition: Option<&'static str>,
    /// The event; some states are only shown in the status.
    pub event: Option<(Severity, Box<str>)>,
}

/// What ends the state that a failure leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Something is missing: a change of an object with this relation, if one is known, triggers the next reconciliation.
    Waiting(Option<Relation>),
    /// Work had started, and is retried.
    Retried,
    /// The object itself is wrong: nothing happens until it changes.
    Stalled,
}

impl Failure {
    /// Returns a failure that is retried after a time, with an event.
    pub fn retried(reason: &'static str, message: impl Into<String>, after: Duration) -> Self {
        let failure = Self::waiting(reason, message);
        Self {
            event: Some((Severity::Error, failure.message.clone())),
            class: Class::Retried,
            requeue: Requeue::After(after),
            ..failure
        }
    }

    /// Returns a failure for want of something, without an event. Only a change triggers the next reconciliation.
    pub fn waiting(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into().into(),
            class: Class::Waiting(None),
            requeue: Requeue::Never,
            condition: None,
            event: None,
        }
    }

    /// Returns a failure that only a change of the object ends, with an event.
    pub fn stalled(reason: &'static str, message: impl Into<String>) -> Self {
        let failure = Self::waiting(reason, message);
        Self {
            event: Some((Severity::Error, failure.message.clone())),
            class: Class::Stalled,
            ..failure
        }
    }

    /// Sets the relation to the object that is missing.
    #[must_use]
    pub fn until(mut self, relation: Relation) -> Self {
        self.class = Class::Waiting(Some(relation));
        self
    }

    #[must_use]
    pub fn requeued(mut self, requeue: Requeue) -> Self {
        self.requeue = requeue;
        self
    }

    #[must_use]
    pub fn with_event(mut self, severity: Severity, message: impl Into<String>) -> Self {
        self.event = Some((severity, message.into().into()));
        self
    }

    /// Returns what the object waits for.
    pub(crate) fn waits_for(&self) -> Option<Relation> {
        match self.class {
            Class::Waiting(relation) => relation,
            Class::Retried | Class::Stalled => None,
        }
    }
}
