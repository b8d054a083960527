//! What applying an object would change, and how that is shown.
//!
//! ```text
//! manifest ─▶ normalize ─▶ what is sent
//! live, dry-run result ─▶ drift ─▶ changed or not ─▶ entries, unified text (secrets masked)
//! ```

mod digest;
mod drift;
mod ignore;
mod managed_fields;
mod normalize;
mod ownership;
mod pointer;
#[cfg(test)]
mod tests;

pub use digest::{ObjectDigest, ObjectDigestError};
pub use drift::{has_drifted, is_new};
pub use ignore::{IgnoreError, IgnoreRule, IgnoreRules, IgnoredPaths, Selector};
pub use normalize::normalize;
pub use ownership::{FormerManager, Operation, Takeover};
