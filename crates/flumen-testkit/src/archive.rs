//! A file tree in one text file.
//!
//! ```text
//! # What the tree is about. Lines before the first section are its header.
//! -- kustomization.yaml --
//! resources: [app.yaml]
//! -- data/key (no final newline) --
//! secret
//! -- windows.yaml (escaped) --
//! a: 1\r
//! -- logo.png (base64) --
//! iVBORw0KGgo=
//! -- link.yaml -> app.yaml --
//! -- empty/ --
//! == stdout ==
//! …
//! ```
//!
//! `-- … --` is a file of the tree, `== … ==` something beside it, such as the expected output.
//! Content is taken as it stands. Three remarks in parentheses cover what plain lines cannot say;
//! the writer picks the mildest one that is exact, so that `write` and `parse` are inverse.

use std::{fmt::Write as _, fs, io, path::Path};

use thiserror::Error;

use crate::archive::encoding::Encoding;

mod encoding;

/// A header, the files of a tree, and named texts that belong to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archive {
    /// Lines before the first section, without their `# `.
    pub header: Vec<String>,
    pub files: Vec<Entry>,
    /// The `== name ==` sections in their order.
    pub sections: Vec<(String, Vec<u8>)>,
}

/// One file of the tree; `path` is relative and uses `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    File(Vec<u8>),
    Symlink(String),
    Directory,
}

/// Why a text is no archive.
#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error("line {line}: expected `# …` or a section before any content")]
    StrayLine { line: usize },
    #[error("line {line}: section `{name}` appears twice")]
    Duplicate { line: usize, name: String },
    #[error("line {line}: `{name}` leaves the tree")]
    Escapes { line: usize, name: String },
    #[error("section `{name}`: {reason}")]
    Encoding { name: String, reason: String },
    #[error("section `{name}` has no content of its own, but lines follow it")]
    UnexpectedContent { name: String },
}

impl Archive {
    /// Reads an archive; any text is one whose headings are well formed.
    pub fn parse(text: &str) -> Result<Self, ArchiveError> {
        let mut archive = Self::default();
        let mut open: Option<(Heading, String)> = None;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let number = index + 1;
            let bare = line.strip_suffix('\n').unwrap_or(line);
            if let Some(heading) = Heading::parse(bare) {
                archive.close(open.take())?;
                archive.check_new(&heading, number)?;
                open = Some((heading, String::new()));
            } else if let Some((_, body)) = &mut open {
                body.push_str(line);
            } else if let Some(comment) = bare.strip_prefix('#') {
                archive.header.push(comment.strip_prefix(' ').unwrap_or(comment).to_owned());
            } else if !bare.trim().is_empty() {
                return Err(ArchiveError::StrayLine { line: number });
            }
        }
        archive.close(open)?;
        Ok(archive)
    }

    /// The text that [`Archive::parse`] reads back as this archive.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for line in &self.header {
            let space = if line.is_empty() { "" } else { " " };
            let _ = writeln!(text, "#{space}{line}");
        }
        for file in &self.files {
            match &file.content {
                Content::File(bytes) => write_section(&mut text, "--", &file.path, bytes),
                Content::Symlink(target) => {
                    let _ = writeln!(text, "-- {} -> {target} --", file.path);
                }
                Content::Directory => {
                    let _ = writeln!(text, "-- {}/ --", file.path);
                }
            }
        }
        for (name, bytes) in &self.sections {
            write_section(&mut text, "==", name, bytes);
        }
        text
    }

    /// The content of the `== name ==` section.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        self.sections.iter().find(|(key, _)| key == name).map(|(_, bytes)| bytes.as_slice())
    }

    /// Writes the tree below `root`, which must exist.
    pub fn unpack(&self, root: &Path) -> io::Result<()> {
        for file in &self.files {
            let path = root.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            match &file.content {
                Content::File(bytes) => fs::write(&path, bytes)?,
                Content::Symlink(target) => link(target, &path)?,
                Content::Directory => fs::create_dir_all(&path)?,
            }
        }
        Ok(())
    }

    fn check_new(&self, heading: &Heading, line: usize) -> Result<(), ArchiveError> {
        let name = &heading.name;
        let taken = if heading.is_file {
            self.files.iter().any(|file| file.path == *name)
        } else {
            self.sections.iter().any(|(key, _)| key == name)
        };
        if taken {
            return Err(ArchiveError::Duplicate { line, name: name.clone() });
        }
        if heading.is_file && (name.starts_with('/') || name.split('/').any(|part| part == "..")) {
            return Err(ArchiveError::Escapes { line, name: name.clone() });
        }
        Ok(())
    }

    fn close(&mut self, open: Option<(Heading, String)>) -> Result<(), ArchiveError> {
        let Some((heading, body)) = open else { return Ok(()) };
        let Heading { is_file, name, shape } = heading;
        let content = match shape {
            Shape::Encoded(encoding) => {
                Content::File(encoding.decode(&body).map_err(|reason| ArchiveError::Encoding {
                    name: name.clone(),
                    reason: reason.to_owned(),
                })?)
            }
            _ if !body.trim().is_empty() => return Err(ArchiveError::UnexpectedContent { name }),
            Shape::Symlink(target) => Content::Symlink(target),
            Shape::Directory => Content::Directory,
        };
        match content {
            Content::File(bytes) if !is_file => self.sections.push((name, bytes)),
            content => self.files.push(Entry { path: name, content }),
        }
        Ok(())
    }
}

fn write_section(text: &mut String, mark: &str, name: &str, bytes: &[u8]) {
    let encoding = Encoding::mildest(bytes);
    let _ = writeln!(text, "{mark} {name}{} {mark}", encoding.remark());
    text.push_str(&encoding.encode(bytes));
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_target: &str, _path: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "symbolic links need a Unix system"))
}

#[derive(Debug)]
struct Heading {
    is_file: bool,
    name: String,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Encoded(Encoding),
    Symlink(String),
    Directory,
}

impl Heading {
    fn parse(line: &str) -> Option<Self> {
        let (is_file, rest) = match line.strip_prefix("-- ") {
            Some(rest) => (true, rest.strip_suffix(" --")?),
            None => (false, line.strip_prefix("== ")?.strip_suffix(" ==")?),
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return None;
        }
        if is_file && let Some((name, target)) = rest.split_once(" -> ") {
            let shape = Shape::Symlink(target.to_owned());
            return Some(Self { is_file, name: name.to_owned(), shape });
        }
        if is_file && let Some(name) = rest.strip_suffix('/') {
            return Some(Self { is_file, name: name.to_owned(), shape: Shape::Directory });
        }
        let (name, encoding) = Encoding::from_remark(rest);
        Some(Self { is_file, name: name.to_owned(), shape: Shape::Encoded(encoding) })
    }
}

/// Whether a line of content would be mistaken for the start of a section.
fn looks_like_heading(line: &str) -> bool {
    Heading::parse(line).is_some()
}

#[cfg(test)]
mod tests;
