//! `flumen pull artifact`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flumen_oci::{
    Reference,
    artifact::{self, PullOptions},
};

use crate::{
    args::{
        artifact::{CheckArgs, ReadArgs, required_url, shown},
        registry::RegistryArgs,
    },
    error::{CommandError, go_reason},
    runtime,
    ui::Ui,
    view::progress::TalkArgs,
};

/// Pull from a registry
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Pull an artifact and print its manifests, or unpack it
///
/// Artifacts of every layout are read: kustomizer's, Flux's, ORAS' and flumen's own. Digest and
/// checksum are compared before anything is printed or written, and a refusal leaves the directory
/// as it was.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  # Print the manifests
  flumen pull artifact oci://registry.example.com/org/app:v1.0.0

  # Unpack into a directory that exists
  mkdir app && flumen pull artifact oci://registry.example.com/org/app:v1.0.0 -o app"
)]
struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    url: Option<String>,

    /// Unpack into this directory, which must exist
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    talk: TalkArgs,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &PullArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => runtime::block_on(artifact(args, &args.talk.ui(ui))),
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let Some(dir) = &args.output else { return print(args, ui).await };
    unpack(args, dir, ui).await.map_err(CommandError::in_brief)
}

async fn print(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let url = args.url()?;
    let repository = args.registry.open(&url)?;
    let options = PullOptions { watch: args.talk.watch(), ..args.read.options()? };
    let target = args.check.checked(&repository, &url).await?;
    let pulled = artifact::pull(&repository, &target, &options).await?;
    drop(options);
    ui.data(&pulled.yaml)
}

/// Unpacks into a directory and says what Flux says of it.
async fn unpack(args: &ArtifactArgs, dir: &Path, ui: &Ui) -> Result<(), CommandError> {
    let url = args.url()?;
    if let Err(error) = dir.read_dir() {
        let (path, reason) = (dir.display(), go_reason(&error));
        return Err(CommandError::brief(format!(
            "invalid output path \"{path}\": stat {path}: {reason}"
        )));
    }
    let repository = args.registry.open(&url)?;
    let options = PullOptions { watch: args.talk.watch(), ..args.read.options()? };
    ui.step(&format!("pulling artifact from {}", shown(&url)));
    let target = args.check.checked(&repository, &url).await?;
    let pulled = artifact::pull_to_dir(&repository, &target, dir, &options).await;
    let pulled = pulled.map_err(CommandError::exchange)?;
    drop(options);
    for (name, value) in [("source", &pulled.about.source), ("revision", &pulled.about.revision)] {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            ui.success(&format!("{name} {value}"));
        }
    }
    ui.success(&format!("digest {}", url.pinned(&pulled.digest)));
    ui.success(&format!("artifact content extracted to {}", dir.display()));
    Ok(())
}

impl ArtifactArgs {
    fn url(&self) -> Result<Reference, CommandError> {
        required_url(self.url.as_deref(), "artifact URL is required")
    }
}
