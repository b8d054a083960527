//! Events about the objects that are reconciled, and where they go.

mod kubernetes;
mod similar;

use flumen_api::Kind;
use jiff::Timestamp;

pub(crate) use self::kubernetes::KubernetesEvents;
use crate::{Clock, KindInfo};

/// Annotations of an object with this prefix are copied to its events.
const COPIED: &str = "event.toolkit.fluxcd.io/";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Info,
    Error,
}

impl Severity {
    /// Returns the reason of events about objects that have none.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
        }
    }
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    pub info: &'static KindInfo,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub resource_version: String,
    pub severity: Severity,
    pub reason: String,
    pub message: String,
    /// Annotations of the event: those that the object hands on, and the facts of the event under the group of the kind.
    pub annotations: Vec<(String, String)>,
    pub time: Timestamp,
}

/// Receives every event. It must not block.
pub trait EventSink: Send + Sync {
    fn post(&self, event: &Event);
}

/// Hands each event to all sinks.
pub struct EventBus {
    sinks: Vec<Box<dyn EventSink>>,
    clock: Clock,
}

impl std::fmt::Debug for EventBus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventBus").field("sinks", &self.sinks.len()).finish_non_exhaustive()
    }
}

impl EventBus {
    pub(crate) fn new(clock: Clock, sinks: Vec<Box<dyn EventSink>>) -> Self {
        Self { sinks, clock }
    }

    /// Posts an event about an object. The keys of `facts` get the group of its kind as prefix.
    pub fn post<K: Kind>(
        &self,
        info: &'static KindInfo,
        object: &K,
        severity: Severity,
        reason: &str,
        message: &str,
        facts: &[(&str, &str)],
    ) {
        let about = object.metadata();
        let copied = about.annotations.iter().filter(|(key, _)| key.starts_with(COPIED));
        let copied = copied.map(|(key, value)| (key.clone(), value.clone()));
        let facts =
            facts.iter().map(|(key, value)| (format!("{}/{key}", info.group), (*value).to_owned()));
        let event = Event {
            info,
            namespace: about.namespace.clone(),
            name: about.name.clone(),
            uid: about.uid.clone(),
            resource_version: about.resource_version.clone(),
            severity,
            reason: reason.to_owned(),
            message: message.to_owned(),
            annotations: copied.chain(facts).collect(),
            time: self.clock.now(),
        };
        for sink in &self.sinks {
            sink.post(&event);
        }
    }
}
