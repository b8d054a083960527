//! `flumen push artifact`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use flumen_archive::PathOptions;
use flumen_build::Inputs;
use flumen_oci::{
    Reference, Target,
    artifact::{self, Format, Metadata, Packed, Recipients, pack_path, pack_text},
    signature::{self, SignOptions},
};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    args::{
        artifact::{ReadArgs, ignore, required_url, shown, standard_input},
        key_files::{self, read_text},
        registry::RegistryArgs,
    },
    building,
    error::{CommandError, Failure, go_reason},
    runtime,
    ui::Ui,
    view::{progress::TalkArgs, structured::Structured},
};

/// Push what was built to a registry
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Pack manifests into an artifact and push it
///
/// Either what is built from kustomizations, files and other artifacts (-k, -f, -a, -p), as one
/// text in the order of applying; or a directory as it is (--path), as Flux does it. The short
/// options are those of kustomizer; Flux's `-f` and `-a` are `--path` and `--annotations` here.
///
/// Equal input gives an equal layer on any machine. Prints the digest that was pushed.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  # An overlay
  flumen push artifact oci://registry.example.com/org/app:v1.0.0 -k overlays/production

  # Files over which a patch goes, encrypted
  flumen push artifact oci://registry.example.com/org/app:v1.0.0 -f manifests -p patch.yaml \\
    --age-recipients team.txt

  # A directory as it is, for Flux
  flumen push artifact oci://registry.example.com/org/app:v1.0.0 --path ./deploy \\
    --source https://git.example.com/org/app.git --revision v1.0.0@sha1:0123456"
)]
struct ArtifactArgs {
    /// Where to push; without a tag it is `latest`
    #[arg(value_name = "URL")]
    url: Option<String>,

    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    tree: TreeArgs,

    /// Where the content comes from; required with --path
    #[arg(long, value_name = "URL")]
    source: Option<String>,

    /// Which state of the source, `branch@sha1:commit` by convention; required with --path
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,

    /// A further annotation of the manifest
    #[arg(long, value_name = "KEY=VALUE")]
    annotations: Vec<String>,

    /// Set the time of creation to 1970, and permissions to those that Git keeps
    #[arg(long)]
    reproducible: bool,

    /// Sign what was pushed, with a key that cosign can use too
    #[arg(long, requires = "cosign_key")]
    sign: bool,

    /// Private key to sign with
    #[arg(long, value_name = "FILE", requires = "sign")]
    cosign_key: Option<PathBuf>,

    /// File with the password of the key; the default is the variable `COSIGN_PASSWORD`
    #[arg(long, value_name = "FILE", requires = "sign")]
    password_file: Option<PathBuf>,

    /// Print where it was pushed as `json` or `yaml`
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,

    #[command(flatten)]
    talk: TalkArgs,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "What is built")]
struct InputArgs {
    /// Directory with a kustomization
    #[arg(short, long, value_name = "DIR")]
    kustomize: Vec<PathBuf>,

    /// Manifest, or directory of manifests
    #[arg(short, long, value_name = "PATH")]
    filename: Vec<PathBuf>,

    /// Other artifact whose objects go in
    #[arg(short, long, value_name = "URL")]
    artifact: Vec<Reference>,

    /// Patch file that goes over all of it: a kustomization with `patches`, strategic merge
    /// documents, or a JSON 6902 list with a `target`
    #[arg(short, long, value_name = "FILE", verbatim_doc_comment)]
    patch: Vec<PathBuf>,

    /// Layout of the artifact
    #[arg(long, value_enum, default_value = "kustomizer")]
    format: PackFormat,

    /// Encrypt for the age public keys in this file
    #[arg(long, value_name = "FILE")]
    age_recipients: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "A directory as it is")]
struct TreeArgs {
    /// Directory or file, or `-` for the standard input
    #[arg(long, value_name = "PATH",
          conflicts_with_all = ["kustomize", "filename", "artifact", "patch", "age_recipients"])]
    path: Option<PathBuf>,

    /// Patterns of files to leave out, in the syntax of .gitignore; replaces the default ones
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', requires = "path")]
    ignore_paths: Vec<String>,

    /// Pack what symbolic links lead to, instead of leaving them out
    #[arg(long, requires = "path")]
    resolve_symlinks: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PackFormat {
    /// As kustomizer writes it; readable by Flux
    Kustomizer,
    /// OCI 1.1 with an artifact type
    Oci,
}

pub(crate) fn run(args: &PushArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => runtime::block_on(artifact(args, &args.talk.ui(ui))),
    }
}

/// What is printed for programs.
#[derive(Serialize)]
struct Pushed {
    url: String,
    repository: String,
    tag: String,
    digest: String,
}

async fn artifact(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    if args.is_built() {
        return push(args, None, ui).await;
    }
    args.push_tree(ui).await.map_err(CommandError::in_brief)
}

