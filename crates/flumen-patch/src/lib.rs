//! Patches: two ways to change an object, each as the tool that users know does it.
//!
//! - [`strategic_merge`]: the merge of kustomize, which knows merge keys from the schema and obeys
//!   `$patch` directives. It is not the merge of the API server: several directives of the latter
//!   mean nothing here.
//! - [`JsonPatch`]: RFC 6902 with the liberties of the Go library that kustomize uses.
//!
//! Both change the target in place and leave alone what the patch does not name, except
//! where the tool itself would rewrite it; such places say so.

mod error;
mod hints;
mod json_patch;
mod json_text;
mod plain_keys;
mod strategic;

pub use error::{Error, NodeKind};
pub use hints::Hints;
pub use json_patch::JsonPatch;
pub use strategic::{Outcome, Rules, strategic_merge, strategic_merge_with};
