//! What applying an object would change, and how that is shown.
//!
//! ```text
//! manifest ─▶ normalize ─▶ what is sent
//! live, dry-run result ─▶ drift ─▶ changed or not ─▶ entries, unified text (secrets masked)
//! ```

mod change;
mod digest;
mod drift;
mod entries;
mod fields;
mod hold;
mod ignore;
mod managed_fields;
mod mask;
mod normalize;
mod ownership;
mod plan;
mod pointer;
mod shown;
#[cfg(test)]
mod tests;
mod unified;

pub use change::{Change, ChangeSubject, ChangeType, Entry, PlanOperation};
pub use digest::{ObjectDigest, ObjectDigestError};
pub use drift::{has_drifted, is_new};
pub use hold::is_held;
pub use ignore::{IgnoreError, IgnoreRule, IgnoreRules, IgnoredPaths, Selector};
pub use managed_fields::last_manager_but;
pub use mask::{SecretValues, mask, mask_both};
pub use normalize::normalize;
pub use ownership::{FormerManager, Operation, Takeover};
pub use plan::{PlanDocument, PlanError};
pub use unified::{DiffLine, LineKind, unified};
