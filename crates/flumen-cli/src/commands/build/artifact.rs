//! `flumen build artifact`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::Args;
use flumen_archive::PathOptions;
use flumen_fs::StagedFiles;
use flumen_oci::artifact::{Metadata, Packed, pack_path, pack_text, text_file_name};

use crate::{
    args::{
        artifact::{ignore, standard_input},
        env::temporary_directory,
        size,
    },
    error::{CommandError, error_chain},
    ui::Ui,
};

/// What the command is called, and a directory may be.
const NAME: &str = "artifact";

/// Pack a directory into a file, as `push artifact --path` packs it
///
/// The file is what an artifact for Flux has for its layer: a gzipped tar archive. Nothing is built, and no registry is
/// asked. To build a kustomization in a directory of this name, write `flumen build ./artifact`.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  # A directory
  flumen build artifact --path ./deploy --output deploy.tgz

  # What is in it
  tar -tzvf deploy.tgz

  # What another program prints
  flumen build overlays/production | flumen build artifact --path - --output production.tgz"
)]
pub(super) struct ArtifactArgs {
    /// Directory or file, or `-` for the standard input
    #[arg(short, long, value_name = "PATH")]
    path: Option<OsString>,

    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "artifact.tgz")]
    output: PathBuf,

    /// Patterns of files to leave out, in the syntax of .gitignore; replaces the default ones
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    ignore_paths: Vec<String>,

    /// Pack what symbolic links lead to, instead of leaving them out
    #[arg(long)]
    resolve_symlinks: bool,

    /// How much is read of the standard input
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size::parse)]
    max_size: u64,

    /// Further words, of which Flux takes no notice
    #[arg(value_name = "WORD", hide = true)]
    words: Vec<String>,
}

pub(super) fn run(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let Some(path) = args.path.as_deref().filter(|path| !path.is_empty()).map(Path::new) else {
        return Err(args.no_path());
    };
    let packed = if path == Path::new("-") {
        let text = standard_input(args.max_size).map_err(CommandError::in_brief)?;
        // Where Flux puts the text before it packs it; the archive has the same name.
        begin(&temporary_directory().join(text_file_name(&text)), ui);
        pack_text(&text, &Metadata::default())
    } else {
        if path.metadata().is_err() {
            let path = path.display();
            return Err(CommandError::brief(format!(
                "invalid path '{path}', must point to an existing directory or file"
            )));
        }
        begin(path, ui);
        pack_path(path, &args.options(), &Metadata::default())
    };
    packed.map_err(|error| failed(&error)).and_then(|packed| write(&packed, &args.output))?;
    ui.success(&format!("artifact created at {}", args.output.display()));
    Ok(())
}

fn begin(from: &Path, ui: &Ui) {
    ui.step(&format!("building artifact from {}", from.display()));
}

fn write(packed: &Packed, output: &Path) -> Result<(), CommandError> {
    let layer = packed.blobs.first().map(|(_, bytes)| &**bytes).unwrap_or_default();
    let mut files = StagedFiles::new();
    files.add(output, layer).and_then(|()| files.commit()).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::error::Error) -> CommandError {
    CommandError::brief(format!("building artifact failed, error: {}", error_chain(error)))
}

impl ArtifactArgs {
    fn options(&self) -> PathOptions {
        PathOptions {
            ignore: ignore(&self.ignore_paths),
            resolve_symlinks: self.resolve_symlinks,
            normalize_modes: false,
        }
    }

    /// As Flux says it, and what to do if something else was meant.
    fn no_path(&self) -> CommandError {
        let hint = match self.words.first() {
            Some(word) => format!(" (`--path {word}` names the directory)"),
            None if Path::new(NAME).is_dir() => {
                format!(" (`flumen build ./{NAME}` builds the directory of this name)")
            }
            None => String::new(),
        };
        CommandError::brief(format!("invalid path \"\"{hint}"))
    }
}
