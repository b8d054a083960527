//! Manifests in files and directories.

use std::path::{Path, PathBuf};

use flumen_fs::{Bounds, FsError, Tree};
use flumen_object::Object;

use crate::{Error, documents};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Far more than any directory of manifests holds, far less than a file system does.
pub(crate) const MAX_FILES: usize = 100_000;

/// Reads a file, or all manifests in and below a directory in the order of their names.
pub(crate) fn read(tree: &dyn Tree, path: &Path, objects: &mut Vec<Object>) -> Result<(), Error> {
    let text = match tree.read(path, Bounds::Anywhere) {
        Ok(text) => text,
        Err(FsError::IsDirectory { .. }) => return read_dir(tree, path, objects),
        Err(error) => return Err(error.into()),
    };
    documents::collect(&text, path, objects)
}

fn read_dir(tree: &dyn Tree, path: &Path, objects: &mut Vec<Object>) -> Result<(), Error> {
    let root = tree.real_dir(path)?;
    // Directories still to enter: as they are named in messages, and where they really are.
    let mut ahead = vec![(path.to_owned(), root.clone())];
    let mut entries = 0;
    while let Some((dir, real)) = ahead.pop() {
        let mut below = Vec::new();
        for name in tree.list(&real)? {
            entries += 1;
            if entries > MAX_FILES {
                return Err(Error::TooManyFiles { dir: path.to_owned(), limit: MAX_FILES });
            }
            let file = dir.join(&name);
            if is_manifest(&file) {
                match tree.read(&real.join(&name), Bounds::Within(&root)) {
                    Ok(text) => {
                        documents::collect(&text, &file, objects)?;
                        continue;
                    }
                    Err(FsError::IsDirectory { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some(real) = directory(tree, &real.join(&name)) {
                below.push((file, real));
            }
        }
        ahead.extend(below.into_iter().rev());
    }
    Ok(())
}

/// The directory at `path`, unless a link leads there: it could lead out, or round in a circle.
pub(crate) fn directory(tree: &dyn Tree, path: &Path) -> Option<PathBuf> {
    tree.real_dir(path).ok().filter(|real| real == path)
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

#[cfg(test)]
mod tests {
    use flumen_fs::MemoryTree;

    use super::*;

    fn object(name: &str) -> String {
        format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n")
    }

    fn read_names(tree: &MemoryTree, path: &str) -> Result<Vec<String>, Error> {
        let mut objects = Vec::new();
        read(tree, Path::new(path), &mut objects)?;
        Ok(objects.iter().map(|object| format!("{} {}", object.id().name, object.origin)).collect())
    }

    #[test]
    fn directories_are_read_in_the_order_of_names() {
        let mut tree = MemoryTree::new();
        tree.insert_file("/m/b.yml", object("b"));
        tree.insert_file("/m/a/z.json", object("z"));
        tree.insert_file("/m/a/y.yaml", object("y"));
        tree.insert_file("/m/dir.yaml/x.yaml", object("x"));
        tree.insert_file("/m/readme.md", "# no manifest");
        tree.insert_file("/outside/secret.yaml", object("outside"));
        tree.insert_link("/m/again", "/m");
        tree.insert_link("/m/out", "/outside");
        assert_eq!(
            read_names(&tree, "/m").expect("manifests"),
            [
                "b /m/b.yml:1:1",
                "y /m/a/y.yaml:1:1",
                "z /m/a/z.json:1:1",
                "x /m/dir.yaml/x.yaml:1:1"
            ]
        );
        assert_eq!(read_names(&tree, "/m/b.yml").expect("one"), ["b /m/b.yml:1:1"]);
    }

    #[test]
    fn a_link_out_of_the_directory_is_refused() {
        let mut tree = MemoryTree::new();
        tree.insert_file("/outside/secret.yaml", object("outside"));
        tree.insert_link("/m/a.yaml", "/outside/secret.yaml");
        let error = read_names(&tree, "/m").expect_err("outside");
        assert!(matches!(error, Error::File(FsError::Outside { .. })), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let mut tree = MemoryTree::new();
        assert_eq!(read_names(&tree, "/m").expect_err("none").to_string(), "`/m` does not exist");
        tree.insert_file("/m/a.yaml", "a: b: c\n");
        let error = read_names(&tree, "/m").expect_err("malformed");
        let (file, pos) = error.location().expect("a place");
        assert_eq!((file, pos.line), (Path::new("/m/a.yaml"), 1));
    }
}
