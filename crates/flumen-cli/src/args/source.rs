//! Options that select what is delivered, and the delivery: one artifact with its objects.
//!
//! ```text
//! oci://…@digest ──────────────────────────▶ pull ─▶ objects
//! -k, -f, -a, -p ─▶ build ─▶ local store ─────┘
//! ```
//!
//! Objects from files are packed first, so that plans and the history have a digest, and there is one way from an
//! artifact to the cluster.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;
use flumen_apply::{Owner, PlanSubject};
use flumen_build::{Built, Inputs};
use flumen_object::{Object, ObjectSet, Origin};
use flumen_oci::{
    Digest, Reference, Repository, Target,
    artifact::{Metadata, Pulled, Tagging, pull, push_yaml},
};

use crate::{
    args::{
        artifact::{CheckArgs, ReadArgs},
        env,
        registry::RegistryArgs,
    },
    build_id, building,
    error::{CommandError, Failure},
    ui::Ui,
};

/// The name of the local store in the history.
const LOCAL_STORE: &str = "local-store";

/// What objects come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is delivered")]
pub(crate) struct SourceArgs {
    /// Directory with a kustomization
    #[arg(short, long, value_name = "DIR")]
    kustomize: Vec<PathBuf>,

    /// Manifest, or directory of manifests
    #[arg(short, long, value_name = "PATH")]
    filename: Vec<PathBuf>,

    /// Artifact, as `oci://host/path:tag` or `oci://host/path@digest`
    #[arg(short, long, value_name = "URL")]
    artifact: Vec<Reference>,

    /// Patch file that goes over all of it: a kustomization with `patches`, strategic merge
    /// documents, or a JSON 6902 list with a `target`
    #[arg(short, long, value_name = "FILE", verbatim_doc_comment)]
    patch: Vec<PathBuf>,

    /// Where the objects come from, for the record; the default is what the artifact says
    #[arg(long, value_name = "URL")]
    source: Option<String>,

    /// Which state of the source, for the record; the default is what the artifact says
    #[arg(long, value_name = "REVISION")]
    revision: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// How artifacts are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is delivered")]
pub(crate) struct StoreArgs {
    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

/// An artifact with its objects.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// The artifact's name with its digest.
    pub(crate) artifact: String,
    pub(crate) digest: Digest,
    pub(crate) source: String,
    pub(crate) revision: String,
    pub(crate) objects: ObjectSet,
}

impl SourceArgs {
    /// Pulls the artifact that `url` and the options name, or packs it from files.
    pub(crate) async fn open(
        &self,
        url: Option<&Reference>,
        ui: &Ui,
    ) -> Result<Delivery, CommandError> {
        let artifacts: Vec<&Reference> = url.into_iter().chain(&self.artifact).collect();
        let is_local = !(self.kustomize.is_empty() && self.filename.is_empty());
        let mut delivery = match artifacts[..] {
            [] if !is_local => return Err(nothing_named()),
            [artifact] if !is_local && self.patch.is_empty() => {
                self.store.pull_remote(artifact).await?
            }
            _ => self.pack(&artifacts, ui).await?,
        };
        for (given, recorded) in
            [(&self.source, &mut delivery.source), (&self.revision, &mut delivery.revision)]
        {
            if let Some(given) = given {
                recorded.clone_from(given);
            }
        }
        Ok(delivery)
    }

    /// Builds objects from files and packs them into the local store.
    async fn pack(&self, artifacts: &[&Reference], ui: &Ui) -> Result<Delivery, CommandError> {
        let mut inputs = Inputs {
            kustomizations: self.kustomize.clone(),
            files: self.filename.clone(),
            documents: Vec::new(),
            patches: self.patch.clone(),
        };
        for reference in artifacts {
            let pulled = self.store.pull(reference).await?;
            if pulled.about.encryption.is_some() {
                return Err(encrypted(reference));
            }
            inputs.documents.push((reference.pinned(&pulled.digest), pulled.yaml.to_vec()));
        }
        let built = building::build(&inputs, ui)?;
        let digest = self.put(&built).await?;
        let mut delivery = self.store.pull_local(&digest).await?;
        delivery.objects = with_origins(delivery.objects, &built.objects);
        Ok(delivery)
    }

