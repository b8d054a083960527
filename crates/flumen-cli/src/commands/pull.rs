//! `flumen pull artifact`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flumen_oci::{Reference, Repository, Target, artifact};

use crate::{
    artifact_args::ReadArgs, error::CommandError, registry_args::RegistryArgs, runtime, ui::Ui,
    verify_args::VerifyArgs,
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
/// as it was. With `--verify` nothing is pulled that nobody who is trusted has signed.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  # Print the manifests
  flumen pull artifact oci://registry.example.com/org/app:v1.0.0

  # Unpack into a directory that exists
  mkdir app && flumen pull artifact oci://registry.example.com/org/app:v1.0.0 -o app

  # Only if the owner of a key has signed it
  flumen pull artifact oci://registry.example.com/org/app:v1.0.0 --verify --key cosign.pub"
)]
struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    url: Reference,

    /// Unpack into this directory, which must exist
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    /// Pull only what is signed by somebody who is trusted; the options below say who that is
    #[arg(long, help_heading = "Signatures")]
    verify: bool,

    #[command(flatten)]
    trust: VerifyArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &PullArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => runtime::block_on(artifact(args, ui)),
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let repository = args.registry.open(&args.url)?;
    let target = args.target(&repository, ui).await?;
    match &args.output {
        None => {
            let pulled = artifact::pull(&repository, &target, &args.read.options()?).await?;
            ui.data(&pulled.yaml)
        }
        Some(dir) => unpack(args, &repository, &target, dir, ui).await,
    }
}

impl ArtifactArgs {
    /// What to pull: by its digest, if that was verified, so that a tag that moves changes nothing.
    async fn target(&self, repository: &Repository, ui: &Ui) -> Result<Target, CommandError> {
        let target = self.url.target();
        // Who names a key wants it to matter.
        if !self.verify && !self.trust.are_given() {
            return Ok(target);
        }
        let verified = self.trust.verify(repository, &target, ui).await?;
        Ok(Target::Digest(verified))
    }
}

async fn unpack(
    args: &ArtifactArgs,
    repository: &Repository,
    target: &Target,
    dir: &Path,
    ui: &Ui,
) -> Result<(), CommandError> {
    ui.step(&format!("pulling {}", args.url));
    let options = args.read.options()?;
    let pulled = artifact::pull_to_dir(repository, target, dir, &options).await?;
    for (name, value) in [("source", &pulled.about.source), ("revision", &pulled.about.revision)] {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            ui.success(&format!("{name} {value}"));
        }
    }
    ui.success(&format!("digest {}", pulled.digest));
    ui.success(&format!("{} files unpacked to {}", pulled.files.len(), dir.display()));
    Ok(())
}
