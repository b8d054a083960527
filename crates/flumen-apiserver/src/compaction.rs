//! Versions that nobody reads any more are forgotten.

use std::{sync::Weak, time::Duration};

use flumen_store::Revision;

use crate::{Api, api::Inner};

/// A version is kept for one such period at least, as the real server does.
const PERIOD: Duration = Duration::from_mins(5);

/// Goes on for as long as the server lives.
pub(crate) fn start(api: &Api) {
    tokio::spawn(compact(api.downgrade()));
}

async fn compact(api: Weak<Inner>) {
    let mut ticks = tokio::time::interval(PERIOD);
    let mut last: Revision = 0;
    loop {
        ticks.tick().await;
        let Some(api) = Api::upgrade(&api) else { return };
        // A revision that the store has forgotten already is no failure.
        let _ = api.store().compact(last);
        last = api.store().revision();
    }
}
