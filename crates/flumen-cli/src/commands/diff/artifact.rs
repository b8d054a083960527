//! `flumen diff artifact`.

use std::path::{Path, PathBuf};

use clap::Args;
use flumen_oci::{
    Reference,
    artifact::{TreeOptions, compare_with_path},
};
use similar::TextDiff;

use crate::{
    artifact_args::{ReadArgs, ignore},
    error::CommandError,
    printable::Lines,
    printable::printable,
    registry_args::RegistryArgs,
    runtime,
    ui::Ui,
};

const CONTEXT: usize = 3;
const MAX_LINE: usize = 4 << 10;

/// Show how two artifacts differ, or an artifact and a directory
///
/// Two artifacts are compared by their manifests, an artifact and a directory file by file. The
/// exit status is 0 if they are equal and 1 if they differ.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  # What changed between two versions
  flumen diff artifact oci://registry.example.com/org/app:v1 oci://registry.example.com/org/app:v2

  # Whether a directory is what was pushed
  flumen diff artifact oci://registry.example.com/org/app:v1 --path ./deploy"
)]
pub(super) struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    url: Reference,

    /// The other artifact
    #[arg(value_name = "URL", required_unless_present = "path", conflicts_with = "path")]
    other: Option<Reference>,

    /// The directory or file that was pushed with --path
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,

    /// Patterns of files to leave out, in the syntax of .gitignore; replaces the default ones
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', requires = "path")]
    ignore_paths: Vec<String>,

    /// Compare what symbolic links lead to, instead of leaving them out
    #[arg(long, requires = "path")]
    resolve_symlinks: bool,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) fn run(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(async {
        match (&args.other, &args.path) {
            (Some(other), _) => texts(args, other, ui).await,
            (None, Some(path)) => files(args, path, ui).await,
            (None, None) => Err(CommandError::failure("there is nothing to compare with")),
        }
    })
}

async fn texts(args: &ArtifactArgs, other: &Reference, ui: &Ui) -> Result<(), CommandError> {
    let mut reader = args.read.reader(&args.registry)?;
    let (first, second) = (reader.pull(&args.url).await?, reader.pull(other).await?);
    if first.yaml == second.yaml {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (text(&first.yaml), text(&second.yaml));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&args.url.to_string(), &other.to_string())
        .to_string();
    ui.data(unified.as_bytes())?;
    Err(CommandError::Different)
}

async fn files(args: &ArtifactArgs, path: &Path, ui: &Ui) -> Result<(), CommandError> {
    let options = TreeOptions {
        ignore: ignore(&args.ignore_paths),
        resolve_symlinks: args.resolve_symlinks,
        normalize_modes: true,
    };
    let repository = args.registry.open(&args.url)?;
    let changes =
        compare_with_path(&repository, &args.url.target(), path, &options, &args.read.options()?)
            .await?;
    if changes.is_empty() {
        ui.success(&format!("no changes between {} and {}", args.url, path.display()));
        return Ok(());
    }
    for change in &changes {
        ui.talk(&format!("{}\n", printable(&change.to_string(), Lines::Escape, MAX_LINE)));
    }
    Err(CommandError::failure("the remote artifact contents differs from the local one"))
}