    /// Stores built objects, unless the same artifact is in the store.
    async fn put(&self, built: &Built) -> Result<Digest, CommandError> {
        let metadata = Metadata {
            source: self.source.clone().unwrap_or_default(),
            revision: self.revision.clone().unwrap_or_default(),
            ..Metadata::default()
        };
        let (store, tag) = (env::state()?.store()?, build_id::new()?.to_string());
        let pushed = push_yaml(built.to_yaml()?, metadata, &store, Tagging::IfAbsent(&tag)).await?;
        Ok(pushed.digest)
    }
}

impl StoreArgs {
    /// Pulls the artifact of an earlier deployment.
    pub(crate) async fn reopen(&self, artifact: &str) -> Result<Delivery, CommandError> {
        let unreadable = || {
            Failure::new(format!("`{artifact}` in the history is no artifact"))
                .hint("name another deployment with `--to`; `flumen history` lists them")
        };
        let (name, digest) = artifact.rsplit_once('@').ok_or_else(unreadable)?;
        let digest: Digest = digest.parse().map_err(|_| unreadable())?;
        if name == LOCAL_STORE {
            return self.pull_local(&digest).await;
        }
        let name = artifact.strip_prefix("oci://").unwrap_or(artifact);
        self.pull_remote(&Reference::from_name(name).map_err(|_| unreadable())?).await
    }

    async fn pull_remote(&self, reference: &Reference) -> Result<Delivery, CommandError> {
        let pulled = self.pull(reference).await?;
        let artifact = format!("oci://{}", reference.pinned(&pulled.digest));
        Delivery::new(artifact, pulled)
    }

    async fn pull(&self, reference: &Reference) -> Result<Pulled, CommandError> {
        let repository = self.registry.open(reference)?;
        let target = self.check.checked(&repository, reference).await?;
        Ok(pull(&repository, &target, &self.read.options()?).await?)
    }

    async fn pull_local(&self, digest: &Digest) -> Result<Delivery, CommandError> {
        let store: Repository = env::state()?.store()?;
        let target = Target::Digest(digest.clone());
        let pulled = pull(&store, &target, &self.read.options()?).await.map_err(|error| {
            Failure::chain(&error).within(format!("reading {digest} from the local store")).hint(
                "what is built from files is kept on the machine that deployed it, until \
                 `flumen cache prune` removes it; artifacts in a registry are there for all",
            )
        })?;
        Delivery::new(format!("{LOCAL_STORE}@{digest}"), pulled)
    }
}

impl Delivery {
    pub(crate) fn new(artifact: String, pulled: Pulled) -> Result<Self, CommandError> {
        let objects = flumen_build::objects_of(&pulled.yaml, Path::new(&artifact))?;
        Ok(Self {
            artifact,
            digest: pulled.digest,
            source: pulled.about.source.unwrap_or_default(),
            revision: pulled.about.revision.unwrap_or_default(),
            objects,
        })
    }

    /// Returns the subject of a plan for this delivery.
    pub(crate) fn subject<'a>(&'a self, owner: &'a Owner, digest: &'a str) -> PlanSubject<'a> {
        PlanSubject { owner, artifact: &self.artifact, digest }
    }
}

/// Sets the files that the objects were built from.
fn with_origins(objects: ObjectSet, built: &ObjectSet) -> ObjectSet {
    let origins: BTreeMap<_, &Origin> =
        built.iter().map(|object| (object.id(), &object.origin)).collect();
    let objects = objects.into_iter().map(|object| {
        let origin = origins.get(&object.id()).map(|origin| (*origin).clone());
        Object { origin: origin.unwrap_or_default(), ..object }
    });
    objects.collect()
}

fn nothing_named() -> CommandError {
    Failure::new("nothing says what to deliver")
        .hint("name an artifact (`oci://…`), a kustomization (`-k DIR`) or manifests (`-f PATH`)")
        .into()
}

fn encrypted(reference: &Reference) -> CommandError {
    Failure::new(format!(
        "{reference} is encrypted, and what is made of it would be kept in the clear"
    ))
    .hint("deliver it alone, or push the combination with `flumen push artifact --age-recipients`")
    .into()
}
