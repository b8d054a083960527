//! YAML as the Kubernetes tools read and write it.
//!
//! The reader accepts and rejects what go-yaml v3 does; the writer prints what go-yaml v2 prints
//! through `sigs.k8s.io/yaml`, because that pair is what `kustomize build` is made of.
//! In between stands one tree, [`Node`], that keeps the order of keys and the place of every node.
//!
//! ```text
//! bytes ─▶ scanner ─▶ parser (events) ─▶ composer ─▶ Node ─▶ emitter ─▶ bytes
//! ```

mod budget;
mod compose;
mod encoding;
mod error;
mod node;
mod parser;
mod resolve;
mod scanner;
mod text;

pub use budget::Budget;
pub use compose::{Events, events, read, read_resource};
pub use encoding::decode;
pub use error::Error;
pub use node::{Entry, Map, Node, Pos, Scalar, Style, Tag, Value};
pub use parser::{Event, EventKind, Properties};
pub use resolve::resolve;
pub use text::Text;
