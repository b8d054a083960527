//! The steps of a deploy on a real cluster.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};

use flumen_apply::{
    ConfigMapStore, Deployment, InventoryStore as _, Options, Prune, Recorded, Report, WaitOptions,
};
use flumen_build::objects_from;
use flumen_kube::Cluster;
use flumen_object::{Object, ObjectSet};
use flumen_oci::{
    Digest, Repository, Target,
    artifact::{PullOptions, pull},
    copy::CopyOptions,
    signature::{self, Policy},
};
use flumen_yaml::{Entry, Map, Node, Pos, Value};
use jiff::Timestamp;
use tokio::time::Instant;

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
    template::{Values, render, render_namespace},
};

/// How long workloads may take to be healthy when nothing was applied.
const NOOP_PATIENCE: Duration = Duration::from_secs(30);
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
        ClusterSteps { site: self, component, operation, pinned, observer, report, ready: None }
    }

    /// What a component has on the cluster, and what was deployed.
    pub async fn recorded(&self, component: &str) -> Result<Recorded> {
        Ok(self.store(component).load().await?)
    }

    fn store(&self, component: &str) -> ConfigMapStore<C> {
        let owner = owner(self.install, component);
        ConfigMapStore::new(self.cluster.clone(), owner, (self.now)().to_string())
    }

    /// What templates can refer to, outputs of built components included.
    fn values(&self) -> Result<Values> {
        let mut values = self.install.values();
        for component in self.components.values() {
            let Some(build) = self.state.last_build(self.components_dir, component.name())? else {
                continue;
            };
            for name in [component.name(), &component.config.var_name] {
                if !name.is_empty() {
                    values.set_outputs(name, outputs(&build));
                }
            }
        }
        Ok(values)
    }
}

/// What a build gives out to the templates of other components.
fn outputs(build: &Artifact) -> Node {
    let map = |entries: Vec<Entry>| Node::new(Pos::default(), Value::Map(Map::from(entries)));
    let tag = Entry::new("tag", Node::string(build.outputs.image.tag.as_str()));
    map(vec![
        Entry::new("image", map(vec![tag])),
        Entry::new("digest", Node::string(build.digest.to_string())),
    ])
}

struct ClusterSteps<'a, C> {
    site: &'a Site<'a, C>,
    component: &'a Component,
    operation: Operation,
    pinned: Option<&'a Deployment>,
    observer: &'a dyn Observer,
    report: &'a dyn Report,
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
        let deployed = history.first().map(artifact_digest).transpose()?;
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
        ready.options.deployment = Some(self.deployment(&plan.artifact)?);
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
        let timeout = NOOP_PATIENCE.min(ready.options.timeout);
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
    async fn sync_last_build(&self) -> Result<Digest> {
        let Site { state, components_dir, registries, repository, .. } = *self.site;
        let (name, options) = (self.component.name(), CopyOptions::default());
        let (build, copied) =
            sync(state, components_dir, name, registries, repository, &options).await?;
        self.observer.log(&format!(
            "{} is {}, {} blobs copied",
            build.tag, build.digest, copied.blobs_copied
        ));
        Ok(build.digest)
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
        let values = self.site.values()?;
        let namespace = render_namespace(&self.component.config.namespace, &values)?;
        let text = flumen_yaml::decode(&pulled.yaml)
            .map_err(|error| Error::Unreadable { artifact: artifact.clone(), error })?;
        let documents = render(&text, &values)?;
        let objects = objects_from(documents, &format!("{}@{artifact}", self.component.name()))?;
        let labels = [
            (naming::INSTALL_LABEL, naming::label_value(&self.site.install.id)),
            (naming::COMPONENT_LABEL, naming::label_value(self.component.name())),
        ];
        let labelled = objects.into_iter().map(|mut object| {
            for (key, value) in labels {
                set_label(&mut object, key, value);
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

    fn deployment(&self, artifact: &Digest) -> Result<Deployment> {
        let build = self.site.state.last_build(self.site.components_dir, self.component.name())?;
        let build = build.filter(|build| build.digest == *artifact);
        let place = self.site.install.registry.as_ref();
        let pinned = self.pinned.cloned().unwrap_or_default();
        Ok(Deployment {
            artifact: match place {
                Some(reference) => format!("oci://{}@{artifact}", reference.name()),
                None => artifact.to_string(),
            },
            source: build.as_ref().map_or(pinned.source, |build| build.source.clone()),
            revision: build.map_or(pinned.revision, |build| build.revision),
            by: self.site.by.to_owned(),
            at: (self.site.now)().to_string(),
            rolled_back_to: self.pinned.map(|deployment| deployment.number),
            ..Deployment::default()
        })
    }

    /// Looks again after the time that objects have to stay healthy.
    async fn stabilize(&self, options: &Options) -> Result<()> {
        let health = self.component.config.health.as_ref();
        let window = health.and_then(|health| parse_duration(&health.stabilization_window));
        let Some(window) = window.filter(|_| self.blocks_on_health()) else { return Ok(()) };
        self.observer.log(&format!("looks again in {window:?}"));
        tokio::time::sleep(window).await;
        self.wait(options, Duration::ZERO, |_| true).await
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
            selector: Some(options.owner.selector()),
            rules: options.health.clone(),
            fail_fast: true,
            deadline: Instant::now() + timeout,
        };
        flumen_apply::wait(self.site.cluster, &entries.collect(), &options, self.report).await?;
        Ok(())
    }
}

/// The digest of what was deployed.
fn artifact_digest(deployment: &Deployment) -> Result<Digest> {
    let digest = deployment.artifact.rsplit('@').next().unwrap_or_default();
    Ok(digest.parse()?)
}

fn set_label(object: &mut Object, key: &str, value: &str) {
    let Some(metadata) = object.node.get_mut("metadata").and_then(Node::as_map_mut) else { return };
    if metadata.get("labels").is_none_or(Node::is_null) {
        metadata.set("labels", Node::map());
    }
    if let Some(labels) = metadata.get_mut("labels").and_then(Node::as_map_mut) {
        labels.set(key, Node::string(value));
    }
}
