//! `flumen verify artifact`.

use clap::{Args, Subcommand};
use flumen_oci::Reference;
use flumen_sign::Signer;

use crate::{
    args::{registry::RegistryArgs, verify::VerifyArgs as TrustArgs},
    error::CommandError,
    runtime,
    ui::Ui,
};

/// Verify signatures
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Verify the signature of an artifact
///
/// Finds the signatures that belong to the artifact, as tags and as referrers, and succeeds if one of
/// them counts. Prints the artifact with its digest, which is what was verified: use that and not the
/// tag, which may name something else a moment later. Nothing is asked but the registry.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # With a key
  flumen verify artifact oci://registry.example.com/org/app:v1.0.0 --key cosign.pub

  # At a mirror that has another path
  flumen verify artifact oci://mirror.example.com/cache/app:v1.0.0 --key cosign.pub \\
      --signed-as registry.example.com/org/app")]
struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    artifact: Reference,

    #[command(flatten)]
    trust: TrustArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &VerifyArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => runtime::block_on(artifact(args, ui)),
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let repository = args.registry.open(&args.artifact)?;
    let verified = args.trust.verify(&repository, &args.artifact.target()).await?;
    ui.success(&match verified.signer {
        Signer::Key { hint } => format!("signed with the key {hint}"),
        Signer::Identity { identity, issuer } => {
            format!("signed by {identity}, whom {issuer} vouches for")
        }
    });
    ui.data(format!("{}\n", args.artifact.pinned(&verified.digest)).as_bytes())
}
