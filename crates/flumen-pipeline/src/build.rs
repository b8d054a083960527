//! The job `kubernetes-manifest-build`: from a component to an artifact.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use flumen_oci::{Digest, Reference, Repository};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};

use crate::{
    BuildId, Error, Result,
    config::Component,
    job::{self, CancellationToken, Ended, Handler, Observer, Step},
    plan::{BuildPlan, Work},
    source::{self, Context, Made},
    state::{State, unusable},
};

/// The one file of an artifact, as deploys know it.
const MANIFEST_FILE: &str = "manifest.yaml";

/// How long a thread may need to notice that it was told to stop.
const RETRY: Duration = Duration::from_millis(20);

/// So many builds run side by side; more would only wait for the same processors and networks.
const PARALLEL: usize = 4;

/// What builds need from whoever starts them.
#[derive(Debug)]
pub struct Environment {
    pub state: State,
    /// The directory of the component files.
    pub components: PathBuf,
    pub destination: Destination,
    pub registries: Arc<dyn Registries>,
    /// Addresses of connected repositories.
    pub repos: BTreeMap<String, String>,
    pub caching: Caching,
    pub remote: Remote,
}

/// Where artifacts go.
#[derive(Clone, Debug)]
pub struct Destination {
    pub repository: Repository,
    /// Its address; none for the local store.
    pub reference: Option<Reference>,
}

/// Whether an artifact of equal inputs may be used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    #[default]
    Reuse,
    BuildAlways,
}

/// What becomes of URLs in kustomizations. The repositories that components name are always fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Remote {
    #[default]
    Refuse,
    Fetch,
}

/// Opens repositories that components name.
pub trait Registries: fmt::Debug + Send + Sync {
    /// `credentials` is the name of stored ones; without it, whatever the user is logged in with.
    fn open(&self, reference: &Reference, credentials: Option<&str>) -> Result<Repository>;
}

/// What a build made: the record of a finished job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub component: String,
    pub build_id: BuildId,
    pub source_type: String,
    /// The repository that holds it; none for the local store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    pub tag: String,
    pub digest: Digest,
    /// Bytes of the manifest that the digest names.
    pub size: u64,
    pub media_type: String,
    /// Bytes of the Kubernetes manifests.
    pub content_bytes: u64,
    /// Where the content comes from and which state of it, as far as that has a name.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub source: String,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub revision: String,
    /// It was built before from equal inputs.
    pub reused: bool,
    pub outputs: Outputs,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    pub files: Vec<OutputFile>,
    pub image: OutputImage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFile {
    pub rel_path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputImage {
    pub tag: String,
}

/// Builds a component. The artifact is stored under the tag `id`.
pub async fn build(
    component: &Component,
    id: BuildId,
    environment: &Environment,
    cancel: &CancellationToken,
    observer: &dyn Observer,
) -> Result<Artifact, Ended> {
    let order = Order::Component { component, id };
    run(order, component.build_timeout, environment, cancel, observer).await
}

/// A component to build, and who hears of it.
pub struct BuildOrder<'a> {
    pub component: &'a Component,
    pub id: BuildId,
    pub observer: Box<dyn Observer + 'a>,
}

impl fmt::Debug for BuildOrder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildOrder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Builds several components side by side; results are in the order of the orders.
pub async fn build_all(
    orders: Vec<BuildOrder<'_>>,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Vec<Result<Artifact, Ended>> {
    let builds = orders.into_iter().map(|order| async move {
        if cancel.is_cancelled() {
            return Err(Ended::NotAttempted);
        }
        build(order.component, order.id, environment, cancel, &*order.observer).await
    });
    stream::iter(builds).buffered(PARALLEL).collect().await
}

/// Builds what somebody else planned.
pub async fn build_plan(
    plan: BuildPlan,
    timeout: Duration,
    environment: &Environment,
    cancel: &CancellationToken,
    observer: &dyn Observer,
) -> Result<Artifact, Ended> {
    run(Order::Plan(Box::new(plan)), timeout, environment, cancel, observer).await
}

/// Where the plan of a job comes from.
enum Order<'a> {
    Component { component: &'a Component, id: BuildId },
    Plan(Box<BuildPlan>),
}

async fn run(
    order: Order<'_>,
    timeout: Duration,
    environment: &Environment,
    cancel: &CancellationToken,
    observer: &dyn Observer,
) -> Result<Artifact, Ended> {
    let mut job = BuildJob {
        order,
        environment,
        observer,
        plan: None,
        workspace: None,
        stop: Arc::default(),
        made: None,
        artifact: None,
    };
    job::run(&mut job, timeout, cancel, observer).await?;
    job.artifact.ok_or(Ended::Failed(Error::Stopped))
}

