//! How the user stops a command.

use flumen_pipeline::job::CancellationToken;
use futures_util::FutureExt as _;

/// A token that Ctrl-C cancels. Jobs then clean up and end by themselves.
pub(super) fn cancelled_by_the_user() -> CancellationToken {
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let mut pressed = Box::pin(tokio::signal::ctrl_c());
    // Asked once, it listens: what is pressed before the task below runs is not lost.
    if (&mut pressed).now_or_never().is_some() {
        cancel.cancel();
        return cancel;
    }
    tokio::spawn(async move {
        if pressed.await.is_ok() {
            cancelled.cancel();
        }
    });
    cancel
}
