//! What ends by itself: events after an hour, and versions that nobody reads any more.

use std::{sync::Weak, time::Duration};

use flumen_store::{Range, Revision};
use jiff::SignedDuration;
use serde_json::Value;

use crate::{Api, ApiError, api::Inner, clock, meta, storage};

/// How long events are kept.
const EVENT_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How often old events are looked for.
const SWEEP: Duration = Duration::from_secs(60);
/// Versions are kept for one such period at least, as the real server does.
const COMPACTION: Duration = Duration::from_secs(300);

/// Sweeps for as long as the server lives.
pub(crate) fn start(api: &Api) {
    let weak = api.downgrade();
    tokio::spawn(sweep(weak.clone()));
    tokio::spawn(compact(weak));
}

async fn sweep(api: Weak<Inner>) {
    let mut ticks = tokio::time::interval(SWEEP);
    loop {
        ticks.tick().await;
        let Some(api) = Api::upgrade(&api) else { return };
        // What could not be deleted now is deleted next time.
        let _ = expire_events(&api).await;
    }
}

async fn expire_events(api: &Api) -> Result<(), ApiError> {
    let range = Range { prefix: "core/events/", ..Range::default() };
    let page = api.store().range(&range).map_err(|error| storage::read_error(&error))?;
    let now = clock::now();
    for (key, entry) in &page.entries {
        let event = storage::decode(entry)?;
        if last_seen(&event).is_some_and(|seen| now.duration_since(seen) > EVENT_LIFE) {
            // Whoever changed it meanwhile has made it young again.
            let _ = storage::delete(api.store(), key.to_string(), entry.revision).await;
        }
    }
    Ok(())
}

/// When an event was written last.
fn last_seen(event: &Value) -> Option<jiff::Timestamp> {
    let managed = event["metadata"]["managedFields"].as_array().into_iter().flatten();
    let times = managed.filter_map(|entry| entry["time"].as_str());
    let created = meta::text(event, "creationTimestamp");
    times.chain([created]).filter_map(|time| time.parse().ok()).max()
}

async fn compact(api: Weak<Inner>) {
    let mut ticks = tokio::time::interval(COMPACTION);
    let mut last: Revision = 0;
    loop {
        ticks.tick().await;
        let Some(api) = Api::upgrade(&api) else { return };
        // A revision that the store has forgotten already is no failure.
        let _ = api.store().compact(last);
        last = api.store().revision();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_as_young_as_its_last_write() {
        let event = json!({"metadata": {
            "creationTimestamp": "2001-01-01T00:00:00Z",
            "managedFields": [{"time": "2001-01-01T00:30:00Z"}, {"time": "2001-01-01T00:20:00Z"}],
        }});
        assert_eq!(last_seen(&event).map(clock::text), Some("2001-01-01T00:30:00Z".to_owned()));
        assert_eq!(last_seen(&json!({})), None);
    }
}
