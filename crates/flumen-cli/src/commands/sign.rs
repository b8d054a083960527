//! `flumen sign artifact` and `flumen sign generate-key-pair`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use flumen_oci::{
    Reference,
    signature::{self, Placement, SignOptions, Signed},
};

use self::key_pair::KeyPairArgs;
use crate::{
    args::{key_files, registry::RegistryArgs, verify::repository_name},
    error::CommandError,
    runtime,
    ui::Ui,
};

mod key_pair;

/// Sign, and make keys to sign with
#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
    GenerateKeyPair(KeyPairArgs),
}

/// Sign an artifact
///
/// Signs the manifest that the tag names at this moment, with a key that cosign can use too, and stores
/// the signature beside it. Prints the artifact with the digest that was signed. Other signatures stay.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # As cosign 3 does
  flumen sign artifact oci://registry.example.com/org/app:v1.0.0 --key cosign.key

  # For readers that know only cosign's tags, too
  flumen sign artifact oci://registry.example.com/org/app:v1.0.0 --key cosign.key --format both")]
struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    artifact: Reference,

    /// Private key: a file of cosign, or PKCS #8, SEC 1 or PKCS #1 in PEM
    #[arg(long, visible_alias = "cosign-key", value_name = "FILE")]
    key: PathBuf,

    /// File with the password of the key; the default is the variable `COSIGN_PASSWORD`
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// Where the signature is put
    #[arg(long, value_enum, default_value = "bundle")]
    format: Format,

    /// Repository that the signature names, if it is not this one
    #[arg(long, value_name = "HOST/PATH")]
    signed_as: Option<String>,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A bundle that refers to the artifact, as cosign 3 writes it
    Bundle,
    /// A tag made of the digest, as cosign 1 and 2 write it
    Tag,
    Both,
}

impl From<Format> for Placement {
    fn from(format: Format) -> Self {
        match format {
            Format::Bundle => Self::Referrer,
            Format::Tag => Self::Tag,
            Format::Both => Self::Both,
        }
    }
}

pub(crate) fn run(args: &SignArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => runtime::block_on(artifact(args, ui)),
        What::GenerateKeyPair(args) => key_pair::run(args, ui),
    }
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let key = key_files::private_key(&args.key, args.password_file.as_deref())?;
    let options = SignOptions {
        placement: args.format.into(),
        signed_as: args.signed_as.as_deref().map(repository_name).transpose()?,
    };
    let repository = args.registry.open(&args.artifact)?;
    let descriptor = repository.resolve(&args.artifact.target()).await?;
    let signed = signature::sign(&repository, &descriptor, &key, &options).await?;
    let done = match signed {
        Signed::Added => "signed",
        Signed::Already => "already signed",
    };
    ui.success(&format!("{done} with the key {}", key.public_key().hint()));
    ui.data(format!("{}\n", args.artifact.pinned(&descriptor.digest)).as_bytes())
}
