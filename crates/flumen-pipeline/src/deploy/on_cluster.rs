//! The steps of a deploy on a real cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
    time::Duration,
};

use flumen_apply::{
    ConfigMapStore, Deployment, DeploymentResult, InventoryStore as _, Options, Prune, Recorded,
    Report, WaitOptions,
};
use flumen_build::objects_from;
use flumen_kube::Cluster;
use flumen_object::{ObjectSet, set_label};
use flumen_oci::{
    Digest, Repository, Target,
    artifact::{PullOptions, pull},
    copy::CopyOptions,
    signature::{self, Policy},
};
use flumen_yaml::{Entry, Map, Node, Pos, Value};
use jiff::Timestamp;

use super::{
    Applied, Observer, Operation, Plan, Steps,
    naming::{self, owner},
    planned,
};
use crate::{
    Artifact, Error, Registries, Result, State,
    config::{Component, parse_duration},
    install::{Install, SignaturePolicy},
    sync::sync,
    template::{Values, components_in, render, render_namespace},
};

/// What stands for an address where an install has no registry.
const LOCAL_STORE: &str = "local-store";

/// How long a look at health may take when nothing was applied, or some time after.
const LOOK: Duration = Duration::from_secs(30);
const WORKLOADS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// What the deploys of one command share.
pub struct Site<'a, C> {
    pub cluster: &'a C,
    pub install: &'a Install,
    /// All components, because templates refer to each other.
    pub components: &'a BTreeMap<String, Component>,
    /// The directory of their files.
    pub components_dir: &'a Path,
    pub state: &'a State,
    /// Where builds may lie.
    pub registries: &'a dyn Registries,
    /// Where the install takes artifacts from.
    pub repository: &'a Repository,
    /// Whose signatures count, if the install looks at signatures.
    pub signatures: Option<&'a Policy>,
    /// Plans are carried out although nobody has seen them.
    pub approves_all: bool,
    /// Even then, most of what a component has may be deleted.
    pub allows_large_prune: bool,
    /// Who deploys, for the history.
    pub by: &'a str,
    pub now: fn() -> Timestamp,
}

impl<C> fmt::Debug for Site<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("install", &self.install.id).finish_non_exhaustive()
    }
}

impl<C: Cluster> Site<'_, C> {
    /// The deploy of one component. `pinned` is an artifact of the past that is brought back; without
    /// it, a deploy takes the last build.
    pub fn steps<'a>(
        &'a self,
        component: &'a Component,
        operation: Operation,
        pinned: Option<&'a Deployment>,
        observer: &'a dyn Observer,
        report: &'a dyn Report,
    ) -> impl Steps<Error = Error> + 'a {
        ClusterSteps {
            site: self,
            component,
            operation,
            pinned,
            observer,
            report,
            synced: None,
            ready: None,
        }
    }

    /// What a component has on the cluster, and what was deployed.
    pub async fn recorded(&self, component: &str) -> Result<Recorded> {
        Ok(self.store(component).load().await?)
    }

    fn store(&self, component: &str) -> ConfigMapStore<C> {
        let owner = owner(self.install, component);
        ConfigMapStore::new(self.cluster.clone(), owner, (self.now)().to_string())
    }

    /// What `texts` can refer to: the install, and what the components that they name give out.
    async fn values(&self, texts: [&str; 2]) -> Result<Values> {
        let mut values = self.install.values();
        let names: BTreeSet<&str> = texts.into_iter().flat_map(components_in).collect();
        for name in names {
            let by_variable = || self.components.values().find(|it| it.config.var_name == name);
            let Some(component) = self.components.get(name).or_else(by_variable) else { continue };
            if let Some(outputs) = self.outputs(component.name()).await? {
                values.set_outputs(name, outputs);
            }
        }
        Ok(values)
    }

    /// What a component gives out: that of what is deployed, which is the same on every machine; that of
    /// the last build before anything is.
    async fn outputs(&self, component: &str) -> Result<Option<Node>> {
        let history = self.recorded(component).await?.history;
        if let Some(deployment) = last_good(&history) {
            let (tag, digest) = tag_and_digest(deployment);
            return Ok(Some(outputs(tag, digest)));
        }
        let build = self.state.last_build(self.components_dir, component)?;
        Ok(build.map(|build| outputs(&build.outputs.image.tag, &build.digest.to_string())))
    }
}

/// The newest deployment that succeeded.
fn last_good(history: &[Deployment]) -> Option<&Deployment> {
    history.iter().find(|deployment| deployment.result == DeploymentResult::Succeeded)
}

/// Tag and digest of what was deployed, from `oci://host/path:tag@digest`.
fn tag_and_digest(deployment: &Deployment) -> (&str, &str) {
    let (name, digest) = deployment.artifact.rsplit_once('@').unwrap_or_default();
    let tag = name.rsplit_once(':').map_or("", |(_, tag)| tag);
    (if tag.contains('/') { "" } else { tag }, digest)
}

