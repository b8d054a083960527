//! A namespace on a real API server, and runs of the engine in it.

use std::{path::Path, time::Duration};

use flumen_apply::{
    Action, Change, ConfigMapStore, Error, Options, Outcome, Owner, Plan, Silent, apply, plan,
};
use flumen_kube::{Client, ConnectOptions};
use flumen_object::ObjectSet;
use flumen_testkit::{KubeCluster, KubeProxy, KubeRequest, PATIENCE};

/// Between two looks at the requests.
const POLL: Duration = Duration::from_millis(20);

/// Everything that one test needs. All requests of the engine go through the proxy, which counts them.
pub(crate) struct Fixture {
    pub(crate) cluster: &'static KubeCluster,
    pub(crate) proxy: KubeProxy,
    pub(crate) namespace: String,
    pub(crate) client: Client,
    pub(crate) options: Options,
}

impl Fixture {
    /// `None` on a machine without Kubernetes.
    pub(crate) async fn new() -> Option<Self> {
        Some(Self::on(KubeCluster::shared()?).await)
    }

    pub(crate) async fn with_controllers() -> Option<Self> {
        Some(Self::on(KubeCluster::shared_with_controllers()?).await)
    }

    /// A new process in the place of another: it has seen nothing yet.
    pub(crate) async fn over(other: &Self) -> Self {
        Self::in_namespace(other.cluster, other.namespace.clone()).await
    }

    pub(crate) async fn on(cluster: &'static KubeCluster) -> Self {
        // The fixture's own requests block.
        let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
        Self::in_namespace(cluster, namespace).await
    }

    async fn in_namespace(cluster: &'static KubeCluster, namespace: String) -> Self {
        let proxy = tokio::task::block_in_place(|| KubeProxy::start(cluster));
        let connect = ConnectOptions {
            kubeconfig: Some(proxy.kubeconfig().to_owned()),
            ..ConnectOptions::default()
        };
        let client = Client::connect(&connect).await.expect("a connection");
        let owner = Owner {
            manager: "kustomizer".to_owned(),
            group: "inventory.kustomizer.dev".to_owned(),
            name: "app".to_owned(),
            namespace: namespace.clone(),
        };
        let options = Options {
            default_namespace: Some(namespace.clone()),
            timeout: PATIENCE,
            ..Options::new(owner)
        };
        Self { cluster, proxy, namespace, client, options }
    }

    /// Waits until the engine has made such a request.
    pub(crate) async fn until_requested(&self, what: &str, is_it: impl Fn(&KubeRequest) -> bool) {
        let seen = async {
            while self.proxy.count(&is_it) == 0 {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::time::timeout(PATIENCE, seen).await.expect(what);
    }

    pub(crate) fn store(&self) -> ConfigMapStore<Client> {
        let now = "2026-01-01T00:00:00Z".to_owned();
        ConfigMapStore::new(self.client.clone(), self.options.owner.clone(), now)
    }

    pub(crate) async fn apply(&self, yaml: &str) -> Result<Outcome, Error> {
        apply(&self.client, objects(yaml), &self.store(), &self.options, &Silent).await
    }

    /// What happened to each object, in one line.
    pub(crate) async fn applied(&self, yaml: &str) -> String {
        let outcome = self.apply(yaml).await.expect("applied");
        summary(&outcome.changes)
    }

    pub(crate) async fn plan(&self, yaml: &str) -> Plan {
        plan(&self.client, objects(yaml), &self.store(), &self.options).await.expect("planned")
    }

    /// What `kubectl` prints, without the line end.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let namespace = format!("--namespace={}", self.namespace);
        let arguments: Vec<&str> =
            [namespace.as_str()].into_iter().chain(arguments.iter().copied()).collect();
        let outcome = tokio::task::block_in_place(|| self.cluster.kubectl(&arguments));
        assert!(outcome.succeeded(), "kubectl {arguments:?}: {}", outcome.stderr);
        String::from_utf8_lossy(&outcome.stdout).trim_end().to_owned()
    }

    /// Creates what a manifest says, in the way of `kubectl apply`.
    pub(crate) fn kubectl_apply(&self, yaml: &str) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), yaml).expect("written");
        self.kubectl(&["apply", "-f", &file.path().to_string_lossy()]);
    }

    /// Names of the objects of a kind in the namespace that bear the owner's labels.
    pub(crate) fn owned(&self, kind: &str) -> String {
        let selector = self.options.owner.selector();
        let path = "jsonpath={.items[*].metadata.name}";
        self.kubectl(&["get", kind, "-l", &selector, "-o", path])
    }
}

pub(crate) fn objects(yaml: &str) -> ObjectSet {
    flumen_build::objects_of(yaml.as_bytes(), Path::new("test.yaml")).expect("objects")
}

pub(crate) fn summary(changes: &[Change]) -> String {
    let shown = changes.iter().map(|change| {
        let Change { id, action } = change;
        format!("{}/{} {}", id.gvk.kind, id.name, Action::as_str(*action))
    });
    shown.collect::<Vec<_>>().join(", ")
}

pub(crate) fn config_map(name: &str, value: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: \"{value}\"}}\n"
    )
}
