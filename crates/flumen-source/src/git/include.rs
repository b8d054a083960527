//! Trees with other trees in them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{Bounds, Entry, EntryKind, FsError, Tree, clean};

use super::GitError;

/// A part of an artifact, and where it goes.
#[derive(Clone, Debug)]
pub struct Include {
    /// Of the object that has the artifact, for messages.
    pub name: String,
    /// The artifact, whose root is `/`.
    pub tree: Arc<dyn Tree>,
    /// A file or directory of it; all of it if empty.
    pub from: String,
    /// Where it appears below the root of the repository.
    pub to: String,
}

/// Puts parts of artifacts into the tree of a repository, whose files are below `root`.
///
/// Nothing is copied: the outcome reads from both. What a part would replace is refused, except for
/// an empty directory, as renaming it there would be.
pub fn include(
    tree: Arc<dyn Tree>,
    root: &Path,
    parts: impl IntoIterator<Item = Include>,
) -> Result<Arc<dyn Tree>, GitError> {
    parts.into_iter().try_fold(tree, |tree, part| {
        let Include { name, tree: artifact, from, to } = part;
        let inside = Path::new("/").join(clean(&Path::new("/").join(&from)));
        let place = place(tree.as_ref(), root, &to)
            .map_err(|source| GitError::IncludePath { name: name.clone(), source })?;
        let failed = |reason: String| GitError::IncludeCopy {
            name: name.clone(),
            from: from.clone(),
            to: to.clone(),
            reason,
        };
        let kind = kind_of(artifact.as_ref(), &inside)
            .map_err(|error| failed(error.to_string()))?
            .ok_or_else(|| failed("no such file or directory".to_owned()))?;
        let there = kind_of(tree.as_ref(), &place).unwrap_or(None);
        let is_free = match (there, kind) {
            (None, _) | (Some(EntryKind::File { .. }), EntryKind::File { .. }) => true,
            (Some(EntryKind::Directory), EntryKind::Directory) => {
                tree.entries(&place).is_ok_and(|entries| entries.is_empty())
            }
            _ => false,
        };
        if !is_free {
            return Err(failed("file exists".to_owned()));
        }
        Ok(Arc::new(Mounted { base: tree, place, part: artifact, inside, kind }) as _)
    })
}