/// What templates of other components find.
fn outputs(tag: &str, digest: &str) -> Node {
    let map = |entries: Vec<Entry>| Node::new(Pos::default(), Value::Map(Map::from(entries)));
    map(vec![
        Entry::new("image", map(vec![Entry::new("tag", Node::string(tag))])),
        Entry::new("digest", Node::string(digest)),
    ])
}

struct ClusterSteps<'a, C> {
    site: &'a Site<'a, C>,
    component: &'a Component,
    operation: Operation,
    pinned: Option<&'a Deployment>,
    observer: &'a dyn Observer,
    report: &'a dyn Report,
    /// The build that was copied to the install.
    synced: Option<Artifact>,
    /// What was planned last.
    ready: Option<Ready>,
}

/// All that carrying out a plan takes.
struct Ready {
    objects: ObjectSet,
    options: Options,
}

impl<C: Cluster> Steps for ClusterSteps<'_, C> {
    type Error = Error;

    async fn sync(&mut self) -> Result<Option<Digest>> {
        let Recorded { inventory, history } = self.site.recorded(self.component.name()).await?;
        let deployed = last_good(&history).or(history.first());
        let deployed = deployed.map(artifact_digest).transpose()?;
        match self.operation {
            Operation::Teardown if inventory.is_empty() => return Ok(None),
            // A run that died early has left objects and no record; no artifact is needed anyway.
            Operation::Teardown => return Ok(Some(deployed.unwrap_or_else(|| Digest::of(b"")))),
            Operation::Deploy | Operation::CheckDrift => {}
        }
        let drift_of = deployed.filter(|_| self.operation == Operation::CheckDrift);
        let pinned = self.pinned.map(artifact_digest).transpose()?;
        let digest = match drift_of.or(pinned) {
            Some(digest) => self.kept(digest).await?,
            None => self.sync_last_build().await?,
        };
        self.verify(&digest).await?;
        Ok(Some(digest))
    }

    async fn plan(&mut self, artifact: &Digest) -> Result<Plan> {
        let ready = match self.operation {
            Operation::Teardown => self.nothing(),
            Operation::Deploy | Operation::CheckDrift => self.render(artifact).await?,
        };
        let plan = self.plan_of(&ready, artifact).await?;
        self.ready = Some(ready);
        Ok(plan)
    }

    async fn apply(&mut self, plan: &Plan) -> Result<Applied> {
        let Some(mut ready) = self.ready.take() else { return Ok(Applied::Outdated) };
        if !self.site.approves_all {
            let now = self.plan_of(&ready, &plan.artifact).await?;
            if !now.beyond(plan).is_empty() {
                return Ok(Applied::Outdated);
            }
        }
        // Whoever approved the plan has seen what it deletes.
        if !self.site.approves_all || self.site.allows_large_prune {
            ready.options.prune = Prune::Unguarded;
        }
        ready.options.deployment = Some(self.deployment());
        let (cluster, store) = (self.site.cluster, self.site.store(self.component.name()));
        match self.operation {
            Operation::Teardown => {
                flumen_apply::delete(cluster, &store, &ready.options, self.report).await?;
            }
            Operation::Deploy | Operation::CheckDrift => {
                flumen_apply::apply(cluster, ready.objects, &store, &ready.options, self.report)
                    .await?;
                self.stabilize(&ready.options).await?;
            }
        }
        Ok(Applied::Done)
    }

    async fn check_health(&mut self) -> Result<()> {
        let Some(ready) = &self.ready else { return Ok(()) };
        let timeout = LOOK.min(ready.options.timeout);
        let healthy = self.wait(&ready.options, timeout, |kind| WORKLOADS.contains(&kind)).await;
        match healthy {
            Err(error) if !self.blocks_on_health() => {
                self.observer.log(&format!("not everything is healthy: {error}"));
                Ok(())
            }
            other => other,
        }
    }
}

