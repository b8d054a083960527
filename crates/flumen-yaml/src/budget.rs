//! How much a text may ask for before it is refused.
//!
//! The limits are far above what any real configuration needs and far below what would hurt: ten
//! lines of nested aliases can stand for a billion nodes, and a megabyte of `[` for a tree that no
//! recursive program survives. Whoever changes them should know that a text is in memory twice, as
//! bytes and as text, and that a cluster takes no object above 1.5 MiB.

/// Limits of one [`read`](crate::read).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Budget {
    /// Levels of mappings and sequences, aliases expanded: 1,000.
    pub depth: usize,
    /// Nodes made by expanding aliases and merge keys: 1,000,000.
    pub alias_nodes: usize,
    /// Bytes of text that expanding aliases and merge keys repeats: 64 MiB.
    pub alias_bytes: usize,
    /// Documents in one text: 100,000.
    pub documents: usize,
    /// Bytes of one scalar: 16 MiB.
    pub scalar_bytes: usize,
    /// Bytes of the text: 64 MiB.
    pub input_bytes: usize,
}

const MIB: usize = 1 << 20;

/// Also the largest file that [`decode`](crate::decode) takes.
pub(crate) const MAX_INPUT: usize = 64 * MIB;

impl Default for Budget {
    fn default() -> Self {
        Self {
            depth: 1_000,
            alias_nodes: 1_000_000,
            alias_bytes: 64 * MIB,
            documents: 100_000,
            scalar_bytes: 16 * MIB,
            input_bytes: MAX_INPUT,
        }
    }
}
