//! A pass over an object that cannot be read: it is told so, and nothing else happens to it until it changes.

use flumen_api::{ConditionStatus, Kind, READY, mark_stalled, set_condition};
use jiff::Timestamp;

use crate::{
    Controller, Key,
    cache::{Reflected, Unreadable},
    events::{Recorder, Severity},
    queue::Next,
    status,
};

const REASON: &str = "MalformedObject";

/// Says in the status of an object what is wrong with it, and posts it. Once: what has been said already is not said again.
pub(crate) async fn tell<K: Kind>(
    controller: &Controller,
    key: &Key,
    object: &Unreadable<K>,
    (reflected, events): (&Reflected<K>, &Recorder),
    manager: &str,
) -> Next {
    tracing::error!(object = %key, error = %object, "cannot be read");
    let message = format!("{object}; nothing is done until it is corrected");
    let mut told = object.clone();
    let now = Timestamp::now();
    mark_stalled(&mut told, REASON, &message, now);
    set_condition(&mut told, READY, ConditionStatus::False, REASON, &message, now);
    told.observe();
    match status::write(&controller.client, object, &told, manager).await {
        Ok(Some(node)) => {
            reflected.saw(&node);
            events.post(&told, Severity::Error, REASON, &message, &[]);
        }
        Ok(None) => {}
        Err(error) if error.is_not_found() => {}
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot write the status");
            return Next::Retry;
        }
    }
    Next::Rest
}
