//! A server in memory with controllers, and waiting for what they do.

use std::time::Duration;

use flumen_apiserver::{Api, Client, Deletion, ResourceName, Select};
use flumen_sim::{Clock, Controllers, Pace, Running, Settings};
use flumen_store::{Options, Store};
use serde_json::{Value, json};

/// Time limit for what must happen, generous enough for a slow machine that is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) const CONFIG_MAPS: ResourceName<'static> = ResourceName::new("", "v1", "configmaps");
pub(crate) const NAMESPACES: ResourceName<'static> = ResourceName::new("", "v1", "namespaces");
pub(crate) const PODS: ResourceName<'static> = ResourceName::new("", "v1", "pods");
pub(crate) const DEPLOYMENTS: ResourceName<'static> =
    ResourceName::new("apps", "v1", "deployments");
pub(crate) const REPLICA_SETS: ResourceName<'static> =
    ResourceName::new("apps", "v1", "replicasets");

pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    api: Api,
    _running: Running,
}

impl Bench {
    /// A server whose simulated things take no time, until the clock is moved.
    pub(crate) async fn start(controllers: Controllers) -> Self {
        let bench = Self::start_with(controllers).await;
        let accounts = ResourceName::new("", "v1", "serviceaccounts");
        bench.until(accounts, "default", "default", |account| account.is_some()).await;
        bench
    }

    /// The same without controllers.
    pub(crate) async fn start_alone() -> Self {
        Self::start_with(Controllers::None).await
    }

    async fn start_with(controllers: Controllers) -> Self {
        let store = Store::in_memory(Options::default()).expect("a store");
        let api = Api::open(store).await.expect("a server");
        let clock = Clock::set_to("2026-01-01T00:00:00Z".parse().expect("a time"));
        let settings = Settings {
            root_ca: "authority".to_owned(),
            pace: Pace { start: Duration::ZERO, run: Duration::ZERO },
            clock: clock.clone(),
        };
        let running = flumen_sim::start(&api, controllers, &settings);
        let client = Client::new(api.clone(), "tester");
        Self { client, clock, api, _running: running }
    }

    pub(crate) async fn create(&self, of: ResourceName<'_>, object: Value) -> Value {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        self.client.create(of, &namespace, &object).await.expect("created")
    }

    pub(crate) async fn config_map(&self, name: &str, metadata: Value) -> Value {
        let mut object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default"},
        });
        for (key, value) in metadata.as_object().into_iter().flatten() {
            object["metadata"][key] = value.clone();
        }
        self.create(CONFIG_MAPS, object).await
    }

    pub(crate) async fn get(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        name: &str,
    ) -> Option<Value> {
        self.client.get(of, namespace, name).await.ok()
    }

    pub(crate) async fn list(&self, of: ResourceName<'_>, labels: &str) -> Vec<Value> {
        let select = Select { namespace: "default", labels };
        self.client.list(of, select).await.expect("a list")
    }

    pub(crate) async fn delete(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        name: &str,
        how: &'static str,
    ) {
        let deletion = Deletion { propagation: Some(how), ..Deletion::default() };
        self.client.delete(of, namespace, name, deletion).await.expect("deleted");
    }

    /// Waits until an object is as wanted. It is looked at after every change of the server.
    pub(crate) async fn until(
        &self,
        of: ResourceName<'_>,
        namespace: &str,
        name: &str,
        wanted: impl Fn(Option<&Value>) -> bool,
    ) -> Option<Value> {
        let mut changes = self.api.changes().expect("changes");
        let waiting = async {
            loop {
                let object = self.get(of, namespace, name).await;
                if wanted(object.as_ref()) {
                    return object;
                }
                changes.next().await.expect("a change");
            }
        };
        if let Ok(object) = tokio::time::timeout(PATIENCE, waiting).await {
            return object;
        }
        let last = self.get(of, namespace, name).await;
        panic!("{} {name} did not become as wanted: {last:#?}", of.plural)
    }

    pub(crate) async fn until_gone(&self, of: ResourceName<'_>, namespace: &str, name: &str) {
        self.until(of, namespace, name, |object| object.is_none()).await;
    }
}

/// The reference by which an object names its owner.
pub(crate) fn owner(object: &Value) -> Value {
    json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"],
    })
}
