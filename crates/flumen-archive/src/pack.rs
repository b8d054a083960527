//! Packs files: from a [`Tree`](flumen_fs::Tree), or from the disk with its modes and links.

mod path;
mod tree;

pub use self::{
    path::{PathOptions, pack_path},
    tree::{Files, pack_tree},
};
