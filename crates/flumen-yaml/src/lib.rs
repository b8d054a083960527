//! YAML as the Kubernetes tools read and write it.
//!
//! The reader accepts and rejects what go-yaml v3 does; the writer prints what go-yaml v2 prints
//! through `sigs.k8s.io/yaml`, because that pair is what `kustomize build` is made of.
//! In between stands one tree, [`Node`], that keeps the order of keys and the place of every node.
//!
//! ```text
//! bytes ─▶ scanner ─▶ parser (events) ─▶ composer ─▶ Node ─▶ emitter ─▶ bytes
//! ```
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read recorded data"))]

mod blocks;
mod budget;
mod canonical;
mod compose;
mod emit;
mod encoding;
mod error;
mod json;
mod natural_order;
mod node;
mod number;
mod parser;
mod resolve;
mod scanner;
mod text;
mod timestamp;
mod yaml_1_1;

pub use blocks::to_blocks;
pub use budget::Budget;
pub use canonical::{Canonical, canonical, same_value};
pub use compose::{Events, events, read, read_lenient, read_resource};
pub use emit::{EmitError, Unprintable, emit};
pub use encoding::{decode, decode_text};
pub use error::Error;
pub use json::to_json;
pub use node::{Entry, Map, Node, Pos, Scalar, Style, Tag, Value};
pub use number::int_value;
pub use parser::{Event, EventKind, Properties};
pub use resolve::resolve;
pub use text::Text;
pub use yaml_1_1::as_yaml_1_1;
