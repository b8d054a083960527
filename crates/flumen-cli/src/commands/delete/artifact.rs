//! `flumen delete artifact`.

use clap::Args;
use flumen_oci::Reference;

use crate::{
    args::registry::RegistryArgs,
    error::{CommandError, Failure},
    runtime,
    ui::Ui,
};

/// Delete a tag, or an artifact with all its tags
///
/// With a tag, that tag is removed and other tags of the same artifact stay. With a digest, the
/// artifact is removed and every tag with it. A registry that cannot remove a single tag says so, and
/// nothing is removed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # One tag
  flumen delete artifact oci://registry.example.com/org/app:v1.0.0

  # The artifact and all its tags
  flumen delete artifact oci://registry.example.com/org/app@sha256:…")]
pub(super) struct ArtifactArgs {
    /// What to delete, as `oci://host/path:tag` or `oci://host/path@digest`
    #[arg(value_name = "URL")]
    url: Reference,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) fn run(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(delete(args, ui))
}

async fn delete(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let reference = &args.url;
    // What is meant has to be said: a guess cannot be taken back.
    if reference.tag.is_some() == reference.digest.is_some() {
        return Err(Failure::new(format!("`{reference}` names no single thing to delete"))
            .hint("give either a tag (`:v1.0.0`) or a digest (`@sha256:…`)")
            .into());
    }
    args.registry.open(reference)?.delete(&reference.target()).await?;
    ui.talk(&format!("deleted {reference}\n"));
    Ok(())
}
