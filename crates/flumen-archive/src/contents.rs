//! The files of an archive in one file, or in memory, one behind the other.
//!
//! Thousands of small files cost more to create and to remove than all else that is done with an artifact: file systems
//! look for a place for each, the longer the more were removed just before. Here is one file, and an index in memory.
//! There are no links, so no path leads anywhere else.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{Bounds, Entry, EntryKind, FsError, MAX_FILE_SIZE, Tree, clean};
use parking_lot::Mutex;

use crate::{FileEntry, Sink};

/// Sink that keeps the files of an archive one behind the other.
#[derive(Debug)]
pub struct Contents<F: Write> {
    bytes: BufWriter<F>,
    end: u64,
    index: ContentsIndex,
}

/// Files and directories by their path below the root; that of the root itself is empty.
#[derive(Debug)]
pub struct ContentsIndex {
    nodes: HashMap<PathBuf, Node>,
}

#[derive(Debug)]
enum Node {
    /// The names in it.
    Directory(BTreeSet<String>),
    File {
        offset: u64,
        size: u64,
        is_executable: bool,
    },
}

impl<F: Write> Contents<F> {
    /// `file` is empty and nothing else writes to it.
    pub fn new(file: F) -> Self {
        let root = (PathBuf::new(), Node::Directory(BTreeSet::new()));
        Self { bytes: BufWriter::new(file), end: 0, index: ContentsIndex { nodes: [root].into() } }
    }

    /// Returns the files as a tree.
    pub fn finish(self) -> io::Result<ContentsTree<F>> {
        let file = self.bytes.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(ContentsTree::new(Arc::new(self.index), file))
    }
}

impl<F: Write> Sink for Contents<F> {
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        match self.index.nodes.get(path) {
            Some(Node::Directory(_)) => Ok(()),
            Some(Node::File { .. }) => Err(io::ErrorKind::AlreadyExists.into()),
            None => self.index.insert(path, Node::Directory(BTreeSet::new())),
        }
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let is_executable = match self.index.nodes.get(entry.path) {
            // Another content of a file leaves its mode as it was, as writing to it would.
            Some(Node::File { is_executable, .. }) => *is_executable,
            Some(Node::Directory(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            None => entry.mode & 0o100 != 0,
        };
        let size = io::copy(content, &mut self.bytes)?;
        self.index.insert(entry.path, Node::File { offset: self.end, size, is_executable })?;
        self.end += size;
        Ok(())
    }
}

impl ContentsIndex {
    /// Adds a file or directory, and the directories above it.
    fn insert(&mut self, path: &Path, node: Node) -> io::Result<()> {
        let mut below = path;
        while let (Some(parent), Some(name)) = (below.parent(), below.file_name()) {
            let name = name.to_string_lossy().into_owned();
            match self.nodes.get_mut(parent) {
                Some(Node::Directory(names)) => {
                    names.insert(name);
                    break;
                }
                Some(Node::File { .. }) => return Err(io::ErrorKind::NotADirectory.into()),
                None => {
                    self.nodes.insert(parent.to_owned(), Node::Directory([name].into()));
                    below = parent;
                }
            }
        }
        self.nodes.insert(path.to_owned(), node);
        Ok(())
    }

    fn get(&self, path: &Path) -> Result<&Node, FsError> {
        let below = path.strip_prefix("/").unwrap_or(path);
        self.nodes.get(below).ok_or_else(|| {
            let mut above = below.ancestors().skip(1).filter_map(|above| self.nodes.get(above));
            let path = path.to_owned();
            match above.next() {
                Some(Node::File { .. }) => FsError::NotDirectory { path },
                _ => FsError::NotFound { path },
            }
        })
    }
}

/// Tree of the files of an archive; its root is `/`.
#[derive(Debug)]
pub struct ContentsTree<F> {
    index: Arc<ContentsIndex>,
    bytes: Mutex<F>,
}

impl<F> ContentsTree<F> {
    /// Tree of an index and of the file that was written with it.
    pub fn new(index: Arc<ContentsIndex>, file: F) -> Self {
        Self { index, bytes: Mutex::new(file) }
    }

    pub const fn index(&self) -> &Arc<ContentsIndex> {
        &self.index
    }

    fn names(&self, dir: &Path) -> Result<&BTreeSet<String>, FsError> {
        match self.index.get(dir)? {
            Node::Directory(names) => Ok(names),
            Node::File { .. } => Err(FsError::NotDirectory { path: dir.to_owned() }),
        }
    }

