//! Examples that come with the program, for machines that have nothing else of it.

use std::fs;

use clap::ValueEnum;
use tempfile::TempDir;

use crate::error::{CommandError, Failure};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    Quickstart,
}

macro_rules! files {
    ($directory:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../examples/", $directory, "/", $file)))),*]
    };
}

const QUICKSTART: &[(&str, &str)] = files!("quickstart":
    "kustomization.yaml",
    "namespaces.yaml",
    "base/deployment.yaml",
    "base/kustomization.yaml",
    "base/service.yaml",
    "overlays/production/kustomization.yaml",
    "overlays/production/memory.yaml",
    "overlays/staging/kustomization.yaml",
);

impl Example {
    /// Writes the files of the example into a directory of its name that vanishes afterwards.
    pub(crate) fn unpack(self) -> Result<Unpacked, CommandError> {
        let (name, files) = match self {
            Self::Quickstart => ("quickstart", QUICKSTART),
        };
        let written = || -> std::io::Result<Unpacked> {
            let unpacked = Unpacked { scratch: TempDir::with_prefix("flumen-")?, name };
            for (file, text) in files {
                let path = unpacked.path().join(file);
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory)?;
                }
                fs::write(path, text)?;
            }
            Ok(unpacked)
        };
        written().map_err(|error| Failure::new(format!("cannot write the example: {error}")).into())
    }
}

/// An example on disk.
#[derive(Debug)]
pub(crate) struct Unpacked {
    scratch: TempDir,
    name: &'static str,
}

impl Unpacked {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.scratch.path().join(self.name)
    }
}
