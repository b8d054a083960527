//! Sends content as often as it takes.

use std::time::Duration;

use crate::{BlobStream, Descriptor, Repository, Result, observer::Watch};

/// How often content is sent again when a connection breaks on the way.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Sends a blob, again from the start if a connection breaks or the registry wants it otherwise.
pub(crate) async fn send(
    blob: &Descriptor,
    to: &Repository,
    watch: &Watch,
    content: impl AsyncFn() -> Result<BlobStream>,
) -> Result<()> {
    let mut pause = FIRST_PAUSE;
    let mut number = 1;
    loop {
        let attempt = watch.attempt();
        let sent = match content().await {
            Ok(content) => to.put_blob(blob, attempt.over(content)).await,
            Err(error) => Err(error),
        };
        let Err(error) = sent else { return Ok(()) };
        attempt.fail();
        if number == ATTEMPTS || !error.is_transient() {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
        number += 1;
    }
}