    fn bytes(&self, offset: u64, size: u64) -> io::Result<Vec<u8>>
    where
        F: Read + Seek,
    {
        // Each reader goes to its place first, wherever one that failed has stopped.
        let mut file = self.bytes.lock();
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl<F: Read + Seek + Send + fmt::Debug> Tree for ContentsTree<F> {
    fn real_dir(&self, path: &Path) -> Result<PathBuf, FsError> {
        let path = absolute(path);
        self.names(&path)?;
        Ok(path)
    }

    fn read(&self, path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
        let path = absolute(path);
        let Node::File { offset, size, .. } = *self.index.get(&path)? else {
            return Err(FsError::IsDirectory { path });
        };
        bounds.check(&path, &path)?;
        if size > MAX_FILE_SIZE {
            return Err(FsError::TooLarge { path, limit: MAX_FILE_SIZE });
        }
        self.bytes(offset, size).map_err(|source| FsError::Io { path, source })
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, FsError> {
        Ok(self.names(&absolute(dir))?.iter().cloned().collect())
    }

    fn entries(&self, dir: &Path) -> Result<Vec<Entry>, FsError> {
        let dir = absolute(dir);
        let entry = |name: &String| {
            let kind = match self.index.get(&dir.join(name))? {
                Node::Directory(_) => EntryKind::Directory,
                Node::File { is_executable, .. } => {
                    EntryKind::File { is_executable: *is_executable }
                }
            };
            Ok(Entry { name: name.clone(), kind })
        };
        self.names(&dir)?.iter().map(entry).collect()
    }
}

/// Nothing above the root can be named.
fn absolute(path: &Path) -> PathBuf {
    clean(&Path::new("/").join(path)).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn add(contents: &mut Contents<File>, path: &str, mode: u32, text: &str) -> io::Result<()> {
        let entry = FileEntry { path: Path::new(path), mode };
        contents.file(&entry, &mut text.as_bytes())
    }

    fn contents() -> Contents<File> {
        let mut contents = Contents::new(tempfile::tempfile().expect("a file"));
        add(&mut contents, "a/b/run.sh", 0o755, "run").expect("taken");
        contents.directory(Path::new("a/b")).expect("known");
        contents.directory(Path::new("empty")).expect("taken");
        add(&mut contents, "a/x.yaml", 0o644, "x: 1").expect("taken");
        add(&mut contents, "nothing", 0o600, "").expect("taken");
        contents
    }

    #[test]
    fn files_are_where_the_archive_has_them() {
        let tree = contents().finish().expect("written");
        let read = |path: &str| tree.read(Path::new(path), Bounds::Anywhere);
        assert_eq!(read("/a/x.yaml").expect("file"), b"x: 1");
        assert_eq!(read("a/b/../b/./run.sh").expect("file"), b"run");
        assert_eq!(read("/../nothing").expect("file"), b"");
        assert_eq!(tree.list(Path::new("/")).expect("root"), ["a", "empty", "nothing"]);
        assert!(tree.list(Path::new("/empty")).expect("directory").is_empty());
        assert_eq!(tree.real_dir(Path::new("/a/./b/")).expect("directory"), Path::new("/a/b"));
        let entries = tree.entries(Path::new("/a")).expect("directory");
        let kinds: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        let plain = EntryKind::File { is_executable: false };
        assert_eq!(kinds, [("b", EntryKind::Directory), ("x.yaml", plain)]);
        let entries = tree.entries(Path::new("/a/b")).expect("directory");
        assert_eq!(entries[0].kind, EntryKind::File { is_executable: true });
    }

    #[test]
    fn what_is_not_there_is_said_as_a_file_system_says_it() {
        let tree = contents().finish().expect("written");
        let read = |path: &str| tree.read(Path::new(path), Bounds::Anywhere).expect_err(path);
        assert!(matches!(read("/a/none"), FsError::NotFound { .. }));
        assert!(matches!(read("/none/x"), FsError::NotFound { .. }));
        assert!(matches!(read("/a/x.yaml/y"), FsError::NotDirectory { .. }));
        assert!(matches!(read("/a"), FsError::IsDirectory { .. }));
        let file = Path::new("/a/x.yaml");
        assert!(matches!(tree.list(file), Err(FsError::NotDirectory { .. })));
        assert!(matches!(tree.real_dir(file), Err(FsError::NotDirectory { .. })));
        let outside = tree.read(file, Bounds::Within(Path::new("/a/b")));
        assert!(matches!(outside, Err(FsError::Outside { .. })));
    }

    #[test]
    fn the_last_content_of_a_file_counts() {
        let mut contents = contents();
        add(&mut contents, "a/x.yaml", 0o755, "x: 2").expect("taken");
        let tree = contents.finish().expect("written");
        let read = |path: &str| tree.read(Path::new(path), Bounds::Anywhere).expect("file");
        assert_eq!((read("/a/x.yaml"), read("/a/b/run.sh")), (b"x: 2".to_vec(), b"run".to_vec()));
        let entries = tree.entries(Path::new("/a")).expect("directory");
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1].kind, EntryKind::File { is_executable: false });
    }

    #[test]
    fn files_and_directories_do_not_replace_each_other() {
        let mut contents = contents();
        let kind = |result: io::Result<()>| result.expect_err("refused").kind();
        let exists = io::ErrorKind::AlreadyExists;
        assert_eq!(kind(add(&mut contents, "a/b", 0o644, "a directory")), exists);
        assert_eq!(kind(contents.directory(Path::new("a/x.yaml"))), exists);
        let below = add(&mut contents, "a/x.yaml/y", 0o644, "below a file");
        assert_eq!(kind(below), io::ErrorKind::NotADirectory);
    }
}
