//! Where built objects go: stdout, one file, or one file for each object.
//!
//! Nothing leaves before every path has been built and every object turned into bytes, because even
//! that can fail: YAML has values that JSON, and therefore Kubernetes, has not.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use flumen_fs::{StagedFiles, Tree};
use flumen_object::{Object, ObjectSet};

use crate::{error::CommandError, ui::Ui};

mod file_name;

const SEPARATOR: &[u8] = b"---\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Yaml,
    Json,
}

#[derive(Debug)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
    Directory(PathBuf),
}

impl Destination {
    /// An empty path is no path, as in kustomize.
    pub(crate) fn new(path: Option<&OsStr>, tree: &dyn Tree) -> Self {
        match path.filter(|path| !path.is_empty()).map(Path::new) {
            None => Self::Stdout,
            Some(path) if tree.real_dir(path).is_ok() => Self::Directory(path.to_owned()),
            Some(path) => Self::File(path.to_owned()),
        }
    }
}

/// What has been built so far and where it will go.
#[derive(Debug)]
pub(crate) struct Output {
    format: Format,
    destination: Destination,
    builds: usize,
    printed: Vec<u8>,
    /// Objects that get a file of their own.
    apart: Vec<Object>,
}

impl Output {
    pub(crate) const fn new(format: Format, destination: Destination) -> Self {
        Self { format, destination, builds: 0, printed: Vec::new(), apart: Vec::new() }
    }

    pub(crate) fn add(&mut self, objects: ObjectSet) -> Result<(), CommandError> {
        if matches!(self.destination, Destination::Directory(_)) {
            self.apart.extend(objects);
            return Ok(());
        }
        if self.builds > 0 && self.format == Format::Yaml {
            self.printed.extend_from_slice(SEPARATOR);
        }
        self.builds += 1;
        for (index, object) in objects.into_iter().enumerate() {
            if index > 0 && self.format == Format::Yaml {
                self.printed.extend_from_slice(SEPARATOR);
            }
            self.format.print(&object, &mut self.printed)?;
        }
        Ok(())
    }

    /// Prints or writes everything.
    pub(crate) fn finish(self, ui: &Ui) -> Result<(), CommandError> {
        match &self.destination {
            Destination::Stdout => ui.data(&self.printed),
            Destination::File(path) => {
                let mut files = StagedFiles::new();
                files.add(path, &self.printed).map_err(CommandError::Output)?;
                files.commit().map_err(CommandError::Output)
            }
            Destination::Directory(dir) => write_each(dir, &self.apart, self.format),
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

/// Writes one file for each object.
///
/// Kustomize lets the last of several objects with one file name win; here that is an error,
/// because an object would be lost without a word.
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
