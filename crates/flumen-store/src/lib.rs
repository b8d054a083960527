//! A revisioned key-value store with watches.