impl<C: Cluster> ClusterSteps<'_, C> {
    /// Copies the last build to the install.
    async fn sync_last_build(&mut self) -> Result<Digest> {
        let Site { state, components_dir, registries, repository, .. } = *self.site;
        let (name, options) = (self.component.name(), CopyOptions::default());
        let (build, copied) =
            sync(state, components_dir, name, registries, repository, &options).await?;
        self.observer.log(&format!(
            "{} is {}, {} blobs copied",
            build.tag, build.digest, copied.blobs_copied
        ));
        let digest = build.digest.clone();
        self.synced = Some(build);
        Ok(digest)
    }

    /// An artifact of the past, if the install still has it.
    async fn kept(&self, digest: Digest) -> Result<Digest> {
        match self.site.repository.resolve(&Target::Digest(digest.clone())).await {
            Ok(_) => Ok(digest),
            Err(error) if error.is_not_found() => Err(Error::ArtifactGone { digest }),
            Err(error) => Err(error.into()),
        }
    }

    async fn verify(&self, digest: &Digest) -> Result<()> {
        let Some(policy) = self.site.signatures else { return Ok(()) };
        let repository = self.site.repository;
        let descriptor = repository.resolve(&Target::Digest(digest.clone())).await?;
        match signature::verify(repository, &descriptor, policy).await {
            Ok(_) => Ok(()),
            Err(error) if self.site.install.signatures.policy == SignaturePolicy::Warn => {
                self.observer.log(&format!("warning: {error}"));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the artifact and fills in its templates.
    async fn render(&self, artifact: &Digest) -> Result<Ready> {
        let target = Target::Digest(artifact.clone());
        let pulled = pull(self.site.repository, &target, &PullOptions::default()).await?;
        let text = flumen_yaml::decode(&pulled.yaml)
            .map_err(|error| Error::Unreadable { artifact: artifact.clone(), error })?;
        let namespace = &self.component.config.namespace;
        let values = self.site.values([namespace, &text]).await?;
        let namespace = render_namespace(namespace, &values)?;
        let documents = render(&text, &values)?;
        let objects = objects_from(documents, &format!("{}@{artifact}", self.component.name()))?;
        let labels = [
            (naming::INSTALL_LABEL, naming::label_value(&self.site.install.id)),
            (naming::COMPONENT_LABEL, naming::label_value(self.component.name())),
        ];
        let labelled = objects.into_iter().map(|mut object| {
            for (key, value) in labels {
                set_label(&mut object.node, key, value);
            }
            object
        });
        let mut options = self.options();
        options.default_namespace = Some(namespace);
        Ok(Ready { objects: labelled.collect(), options })
    }

    /// What a teardown leaves.
    fn nothing(&self) -> Ready {
        let options = Options { prune: Prune::Unguarded, wait: true, ..self.options() };
        Ready { objects: ObjectSet::default(), options }
    }

    fn options(&self) -> Options {
        Options {
            timeout: self.component.deploy_timeout,
            prune: Prune::Guarded,
            wait: self.blocks_on_health(),
            ..Options::new(owner(self.site.install, self.component.name()))
        }
    }

    fn blocks_on_health(&self) -> bool {
        self.component.config.health.as_ref().is_some_and(|health| health.block_deploy)
    }

    async fn plan_of(&self, ready: &Ready, artifact: &Digest) -> Result<Plan> {
        let store = self.site.store(self.component.name());
        let objects = ready.objects.clone();
        let plan = flumen_apply::plan(self.site.cluster, objects, &store, &ready.options).await?;
        planned::plan(&plan, &ready.objects, artifact, self.operation)
    }

    /// What the history says about this deploy.
    fn deployment(&self) -> Deployment {
        let Some(build) = &self.synced else {
            // What is brought back is called what it was called.
            let Deployment { artifact, source, revision, .. } =
                self.pinned.cloned().unwrap_or_default();
            return self.record(artifact, source, revision);
        };
        let place = match &self.site.install.registry {
            Some(reference) => format!("oci://{}", reference.name()),
            None => LOCAL_STORE.to_owned(),
        };
        let artifact = format!("{place}:{}@{}", build.tag, build.digest);
        self.record(artifact, build.source.clone(), build.revision.clone())
    }

    fn record(&self, artifact: String, source: String, revision: String) -> Deployment {
        Deployment {
            artifact,
            source,
            revision,
            by: self.site.by.to_owned(),
            at: (self.site.now)().to_string(),
            rolled_back_to: self.pinned.map(|deployment| deployment.number),
            ..Deployment::default()
        }
    }

    /// Looks again after the time that objects have to stay healthy.
    async fn stabilize(&self, options: &Options) -> Result<()> {
        let health = self.component.config.health.as_ref();
        let window = health.and_then(|health| parse_duration(&health.stabilization_window));
        let Some(window) = window.filter(|_| self.blocks_on_health()) else { return Ok(()) };
        self.observer.log(&format!("looks again in {window:?}"));
        tokio::time::sleep(window).await;
        self.wait(options, LOOK, |_| true).await
    }

    async fn wait(
        &self,
        options: &Options,
        timeout: Duration,
        counts: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let Recorded { inventory, .. } = self.site.recorded(self.component.name()).await?;
        let entries =
            inventory.entries().into_iter().filter(|entry| counts(&entry.id.gvk.kind)).cloned();
        let options = WaitOptions {
            rules: options.health.clone(),
            ..WaitOptions::of_owner(&options.owner, timeout)
        };
        flumen_apply::wait(self.site.cluster, &entries.collect(), &options, self.report).await?;
        Ok(())
    }
}

/// The digest of what was deployed.
fn artifact_digest(deployment: &Deployment) -> Result<Digest> {
    Ok(tag_and_digest(deployment).1.parse()?)
}