/// Where a path below `root` leads, after the links that are there. It need not exist.
fn place(tree: &dyn Tree, root: &Path, path: &str) -> Result<PathBuf, FsError> {
    let below = clean(&Path::new("/").join(path)).into_owned();
    let below = below.strip_prefix("/").unwrap_or(&below);
    let mut place = tree.real_dir(root)?;
    for name in below {
        place.push(name);
        match tree.real_dir(&place) {
            Ok(real) => place = real,
            Err(FsError::NotFound { .. } | FsError::NotDirectory { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(place)
}

/// What is at a path.
fn kind_of(tree: &dyn Tree, path: &Path) -> Result<Option<EntryKind>, FsError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return tree.real_dir(path).map(|_| Some(EntryKind::Directory));
    };
    let entries = match tree.entries(parent) {
        Ok(entries) => entries,
        Err(FsError::NotFound { .. } | FsError::NotDirectory { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(entries.into_iter().find(|entry| name == entry.name.as_str()).map(|entry| entry.kind))
}

/// A tree with a part of another one at one place.
#[derive(Debug)]
struct Mounted {
    base: Arc<dyn Tree>,
    place: PathBuf,
    part: Arc<dyn Tree>,
    /// What of `part` is meant.
    inside: PathBuf,
    kind: EntryKind,
}

impl Mounted {
    /// The path in `part`, if it leads there.
    fn in_part(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.place).ok()?;
        Some(if below.as_os_str().is_empty() {
            self.inside.clone()
        } else {
            self.inside.join(below)
        })
    }

    /// The next name on the way from `dir` to the part, if it is above.
    fn way_from(&self, dir: &Path) -> Option<Entry> {
        let below = self.place.strip_prefix(dir).ok()?;
        let name = below.components().next()?.as_os_str().to_string_lossy().into_owned();
        let is_last = below.components().nth(1).is_none();
        Some(Entry { name, kind: if is_last { self.kind } else { EntryKind::Directory } })
    }

    /// Links of the base may lead to the part.
    fn real(&self, path: &Path) -> PathBuf {
        let path = clean(path).into_owned();
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !path.starts_with(&self.place) => {
                self.base.real_dir(parent).unwrap_or_else(|_| parent.to_owned()).join(name)
            }
            _ => path,
        }
    }
}

impl Tree for Mounted {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let path = self.real(path);
        if let Some(inside) = self.in_part(&path) {
            let real = self.part.real_dir(&inside)?;
            let below = real.strip_prefix(&self.inside).unwrap_or(Path::new(""));
            return Ok(if below.as_os_str().is_empty() {
                self.place.clone()
            } else {
                self.place.join(below)
            });
        }
        match self.base.real_dir(&path) {
            Err(FsError::NotFound { .. }) if self.way_from(&path).is_some() => Ok(path),
            outcome => outcome,
        }
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let real = self.real(path);
        let Some(inside) = self.in_part(&real) else { return self.base.read(path, bounds) };
        bounds.check(path, &real)?;
        self.part.read(&inside, Bounds::Within(&self.inside))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        Ok(self.entries(dir)?.into_iter().map(|entry| entry.name).collect())
    }

    fn entries(&self, dir: &Path) -> Result<Vec<Entry>, FsError> {
        let dir = self.real(dir);
        if let Some(inside) = self.in_part(&dir) {
            return self.part.entries(&inside);
        }
        let mut entries = match (self.base.entries(&dir), self.way_from(&dir)) {
            (Err(FsError::NotFound { .. }), Some(_)) => Vec::new(),
            (entries, _) => entries?,
        };
        if let Some(way) = self.way_from(&dir) {
            match entries.binary_search_by(|entry| entry.name.cmp(&way.name)) {
                Ok(at) => entries[at] = way,
                Err(at) => entries.insert(at, way),
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use flumen_fs::MemoryTree;

    use super::*;

    fn tree(files: &[&str]) -> Arc<dyn Tree> {
        let mut tree = MemoryTree::new();
        tree.insert_dir("/repo");
        for file in files {
            tree.insert_file(file, *file);
        }
        Arc::new(tree)
    }

    fn part(from: &str, to: &str) -> Include {
        Include {
            name: "other".to_owned(),
            tree: tree(&["/a.yaml", "/deploy/b.yaml", "/deploy/sub/c.yaml"]),
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    /// All files below a directory, with what is in them.
    fn files(tree: &dyn Tree, dir: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in tree.entries(dir).expect("a directory") {
            let path = dir.join(&entry.name);
            if entry.kind == EntryKind::Directory {
                assert_eq!(tree.real_dir(&path).expect("a directory"), path);
                found.extend(files(tree, &path));
            } else {
                let content = tree.read(&path, Bounds::Within(Path::new("/repo"))).expect("a file");
                let content = String::from_utf8(content).expect("text");
                found.push((path.display().to_string(), content));
            }
        }
        found
    }

    #[track_caller]
    fn check(parts: Vec<Include>, expected: &[(&str, &str)]) {
        let base = tree(&["/repo/app/x.yaml", "/repo/z.yaml"]);
        let included = include(base, Path::new("/repo"), parts).expect("a tree");
        let expected: Vec<_> =
            expected.iter().map(|(path, it)| ((*path).to_owned(), (*it).to_owned())).collect();
        assert_eq!(files(included.as_ref(), Path::new("/repo")), expected);
    }

    #[test]
    fn directories_and_files_appear_where_they_are_wanted() {
        check(
            vec![part("deploy", "app/lib/new"), part("a.yaml", "y.yaml")],
            &[
                ("/repo/app/lib/new/b.yaml", "/deploy/b.yaml"),
                ("/repo/app/lib/new/sub/c.yaml", "/deploy/sub/c.yaml"),
                ("/repo/app/x.yaml", "/repo/app/x.yaml"),
                ("/repo/y.yaml", "/a.yaml"),
                ("/repo/z.yaml", "/repo/z.yaml"),
            ],
        );
    }

    #[test]
    fn parts_may_lie_in_parts() {
        check(
            vec![part("deploy", "in"), part("", "in/other"), part("a.yaml", "in/b.yaml")],
            &[
                ("/repo/app/x.yaml", "/repo/app/x.yaml"),
                ("/repo/in/b.yaml", "/a.yaml"),
                ("/repo/in/other/a.yaml", "/a.yaml"),
                ("/repo/in/other/deploy/b.yaml", "/deploy/b.yaml"),
                ("/repo/in/other/deploy/sub/c.yaml", "/deploy/sub/c.yaml"),
                ("/repo/in/sub/c.yaml", "/deploy/sub/c.yaml"),
                ("/repo/z.yaml", "/repo/z.yaml"),
            ],
        );
    }

    #[test]
    fn nothing_leaves_its_root() {
        check(
            vec![part("../../a.yaml", "../../../up.yaml")],
            &[
                ("/repo/app/x.yaml", "/repo/app/x.yaml"),
                ("/repo/up.yaml", "/a.yaml"),
                ("/repo/z.yaml", "/repo/z.yaml"),
            ],
        );
    }

    #[test]
    fn what_is_there_stays() {
        let base = || tree(&["/repo/app/x.yaml"]);
        for (from, to, expected) in [
            ("deploy", "app", "failed to copy 'other' include from deploy to app: file exists"),
            (
                "none",
                "new",
                "failed to copy 'other' include from none to new: no such file or directory",
            ),
        ] {
            let error = include(base(), Path::new("/repo"), [part(from, to)]).expect_err(to);
            assert_eq!((error.to_string().as_str(), error.reason()), (expected, "CopyFailure"));
        }
    }
}
