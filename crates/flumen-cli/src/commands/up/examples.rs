//! Examples in the binary, for machines without the repository.

use std::fs;

use clap::ValueEnum;
use tempfile::TempDir;

use crate::error::{CommandError, Failure};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Example {
    FluxRepo,
    Quickstart,
}

macro_rules! files {
    ($directory:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../../examples/", $directory, "/", $file)))),*]
    };
}

const FLUX_REPO: &[(&str, &str)] = files!("flux-repo":
    "clusters/local/apps.yaml",
    "clusters/local/flux-system/gotk-sync.yaml",
    "clusters/local/flux-system/kustomization.yaml",
    "clusters/local/infrastructure.yaml",
    "infrastructure/caches/definition.yaml",
    "infrastructure/caches/deployment.yaml",
    "infrastructure/caches/kustomization.yaml",
    "infrastructure/caches/namespace.yaml",
    "apps/base/cache.yaml",
    "apps/base/deployment.yaml",
    "apps/base/kustomization.yaml",
    "apps/base/namespace.yaml",
    "apps/base/service.yaml",
    "apps/local/kustomization.yaml",
);

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
    /// Returns the name on the command line, and in `examples`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::FluxRepo => "flux-repo",
            Self::Quickstart => "quickstart",
        }
    }

    /// Writes the files of the example into a temporary directory of its name.
    pub(super) fn unpack(self) -> Result<Unpacked, CommandError> {
        let files = match self {
            Self::FluxRepo => FLUX_REPO,
            Self::Quickstart => QUICKSTART,
        };
        let name = self.name();
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
pub(super) struct Unpacked {
    scratch: TempDir,
    name: &'static str,
}

impl Unpacked {
    pub(super) fn path(&self) -> std::path::PathBuf {
        self.scratch.path().join(self.name)
    }
}