/// Pushes a directory, as Flux does it, or what is built.
async fn push(args: &ArtifactArgs, path: Option<&Path>, ui: &Ui) -> Result<(), CommandError> {
    let url = args.url()?;
    let Target::Tag(tag) = url.target() else {
        return Err(Failure::new("a digest is what pushing gives, not where it goes")
            .hint("name a tag, as in oci://registry.example.com/org/app:v1.0.0")
            .into());
    };
    let repository = args.registry.open(&url)?;
    let packed = match path {
        Some(path) => args.pack_tree(path)?,
        None => args.pack_built(ui).await?,
    };
    if args.output.is_none() {
        ui.step(&format!("pushing artifact to {}", shown(&url)));
    }
    // Before anything is pushed: a key that does not open should cost nothing.
    let password = args.password_file.as_deref();
    let key = args
        .cosign_key
        .as_deref()
        .map(|file| key_files::private_key(file, password))
        .transpose()?;
    let digest = packed.push_watched(&repository, Some(&tag), &args.talk.watch()).await?;
    if let Some(key) = &key {
        let descriptor = &packed.manifest.descriptor;
        signature::sign(&repository, descriptor, key, &SignOptions::default()).await?;
        if args.output.is_none() {
            ui.success(&format!("signed with the key {}", key.public_key().hint()));
        }
    }
    let pinned = url.pinned(&digest);
    let format = match args.output.as_deref() {
        Some("json") => Structured::Json,
        Some("yaml") => Structured::Yaml,
        _ => {
            ui.success(&format!("artifact successfully pushed to {pinned}"));
            // Flux prints nothing then.
            let is_printed = path.is_none() && args.output.is_none();
            return if is_printed { ui.data(format!("{pinned}\n").as_bytes()) } else { Ok(()) };
        }
    };
    let pushed = Pushed {
        url: format!("oci://{pinned}"),
        repository: url.name(),
        tag,
        digest: digest.to_string(),
    };
    format.print(&pushed, ui)
}

impl ArtifactArgs {
    fn url(&self) -> Result<Reference, CommandError> {
        required_url(self.url.as_deref(), "artifact URL is required")
    }

    /// Whether something is built, rather than packed as it is. `-f -` is Flux's: its `-f` is `--path`.
    fn is_built(&self) -> bool {
        let InputArgs { kustomize, filename, artifact, .. } = &self.inputs;
        let is_file = !filename.is_empty() && *filename != [PathBuf::from("-")];
        !kustomize.is_empty() || is_file || !artifact.is_empty()
    }

    /// Checks what Flux checks, in its order.
    async fn push_tree(&self, ui: &Ui) -> Result<(), CommandError> {
        if self.url.is_none() {
            return Err(CommandError::brief("artifact URL is required"));
        }
        for (name, value) in [("--source", &self.source), ("--revision", &self.revision)] {
            if value.as_ref().is_none_or(String::is_empty) {
                return Err(CommandError::brief(format!("{name} is required")));
            }
        }
        let path = self.tree.path.as_ref().or(self.inputs.filename.first());
        let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
            return Err(CommandError::brief("invalid path \"\""));
        };
        self.url()?;
        if path != Path::new("-")
            && let Err(error) = path.metadata()
        {
            let (path, reason) = (path.display(), go_reason(&error));
            return Err(CommandError::brief(format!(
                "invalid path '{path}', must point to an existing directory or file: stat {path}: {reason}"
            )));
        }
        push(self, Some(path), ui).await
    }

    fn pack_tree(&self, path: &Path) -> Result<Packed, CommandError> {
        let metadata = self.metadata()?;
        if path == Path::new("-") {
            // No more than those may read who pull it.
            return Ok(pack_text(&standard_input(self.read.max_size())?, &metadata)?);
        }
        Ok(pack_path(path, &self.tree.options(self.reproducible), &metadata)?)
    }

    async fn pack_built(&self, ui: &Ui) -> Result<Packed, CommandError> {
        let mut inputs = Inputs {
            kustomizations: self.inputs.kustomize.clone(),
            files: self.inputs.filename.clone(),
            documents: Vec::new(),
            patches: self.inputs.patch.clone(),
        };
        let mut reader = self.read.reader(&self.registry)?;
        for reference in &self.inputs.artifact {
            let pulled = reader.pull(reference).await?;
            inputs.documents.push((reference.pinned(&pulled.digest), pulled.yaml.to_vec()));
        }
        let built = building::build(&inputs, ui)?;
        if built.objects.is_empty() {
            return Err(CommandError::failure("there are no Kubernetes objects to push"));
        }
        let yaml = built.to_yaml()?;
        let format = match self.inputs.format {
            PackFormat::Kustomizer => Format::Kustomizer,
            PackFormat::Oci => Format::Oci,
        };
        let metadata = self.metadata()?;
        Ok(match &self.inputs.age_recipients {
            None => artifact::pack_yaml(&yaml, format, &metadata)?,
            Some(file) => {
                let recipients = Recipients::parse(&read_text(file)?, file)?;
                artifact::pack_encrypted(&yaml, format, &metadata, &recipients)?
            }
        })
    }

    fn metadata(&self) -> Result<Metadata, CommandError> {
        let annotations = self.annotations.iter().map(|text| parse_annotation(text));
        Ok(Metadata {
            source: self.source.clone().unwrap_or_default(),
            revision: self.revision.clone().unwrap_or_default(),
            created: if self.reproducible { Timestamp::UNIX_EPOCH } else { Timestamp::now() },
            annotations: annotations.collect::<Result<BTreeMap<_, _>, _>>()?,
        })
    }
}

impl TreeArgs {
    fn options(&self, reproducible: bool) -> PathOptions {
        PathOptions {
            ignore: ignore(&self.ignore_paths),
            resolve_symlinks: self.resolve_symlinks,
            normalize_modes: reproducible,
        }
    }
}

fn parse_annotation(text: &str) -> Result<(String, String), CommandError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.contains('=') => {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err(CommandError::brief(format!(
            "invalid annotation {text}, must be in the format key=value"
        ))),
    }
}
