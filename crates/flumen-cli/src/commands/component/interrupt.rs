//! How the user stops a command.

use flumen_pipeline::job::CancellationToken;

/// A token that Ctrl-C cancels. Jobs then clean up and end by themselves.
pub(super) fn cancelled_by_the_user() -> CancellationToken {
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancelled.cancel();
        }
    });
    cancel
}
