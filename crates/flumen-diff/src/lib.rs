//! What applying an object would change, and how that is shown.
//!
//! ```text
//! manifest ─▶ normalize ─▶ what is sent
//! live, dry-run result ─▶ drift ─▶ changed or not ─▶ entries, unified text (secrets masked)
//! ```

mod normalize;

pub use normalize::{normalize, normalize_for_comparison};
