//! `flumen verify artifact`.

use clap::{Args, Subcommand};
use flumen_oci::{Reference, signature};
use flumen_sign::Signer;

use crate::{
    error::CommandError,
    printable::{Lines, printable},
    registry_args::RegistryArgs,
    runtime::block_on,
    ui::Ui,
    verify_args::VerifyArgs as PolicyArgs,
};

/// A name in a certificate that is longer than this says nothing more.
const MAX_NAME_BYTES: usize = 512;

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
#[command(after_help = "\
Examples:
  flumen verify artifact oci://registry.example.com/org/app:v1.0.0 --key cosign.pub
  flumen verify artifact oci://mirror.example.com/cache/app:v1.0.0 --key cosign.pub \\
      --signed-as registry.example.com/org/app")]
struct ArtifactArgs {
    /// Artifact, as oci://HOST/PATH:TAG or oci://HOST/PATH@DIGEST
    #[arg(value_name = "URL")]
    artifact: Reference,

    #[command(flatten)]
    policy: PolicyArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(crate) fn run(args: &VerifyArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let policy = args.policy.policy()?;
    let repository = args.registry.open(&args.artifact)?;
    let verified = block_on(async {
        let descriptor = repository.resolve(&args.artifact.target()).await?;
        Ok(signature::verify(&repository, &descriptor, &policy).await?)
    })?;
    ui.talk(&format!("verified: signed {}\n", signer(&verified.signer)));
    ui.data(format!("oci://{}\n", args.artifact.pinned(&verified.digest)).as_bytes())
}

fn signer(signer: &Signer) -> String {
    match signer {
        Signer::Key { hint } => format!("with the key {hint}"),
        Signer::Identity { identity, issuer } => {
            let [identity, issuer] =
                [identity, issuer].map(|name| printable(name, Lines::Escape, MAX_NAME_BYTES));
            format!("by {identity}, whom {issuer} vouches for")
        }
    }
}
