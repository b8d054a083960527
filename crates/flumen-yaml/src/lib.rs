//! YAML as the Kubernetes tools read and write it.
//!
//! The reader accepts and rejects what go-yaml v3 does; the writer prints what go-yaml v2 prints
//! through `sigs.k8s.io/yaml`, because that pair is what `kustomize build` is made of.
//! In between stands one tree, [`Node`], that keeps the order of keys and the place of every node.
//!
//! ```text
//! bytes ─▶ scanner ─▶ parser (events) ─▶ composer ─▶ Node ─▶ emitter ─▶ bytes
//! ```

mod canonical;
mod emit;
mod json;
mod natural_order;
mod node;
mod number;
mod text;
mod timestamp;

pub use canonical::{Canonical, canonical, same_value};
pub use emit::{EmitError, Unprintable, emit};
pub use json::{to_json, to_json_pretty};
pub use node::{Entry, Map, Node, Pos, Scalar, Style, Tag, Value};
pub use number::int_value;
pub use text::Text;
