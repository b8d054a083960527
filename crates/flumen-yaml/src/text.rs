//! Text that is shared with the file it was read from.

use std::{
    borrow::Borrow,
    fmt,
    ops::{Deref, Range},
};

use arcstr::{ArcStr, Substr};

/// An immutable string: a slice of a shared buffer, a buffer of its own, or a literal.
///
/// Most scalars of a manifest are never changed between reading and printing, so they stay slices
/// of the file; cloning one counts a reference and copies no bytes.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Substr);

impl Text {
    /// A text that needs no allocation.
    pub fn literal(text: &'static str) -> Self {
        // `ArcStr::from` would copy; an empty or static slice is common enough to matter.
        if text.is_empty() { Self::default() } else { Self(Substr::from(ArcStr::from(text))) }
    }

    /// The bytes `range` of `source`, which must lie on character boundaries.
    pub fn slice(source: &ArcStr, range: Range<usize>) -> Self {
        Self(source.substr(range))
    }

    /// The part of this text at `range`, sharing the same buffer.
    #[must_use]
    pub fn sub(&self, range: Range<usize>) -> Self {
        Self(self.0.substr(range))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.0.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Substr::from(ArcStr::from(text)))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Substr::from(ArcStr::from(text)))
    }
}

impl From<ArcStr> for Text {
    fn from(text: ArcStr) -> Self {
        Self(Substr::from(text))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
