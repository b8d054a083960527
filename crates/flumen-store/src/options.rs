//! How much history a store keeps.

/// Bounds of the history in memory. The oldest revisions are compacted when one is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Changes that a watch can begin before.
    pub history_events: usize,
    /// Bytes of values that were replaced or deleted.
    pub history_bytes: usize,
}

impl Default for Options {
    /// Some thousand changes of usual objects, so that history takes less memory than they do.
    fn default() -> Self {
        Self { history_events: 20_000, history_bytes: 8 << 20 }
    }
}
