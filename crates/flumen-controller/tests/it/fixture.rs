//! A cluster, a registry, and a controller between them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use flumen_archive::PathOptions;
use flumen_controller::{Options, RunError};
use flumen_kube::{
    Client, Cluster as _, ConnectOptions, ListOptions, ObjectName, PatchType, Resource,
};
use flumen_object::Gvk;
use flumen_oci::{
    Repository,
    artifact::{Metadata, pack_path},
    client::{ClientOptions, Registry},
};
use flumen_testkit::{EmbeddedRegistry, KubeCluster, KubeProxy, PATIENCE};
use flumen_yaml::{Budget, Node, read, to_json};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot};

pub(crate) struct Stage {
    pub(crate) cluster: &'static KubeCluster,
    pub(crate) namespace: String,
    registry: EmbeddedRegistry,
    runtime: Runtime,
    client: Client,
    controller: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    storage: TempDir,
}

impl Stage {
    /// `None` when there is no API server to test with; that is said.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(Path::to_owned)
    }

    /// With the controller on another way to the same API server.
    pub(crate) fn start_with(way: impl FnOnce(&Path) -> PathBuf) -> Option<Self> {
        let mut stage = Self::prepare()?;
        stage.begin(way(&stage.cluster.kubeconfig()));
        Some(stage)
    }

    /// With a controller that works otherwise than usual.
    pub(crate) fn start_changed(change: impl FnOnce(&mut Options)) -> Option<Self> {
        let mut stage = Self::prepare()?;
        let mut options = stage.options();
        change(&mut options);
        stage.controller = Some(stage.controller(options));
        Some(stage)
    }

    /// With the requests of the controller counted.
    pub(crate) fn observed() -> Option<(Self, KubeProxy)> {
        let proxy = KubeProxy::start(KubeCluster::shared_with_controllers()?);
        let kubeconfig = proxy.kubeconfig().to_owned();
        Some((Self::start_with(|_| kubeconfig)?, proxy))
    }

    /// Ends the controller, and begins another with the same storage.
    pub(crate) fn restart(&mut self, kubeconfig: &Path) {
        self.restart_after(kubeconfig, |_| {});
    }

    /// Something happens while no controller runs.
    pub(crate) fn restart_after(&mut self, kubeconfig: &Path, happens: impl FnOnce(&Self)) {
        self.end();
        happens(self);
        self.begin(kubeconfig.to_owned());
    }

    fn begin(&mut self, kubeconfig: PathBuf) {
        self.controller = Some(run(kubeconfig, self.options()));
    }

    fn end(&mut self) {
        if let Some((stop, thread)) = self.controller.take() {
            let _ = stop.send(());
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the controller ends in order");
        }
    }

    /// Without a controller.
    pub(crate) fn prepare() -> Option<Self> {
        let cluster = KubeCluster::shared_with_controllers()?;
        let runtime = Runtime::new().expect("a runtime");
        let client = runtime.block_on(connect(&cluster.kubeconfig()));
        let namespace = cluster.fresh_namespace();
        let storage = tempfile::tempdir().expect("a directory");
        let stage = Self {
            cluster,
            registry: EmbeddedRegistry::start(),
            controller: None,
            namespace,
            runtime,
            client,
            storage,
        };
        stage.define();
        Some(stage)
    }

    /// How a controller works here.
    pub(crate) fn options(&self) -> Options {
        options(&self.namespace, self.storage.path().to_owned())
    }

    /// Starts a controller of its own, which ends in order when it is told to.
    pub(crate) fn controller(&self, options: Options) -> (oneshot::Sender<()>, JoinHandle<()>) {
        run(self.cluster.kubeconfig(), options)
    }

    /// A controller that must end by itself, and why it does.
    pub(crate) fn refusal(&self, options: Options) -> RunError {
        refusal_on(&self.cluster.kubeconfig(), options)
    }

    /// The definitions of the kinds that are reconciled.
    fn define(&self) {
        for definition in flumen_api::definitions() {
            self.apply(&serde_json::from_str(definition).expect("a definition"));
        }
        for kind in ["GitRepository", "OCIRepository", "ExternalArtifact", "Kustomization"] {
            self.until_served(&resource(kind).gvk);
        }
    }

    /// Waits until the API server knows a kind that has just been defined.
    pub(crate) fn until_served(&self, gvk: &Gvk) {
        Self::until(&format!("{} is served", gvk.kind), || {
            self.client.forget_resources();
            self.runtime.block_on(self.client.resource(gvk)).ok().flatten()
        });
    }

    /// Pushes files as an artifact, and returns its digest.
    pub(crate) fn push(&self, files: &[(&str, &str)]) -> String {
        let tree = tempfile::tempdir().expect("a directory");
        for (path, content) in files {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content.replace("<ns>", &self.namespace)).expect("written");
        }
        let metadata = Metadata {
            source: "https://example.com/org/app".to_owned(),
            revision: "main@sha1:0000000000000000000000000000000000000000".to_owned(),
            created: jiff::Timestamp::UNIX_EPOCH,
            annotations: BTreeMap::new(),
        };
        let options = ClientOptions { insecure: true, ..ClientOptions::default() };
        let registry = Registry::new(self.registry.host(), &options).expect("a registry");
        let repository = Repository::Remote(registry.repository(&self.namespace));
        let packed = pack_path(tree.path(), &PathOptions::default(), &metadata).expect("packed");
        let pushed = self.runtime.block_on(packed.push(&repository, Some("latest")));
        pushed.expect("pushed").to_string()
    }

    /// Creates the source of what is pushed.
    pub(crate) fn source(&self) {
        let host = self.registry.host();
        self.create(
            "OCIRepository",
            "app",
            &json!({
                "interval": "10m",
                "url": format!("oci://{host}/{}", self.namespace),
                "insecure": true,
            }),
        );
    }

    /// Creates a Kustomization of that source.
    pub(crate) fn kustomization(&self, name: &str, fields: &Value) {
        let mut spec = json!({
            "interval": "10m",
            "timeout": "5m",
            "prune": true,
            "path": "./",
            "sourceRef": {"kind": "OCIRepository", "name": "app"},
        });
        for (key, value) in fields.as_object().expect("fields") {
            spec[key] = value.clone();
        }
        self.create("Kustomization", name, &spec);
    }

    /// Creates an object of one of the kinds that are reconciled.
    pub(crate) fn create(&self, kind: &str, name: &str, spec: &Value) {
        let api_version = resource(kind).gvk.api_version();
        self.apply(&json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }));
    }

    /// Applies an object in the name of a user.
    pub(crate) fn apply(&self, object: &Value) {
        let text = serde_json::to_string(object).expect("JSON");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("written");
        let path = file.path().to_str().expect("a path");
        let arguments =
            ["apply", "--server-side", "--field-manager=test", "--force-conflicts", "-f", path];
        let outcome = self.cluster.kubectl(&arguments);
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    }

    /// Asks for a pass.
    pub(crate) fn request(&self, kind: &str, name: &str) -> String {
        let at = format!("{:?}", Instant::now());
        let annotations = json!({"reconcile.fluxcd.io/requestedAt": at});
        self.patch(kind, name, &json!({"metadata": {"annotations": annotations}}));
        at
    }

    pub(crate) fn patch(&self, kind: &str, name: &str, patch: &Value) {
        let resource = resource(kind);
        let object = self.name(&resource, name);
        let patch = node(patch);
        let work = self.client.patch(object, PatchType::Merge, &patch, "somebody");
        self.runtime.block_on(work).expect("patched");
    }

    /// Changes the status of an object, as its controller would.
    pub(crate) fn patch_status(&self, kind: &str, name: &str, status: &Value) {
        let resource = resource(kind);
        let object = self.name(&resource, name);
        let patch = node(&json!({ "status": status }));
        let work = self.client.patch_status(object, &patch, "somebody");
        self.runtime.block_on(work).expect("patched");
    }

    pub(crate) fn delete(&self, kind: &str, name: &str) {
        self.delete_all(kind, &[name]);
    }

    /// Deletes objects at the same time.
    pub(crate) fn delete_all(&self, kind: &str, names: &[&str]) {
        let resource = resource(kind);
        let deletions = names.iter().map(|name| {
            self.client.delete(self.name(&resource, name), flumen_kube::DeleteOptions::default())
        });
        for deleted in self.runtime.block_on(join_all(deletions)) {
            assert!(deleted.expect("deleted"));
        }
    }

    pub(crate) fn get(&self, kind: &str, name: &str) -> Option<Value> {
        let resource = resource(kind);
        let found = self.runtime.block_on(self.client.get(self.name(&resource, name)));
        found
            .expect("an answer")
            .map(|node| serde_json::from_str(&to_json(&node).expect("JSON")).expect("JSON"))
    }

    /// The events about an object.
    pub(crate) fn events(&self, kind: &str, name: &str) -> Vec<Value> {
        let resource = resource("Event");
        let selector = format!("involvedObject.kind={kind},involvedObject.name={name}");
        let options = ListOptions {
            namespace: Some(&self.namespace),
            field_selector: Some(&selector),
            label_selector: None,
        };
        let listed = self.runtime.block_on(self.client.list(&resource, options)).expect("a list");
        let json = |node: &Node| serde_json::from_str(&to_json(node).expect("JSON")).expect("JSON");
        listed.items.iter().map(json).collect()
    }

    /// Where the controller keeps a file that it has published.
    pub(crate) fn stored(&self, path: &str) -> PathBuf {
        self.storage.path().join(path)
    }

    fn name<'a>(&'a self, resource: &'a Resource, name: &'a str) -> ObjectName<'a> {
        ObjectName { resource, namespace: &self.namespace, name }
    }

    /// Waits until an object is as it should be, and returns it.
    pub(crate) fn until_object(
        &self,
        kind: &str,
        name: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let begin = Instant::now();
        loop {
            let object = self.get(kind, name);
            match object {
                Some(object) if is_so(&object) => return object,
                object if begin.elapsed() > PATIENCE => {
                    panic!("{kind}/{name} does not come to that: {object:#?}")
                }
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Waits until there is something.
    pub(crate) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(begin.elapsed() < PATIENCE, "{what}: it does not come to that");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a Kustomization is ready, and returns it.
    pub(crate) fn until_ready(&self, name: &str) -> Value {
        self.until_object("Kustomization", name, |object| {
            condition(object, "Ready")["status"] == "True"
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        })
    }

    /// Waits until a Kustomization has failed for this reason, and returns the message.
    pub(crate) fn until_failed(&self, name: &str, reason: &str) -> String {
        let object = self.until_object("Kustomization", name, |object| {
            let ready = condition(object, "Ready");
            ready["status"] == "False" && ready["reason"] == reason
        });
        condition(&object, "Ready")["message"].as_str().expect("a message").to_owned()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.end();
    }
}

fn options(namespace: &str, storage: PathBuf) -> Options {
    let mut options = Options::default();
    options.source.storage = storage;
    options.runtime.namespace = Some(namespace.to_owned());
    namespace.clone_into(&mut options.runtime.runtime_namespace);
    options
}

/// The controller on this thread, for as long as the process lives.
pub(crate) fn run_here(kubeconfig: &Path, namespace: &str, storage: PathBuf) {
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = connect(kubeconfig).await;
        let never = std::future::pending();
        let running = flumen_controller::run(client, options(namespace, storage), never);
        running.await.expect("it runs");
    });
}

