//! Collects the text of manifests from the files of an artifact.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use flumen_archive::{FileEntry, Sink};

/// Files whose documents are manifests.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Sink for the text of manifests.
#[derive(Debug)]
pub(super) struct Text {
    wanted: Wanted,
    /// The wanted files, in the order of the archive.
    files: Vec<(PathBuf, Vec<u8>)>,
    has_files: bool,
}

#[derive(Debug)]
enum Wanted {
    All,
    Manifests,
    File(PathBuf),
}

impl Text {
    /// Everything, one behind the other: the archive is one text.
    pub(super) const fn of_all_files() -> Self {
        Self::new(Wanted::All)
    }

    /// All files that look like manifests, as documents of one text.
    pub(super) const fn of_manifests() -> Self {
        Self::new(Wanted::Manifests)
    }

    /// One file.
    pub(super) fn of_file(path: &Path) -> Self {
        Self::new(Wanted::File(path.to_owned()))
    }

    const fn new(wanted: Wanted) -> Self {
        Self { wanted, files: Vec::new(), has_files: false }
    }

    /// Returns whether the archive had any file, wanted or not.
    pub(super) const fn has_files(&self) -> bool {
        self.has_files
    }

    /// Returns the text, or `None` without a wanted file.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        if self.files.is_empty() {
            return None;
        }
        if let (Wanted::All, [_]) | (Wanted::File(_), _) = (&self.wanted, self.files.as_slice()) {
            return self.files.pop().map(|(_, content)| content);
        }
        let is_documents = matches!(self.wanted, Wanted::Manifests);
        if is_documents {
            self.files.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        let mut text = Vec::new();
        for (_, content) in self.files {
            if is_documents && !text.is_empty() {
                if !text.ends_with(b"\n") {
                    text.push(b'\n');
                }
                text.extend_from_slice(b"---\n");
            }
            text.extend_from_slice(&content);
        }
        Some(text)
    }
}

impl Sink for Text {
    fn wants(&self, path: &Path) -> bool {
        match &self.wanted {
            Wanted::All => true,
            Wanted::Manifests => is_manifest(path),
            Wanted::File(file) => path == file,
        }
    }

    fn directory(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        self.has_files = true;
        if self.wants(entry.path) {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            self.files.push((entry.path.to_owned(), bytes));
        }
        Ok(())
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}