struct BuildJob<'a> {
    order: Order<'a>,
    environment: &'a Environment,
    observer: &'a dyn Observer,
    plan: Option<BuildPlan>,
    workspace: Option<PathBuf>,
    stop: Arc<AtomicBool>,
    made: Option<Made>,
    artifact: Option<Artifact>,
}

impl Handler for BuildJob<'_> {
    async fn perform(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Reset => self.reset().await,
            Step::Fetch => self.fetch(),
            Step::Validate => self.validate(),
            Step::Initialize => self.initialize(),
            Step::Execute => self.execute().await,
            Step::Outputs => self.outputs(),
            Step::Cleanup => self.cleanup().await,
        }
    }

    fn shut_down(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl BuildJob<'_> {
    /// Forgets whatever an earlier attempt left.
    async fn reset(&mut self) -> Result<()> {
        (self.plan, self.made, self.artifact) = (None, None, None);
        self.cleanup().await
    }

    fn fetch(&mut self) -> Result<()> {
        self.plan = Some(match &self.order {
            Order::Plan(plan) => (**plan).clone(),
            Order::Component { component, id } => {
                let reference = self.environment.destination.reference.as_ref();
                let destination = reference.map(ToString::to_string).unwrap_or_default();
                BuildPlan::new(component, *id, &destination, &self.environment.repos)?
            }
        });
        Ok(())
    }

    fn validate(&self) -> Result<()> {
        self.plan()?.work().map(drop)
    }

    fn initialize(&mut self) -> Result<()> {
        let id = self.plan()?.component_build_id;
        let workspace = self.environment.state.workspaces()?.join(id.to_string());
        fs::create_dir(&workspace).map_err(|source| unusable(&workspace, source))?;
        self.workspace = Some(workspace);
        Ok(())
    }

    async fn execute(&mut self) -> Result<()> {
        let plan = self.plan()?;
        let workspace = self.workspace.as_deref().ok_or(Error::Stopped)?;
        let context = Context::new(plan, self.environment, self.observer, workspace, &self.stop)?;
        self.observer
            .log(&format!("source type {}", plan.kubernetes_manifest_build_plan.source_type));
        let made = match plan.work()? {
            Work::Inline(manifest) => source::inline::build(&context, manifest).await?,
            Work::Kustomize { source, path, config } => {
                source::kustomize::build(&context, source, path, config).await?
            }
            Work::OciArtifact(artifact) => source::oci_artifact::build(&context, artifact).await?,
        };
        let digest = &made.descriptor.digest;
        self.observer.log(&format!("{} bytes of manifests, digest {digest}", made.content_bytes));
        self.made = Some(made);
        Ok(())
    }

    fn outputs(&mut self) -> Result<()> {
        let plan = self.plan()?;
        let made = self.made.clone().ok_or(Error::Stopped)?;
        let artifact = Artifact {
            component: plan.component_id.clone(),
            build_id: plan.component_build_id,
            source_type: plan.kubernetes_manifest_build_plan.source_type.clone(),
            repository: Some(plan.dst_registry.clone()).filter(|name| !name.is_empty()),
            tag: plan.dst_tag.clone(),
            digest: made.descriptor.digest,
            size: made.descriptor.size,
            media_type: made.descriptor.media_type,
            content_bytes: made.content_bytes,
            source: made.source,
            revision: made.revision,
            reused: made.reused,
            outputs: Outputs {
                files: vec![OutputFile { rel_path: MANIFEST_FILE.to_owned() }],
                image: OutputImage { tag: plan.dst_tag.clone() },
            },
        };
        self.environment.state.set_last_build(&self.environment.components, &artifact)?;
        self.artifact = Some(artifact);
        Ok(())
    }

    async fn cleanup(&mut self) -> Result<()> {
        match self.workspace.take() {
            Some(workspace) => remove(&workspace).await,
            None => Ok(()),
        }
    }

    fn plan(&self) -> Result<&BuildPlan> {
        self.plan.as_ref().ok_or(Error::IncompletePlan("content"))
    }
}

/// Removes a directory into which a thread that was told to stop may still be writing.
async fn remove(workspace: &Path) -> Result<()> {
    loop {
        match fs::remove_dir_all(workspace) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                tokio::time::sleep(RETRY).await;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            result => return result.map_err(|source| unusable(workspace, source)),
        }
    }
}
