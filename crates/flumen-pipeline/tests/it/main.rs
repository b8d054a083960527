//! Components from file to artifact, with real registries, repositories and files.
#![allow(clippy::disallowed_methods, reason = "tests may touch the disk")]

mod configuration;
mod deploys;
mod drift;
mod git;
mod inline;
mod kustomize;
mod life_cycle;
mod local_store;
mod oci_artifact;
mod reproducible;
mod reuse;
mod site;
mod teardown;
mod templates;

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use flumen_oci::{
    Reference, Repository, Target,
    artifact::{PullOptions, Pulled, pull},
    client::{ClientOptions, Registry},
};
use flumen_pipeline::{
    Artifact, BuildId, Caching, Destination, Environment, Registries, Remote, Result, State,
    config::{Component, Components},
    job::{CancellationToken, Ended, Observer, Status},
};
use flumen_registry::{Options, Server};
use jiff::Timestamp;
use tempfile::TempDir;

/// Components, their sources and everything that builds leave, in a directory of its own.
struct Project {
    dir: TempDir,
    builds: AtomicI64,
    heard: Heard,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("scratch directory");
        fs::create_dir(dir.path().join("components")).expect("directory");
        Self { dir, builds: AtomicI64::new(0), heard: Heard::default() }
    }

    /// A project with one component `c`: the common keys and `rest`.
    fn with_component(rest: &str) -> Self {
        let project = Self::new();
        project.set_component(rest);
        project
    }

    fn set_component(&self, rest: &str) {
        let common = "name = \"c\"\ntype = \"kubernetes_manifest\"\nnamespace = \"default\"\n";
        self.write("components/c.toml", &format!("{common}{rest}"));
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("file");
    }

    fn component(&self) -> Component {
        let mut loaded = Components::load(&self.path("components")).expect("components");
        assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
        loaded.components.remove("c").expect("the component")
    }

    fn state(&self) -> State {
        State::new(self.path("data"), self.path("state"))
    }

    /// Builds go to the local store.
    fn environment(&self) -> Environment {
        Environment {
            state: self.state(),
            components: self.path("components"),
            destination: Destination {
                repository: self.state().store().expect("a store"),
                reference: None,
            },
            registries: Arc::new(Insecure),
            repos: BTreeMap::new(),
            caching: Caching::Reuse,
            remote: Remote::Refuse,
        }
    }

    /// Ids of builds are a second apart.
    fn next_id(&self) -> BuildId {
        let second = 1_700_000_000 + self.builds.fetch_add(1, Ordering::Relaxed);
        BuildId::new(Timestamp::from_second(second).expect("a time"), [0; 10])
    }

    async fn build(&self) -> Result<Artifact, Ended> {
        self.build_in(&self.environment()).await
    }

    async fn build_in(&self, environment: &Environment) -> Result<Artifact, Ended> {
        let (component, cancel) = (self.component(), CancellationToken::new());
        flumen_pipeline::build(&component, self.next_id(), environment, &cancel, &self.heard).await
    }

    async fn pull(&self, artifact: &Artifact) -> Pulled {
        let target = Target::Tag(artifact.tag.clone());
        let store = self.state().store().expect("a store");
        pull(&store, &target, &PullOptions::default()).await.expect("a readable artifact")
    }

    /// The manifests of the component, built.
    async fn content(&self) -> String {
        let artifact = self.build().await.expect("built");
        text(&self.pull(&artifact).await)
    }

    fn workspaces(&self) -> usize {
        fs::read_dir(self.path("state/workspaces")).expect("workspaces").count()
    }
}

fn text(pulled: &Pulled) -> String {
    String::from_utf8(pulled.yaml.to_vec()).expect("UTF-8")
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

/// Remembers what a job says.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    /// What was said since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic holds it"))
    }
}

impl Observer for Heard {
    fn status(&self, status: Status) {
        self.log(&status.to_string());
    }

    fn log(&self, line: &str) {
        self.0.lock().expect("no panic holds it").push(line.to_owned());
    }
}

/// Opens registries on this machine, over plain HTTP.
#[derive(Debug)]
struct Insecure;

impl Registries for Insecure {
    fn open(&self, reference: &Reference, _credentials: Option<&str>) -> Result<Repository> {
        let options = ClientOptions { insecure: true, ..ClientOptions::default() };
        let registry = Registry::new(&reference.host, &options)?;
        Ok(Repository::Remote(registry.repository(&reference.repository)))
    }
}

/// An embedded registry with an empty directory.
struct TestRegistry {
    server: Server,
    _dir: TempDir,
}

impl TestRegistry {
    async fn start() -> Self {
        let dir = tempfile::tempdir().expect("scratch directory");
        let server = Server::start(Options::new(dir.path())).await.expect("a registry");
        Self { server, _dir: dir }
    }

    fn reference(&self, repository: &str) -> Reference {
        format!("oci://{}/{repository}", self.server.address()).parse().expect("a reference")
    }

    fn repository(&self, repository: &str) -> Repository {
        Insecure.open(&self.reference(repository), None).expect("a repository")
    }

    fn destination(&self, repository: &str) -> Destination {
        Destination {
            repository: self.repository(repository),
            reference: Some(self.reference(repository)),
        }
    }
}
