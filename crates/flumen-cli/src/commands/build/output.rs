//! Where built objects go: stdout, one file, or one file for each object.
//!
//! Nothing is written before every path has been built and every object has been printed to memory, because even
//! that can fail: YAML has values that JSON, and therefore Kubernetes, does not have.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    mem,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use flumen_fs::{StagedFiles, Tree};
use flumen_object::{Object, ObjectSet};

use crate::{error::CommandError, ui::Ui};

mod file_name;

const SEPARATOR: &[u8] = b"---\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Yaml,
    Json,
}

#[derive(Debug)]
pub(super) enum Destination {
    Stdout,
    File(PathBuf),
    Directory(PathBuf),
}

impl Destination {
    /// An empty path is no path, as in kustomize.
    pub(super) fn new(path: Option<&OsStr>, tree: &dyn Tree) -> Self {
        match path.filter(|path| !path.is_empty()).map(Path::new) {
            None => Self::Stdout,
            Some(path) if tree.real_dir(path).is_ok() => Self::Directory(path.to_owned()),
            Some(path) => Self::File(path.to_owned()),
        }
    }
}

/// Chunks have this many bytes: growing a single one would copy all of it several times.
const CHUNK: usize = 64 << 10;

/// The objects built so far and their destination.
#[derive(Debug)]
pub(super) struct Output {
    format: Format,
    destination: Destination,
    /// The text of all builds, in chunks that end where an object ends: the complete ones, and the last.
    complete: Vec<Vec<u8>>,
    chunk: Vec<u8>,
    /// The objects of all builds, if each gets a file of its own.
    objects: Vec<Object>,
}

impl Output {
    pub(super) const fn new(format: Format, destination: Destination) -> Self {
        Self { format, destination, complete: Vec::new(), chunk: Vec::new(), objects: Vec::new() }
    }

    pub(super) fn add(&mut self, objects: ObjectSet) -> Result<(), CommandError> {
        if matches!(self.destination, Destination::Directory(_)) {
            self.objects.extend(objects);
            return Ok(());
        }
        // The memory of an object serves the chunks to come.
        objects.into_iter().try_for_each(|object| self.print(&object))
    }

    fn print(&mut self, object: &Object) -> Result<(), CommandError> {
        if self.format == Format::Yaml && !(self.complete.is_empty() && self.chunk.is_empty()) {
            self.chunk.extend_from_slice(SEPARATOR);
        }
        self.format.print(object, &mut self.chunk)?;
        if self.chunk.len() >= CHUNK {
            self.complete.push(mem::take(&mut self.chunk));
        }
        Ok(())
    }

    /// Prints or writes everything.
    pub(super) fn finish(mut self, ui: &Ui) -> Result<(), CommandError> {
        self.complete.push(self.chunk);
        match &self.destination {
            Destination::Stdout => self.complete.iter().try_for_each(|chunk| ui.data(chunk)),
            Destination::File(path) => write_one(path, &self.complete.concat()),
            Destination::Directory(dir) => write_each(dir, &self.objects, self.format),
        }
    }
}

impl Format {
    fn print(self, object: &Object, out: &mut Vec<u8>) -> Result<(), CommandError> {
        let printed = match self {
            Self::Yaml => flumen_yaml::emit(&object.node, out),
            Self::Json => flumen_yaml::to_json(&object.node).map(|json| {
                out.extend_from_slice(json.as_bytes());
                out.push(b'\n');
            }),
        };
        printed.map_err(|source| CommandError::Unprintable {
            object: Box::new(object.clone()),
            source,
        })
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }
}

fn write_one(path: &Path, content: &[u8]) -> Result<(), CommandError> {
    let mut files = StagedFiles::new();
    files.add(path, content).map_err(CommandError::Output)?;
    files.commit().map_err(CommandError::Output)
}

/// Writes one file for each object.
///
/// Kustomize lets the last of several objects with one file name win; here that is an error,
/// because an object would be lost silently.
fn write_each(dir: &Path, objects: &[Object], format: Format) -> Result<(), CommandError> {
    let names = file_name::for_objects(objects, format.extension())?;
    let mut taken = BTreeSet::new();
    let mut files = StagedFiles::new();
    let mut bytes = Vec::new();
    for (object, name) in objects.iter().zip(&names) {
        if !taken.insert(name) {
            return Err(CommandError::FileName {
                message: format!("two objects would be written to the file `{name}`"),
            });
        }
        bytes.clear();
        format.print(object, &mut bytes)?;
        files.add(&dir.join(name), &bytes).map_err(CommandError::Output)?;
    }
    files.commit().map_err(CommandError::Output)
}