/// A controller on some cluster that must end by itself, and why it does.
pub(crate) fn refusal_on(kubeconfig: &Path, options: Options) -> RunError {
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = connect(kubeconfig).await;
        let never = std::future::pending();
        flumen_controller::run(client, options, never).await.expect_err("it ends")
    })
}

/// The controller on a thread of its own.
fn run(kubeconfig: PathBuf, options: Options) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let client = connect(&kubeconfig).await;
            let stop = async {
                let _ = stopped.await;
            };
            flumen_controller::run(client, options, stop).await.expect("it runs");
        });
    });
    (stop, thread)
}

async fn connect(kubeconfig: &Path) -> Client {
    let kubeconfig = Some(kubeconfig.to_owned());
    let options = ConnectOptions { kubeconfig, ..ConnectOptions::default() };
    Client::connect(&options).await.expect("a client")
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut found = conditions.into_iter().flatten().filter(|one| one["type"] == kind);
    found.next().unwrap_or(&Value::Null)
}

fn resource(kind: &str) -> Resource {
    let (api_version, plural) = match kind {
        "Kustomization" => ("kustomize.toolkit.fluxcd.io/v1", "kustomizations"),
        "GitRepository" => ("source.toolkit.fluxcd.io/v1", "gitrepositories"),
        "ExternalArtifact" => ("source.toolkit.fluxcd.io/v1", "externalartifacts"),
        "OCIRepository" => ("source.toolkit.fluxcd.io/v1", "ocirepositories"),
        "HelmRelease" => ("helm.toolkit.fluxcd.io/v2", "helmreleases"),
        "ConfigMap" => ("v1", "configmaps"),
        "Event" => ("v1", "events"),
        "Lease" => ("coordination.k8s.io/v1", "leases"),
        "Deployment" => ("apps/v1", "deployments"),
        "Widget" => ("example.com/v1", "widgets"),
        "Gadget" => ("late.example.com/v1", "gadgets"),
        other => panic!("no such kind: {other}"),
    };
    Resource {
        gvk: Gvk::new(&api_version.into(), kind.into()),
        plural: plural.into(),
        namespaced: true,
        verbs: [].into(),
    }
}

fn node(value: &Value) -> Node {
    let text = serde_json::to_string(value).expect("JSON");
    read(&text.as_str().into(), 1, &Budget::default()).expect("JSON is YAML").remove(0)
}

/// The definition of a kind in some group, such as `widgets.example.com`.
pub(crate) fn definition(name: &str, kind: &str) -> Value {
    let (plural, group) = name.split_once('.').expect("a plural and a group");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

/// A `ConfigMap` as a manifest.
pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: <ns>}}\n\
         data: {{key: \"{value}\"}}\n"
    )
}
