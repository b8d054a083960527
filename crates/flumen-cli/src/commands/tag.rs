//! `flumen tag artifact`.

use clap::{Args, Subcommand};
use flumen_oci::Reference;

use crate::{
    args::{
        artifact::{required_url, shown},
        registry::RegistryArgs,
    },
    error::CommandError,
    runtime,
    ui::Ui,
};

/// Add tags
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Add tags to an artifact
///
/// The tags point at the same bytes, so the digest and the signatures stay what they are. A tag that
/// exists is moved.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Promote a version
  flumen tag artifact oci://registry.example.com/org/app:v1.0.0 --tag latest --tag stable

  # Give a name to a digest
  flumen tag artifact oci://registry.example.com/org/app@sha256:… --tag v1.0.1")]
struct ArtifactArgs {
    /// The artifact, as `oci://host/path[:tag][@digest]`; the tag `latest` if none is given
    #[arg(value_name = "URL")]
    url: Option<String>,

    /// Tags to add; may be given more than once, or with commas between
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &TagArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => {
            runtime::block_on(artifact(args, ui)).map_err(CommandError::in_brief)
        }
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    if args.tags.is_empty() && args.url.is_some() {
        return Err(CommandError::brief("--tag is required"));
    }
    let url = required_url(args.url.as_deref(), "artifact name is required")?;
    // All of them are checked before the first one is set.
    let tagged = |tag: &String| Reference::from_name(&format!("{}:{tag}", url.name()));
    let tagged: Vec<Reference> = args.tags.iter().map(tagged).collect::<Result<_, _>>()?;
    let repository = args.registry.open(&url)?;
    ui.step("tagging artifact");
    let failed = |error: flumen_oci::Error| {
        let reason = CommandError::exchange(error).message();
        CommandError::brief(format!("tagging artifact failed: {reason}"))
    };
    let manifest = repository.manifest(&url.target()).await.map_err(failed)?;
    for reference in tagged {
        repository.put_manifest(&manifest, reference.tag.as_deref()).await.map_err(failed)?;
        ui.success(&format!("artifact tagged as {}", shown(&reference)));
    }
    Ok(())
}
