//! A whole tree, written as a text archive like the golden cases.
#![no_main]

use std::path::Path;

use flumen_fs::MemoryTree;
use flumen_fuzz::build;
use flumen_testkit::{Archive, Content};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(archive) = Archive::parse(text) else { return };
    let mut tree = MemoryTree::new();
    for file in archive.files {
        let path = Path::new("/").join(file.path);
        match file.content {
            Content::File(bytes) => tree.insert_file(path, bytes),
            Content::Symlink(target) => tree.insert_link(path, target),
            Content::Directory => tree.insert_dir(path),
        }
    }
    build(tree);
});
