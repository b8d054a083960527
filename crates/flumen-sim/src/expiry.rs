//! Events are forgotten an hour after they were written.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use flumen_apiserver::{Api, Change, Client, Deletion};
use jiff::Timestamp;
use serde::Deserialize;

use crate::{Clock, clock::later, follow::Follower, kind::Kind, plan::Writer};

/// How long an event is kept after it was written.
const KEPT: Duration = Duration::from_hours(1);

pub(crate) struct Expiry {
    client: Client,
    clock: Clock,
    /// When each event goes, by namespace and name.
    ends: BTreeMap<(String, String), Timestamp>,
    /// The same, by time.
    queue: BTreeMap<Timestamp, BTreeSet<(String, String)>>,
}

impl Expiry {
    pub(crate) fn new(api: Api, clock: Clock) -> Self {
        let client = Client::new(api, Writer::Manager.name());
        Self { client, clock, ends: BTreeMap::new(), queue: BTreeMap::new() }
    }

    fn forget_event(&mut self, event: &(String, String)) {
        if let Some(end) = self.ends.remove(event)
            && let Some(events) = self.queue.get_mut(&end)
        {
            events.remove(event);
            if events.is_empty() {
                self.queue.remove(&end);
            }
        }
    }
}

/// The metadata that tells when an object was written.
#[derive(Deserialize)]
struct Dated {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    creation_timestamp: Option<Timestamp>,
    managed_fields: Vec<Managed>,
}

#[derive(Deserialize)]
struct Managed {
    time: Option<Timestamp>,
}

/// When an event was written, which may be long ago if the server has just been started. An event that nobody dated
/// was written now, and none was later.
fn written(change: &Change, now: Timestamp) -> Timestamp {
    let Ok(Dated { metadata }) = change.read() else { return now };
    let times = metadata.managed_fields.into_iter().map(|managed| managed.time);
    let last = times.chain([metadata.creation_timestamp]).flatten().max();
    last.map_or(now, |last| last.min(now))
}

impl Follower for Expiry {
    fn take_in(&mut self, change: &Change) {
        if Kind::stored_as(change.group(), change.plural()) != Some(Kind::Event) {
            return;
        }
        let event = (change.namespace().to_owned(), change.name().to_owned());
        self.forget_event(&event);
        if !change.is_deletion {
            let end = later(written(change, self.clock.now()), KEPT);
            self.ends.insert(event.clone(), end);
            self.queue.entry(end).or_default().insert(event);
        }
    }

    fn forget(&mut self) {
        self.ends.clear();
        self.queue.clear();
    }

    fn next_time(&self) -> Option<Timestamp> {
        self.queue.keys().next().copied()
    }

    async fn work(&mut self) {
        let now = self.clock.now();
        while let Some(entry) = self.queue.first_entry() {
            if *entry.key() > now {
                return;
            }
            for event in entry.remove() {
                self.ends.remove(&event);
                let (namespace, name) = &event;
                let of = Kind::Event.resource();
                // One that is gone already is as good.
                let _ = self.client.delete(of, namespace, name, Deletion::default()).await;
            }
        }
    }
}
