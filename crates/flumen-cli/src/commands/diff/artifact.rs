//! `flumen diff artifact`.

use std::path::{Path, PathBuf};

use clap::Args;
use flumen_archive::PathOptions;
use flumen_oci::{Reference, artifact::compare_with_path};
use similar::TextDiff;

use crate::{
    args::{
        artifact::{ReadArgs, ignore, required_url},
        registry::RegistryArgs,
    },
    error::CommandError,
    runtime,
    ui::Ui,
};

const CONTEXT: usize = 3;

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
    url: Option<String>,

    /// The other artifact
    #[arg(value_name = "URL", conflicts_with = "path")]
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
            (None, Some(path)) => files(args, path, ui).await.map_err(CommandError::in_brief),
            (None, None) => {
                args.url()?;
                Err(CommandError::brief("invalid path \"\""))
            }
        }
    })
}

async fn texts(args: &ArtifactArgs, other: &Reference, ui: &Ui) -> Result<(), CommandError> {
    let mut reader = args.read.reader(&args.registry)?;
    let url = args.url()?;
    let (first, second) = (reader.pull(&url).await?, reader.pull(other).await?);
    if first.yaml == second.yaml {
        return Ok(());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (old, new) = (text(&first.yaml), text(&second.yaml));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&url.to_string(), &other.to_string())
        .to_string();
    ui.data(unified.as_bytes())?;
    Err(CommandError::Different)
}

async fn files(args: &ArtifactArgs, path: &Path, ui: &Ui) -> Result<(), CommandError> {
    let url = args.url()?;
    if path.metadata().is_err() {
        let path = path.display();
        return Err(CommandError::brief(format!(
            "invalid path '{path}', must point to an existing directory or file"
        )));
    }
    let options = PathOptions {
        ignore: ignore(&args.ignore_paths),
        resolve_symlinks: args.resolve_symlinks,
        normalize_modes: true,
    };
    let repository = args.registry.open(&url)?;
    let changes =
        compare_with_path(&repository, &url.target(), path, &options, &args.read.options()?)
            .await
            .map_err(CommandError::exchange)?;
    if changes.is_empty() {
        ui.success("no changes detected");
        return Ok(());
    }
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    Err(CommandError::brief(format!(
        "the remote artifact contents differs from the local one: {}",
        changes.join(", ")
    )))
}

impl ArtifactArgs {
    fn url(&self) -> Result<Reference, CommandError> {
        required_url(self.url.as_deref(), "artifact URL is required")
    }
}
