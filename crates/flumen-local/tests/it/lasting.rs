//! An API server that ends and comes back, as clients with patience see it.

use std::net::{Ipv4Addr, SocketAddr};

use flumen_apiserver::{ApiOptions, Client, Deletion, ResourceName, StaticTokens, User};
use flumen_local::{ApiServer, ApiServerOptions, kubeconfig};
use flumen_sim::Controllers;
use flumen_testkit::free_port;
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "t0ken";
pub(crate) const NAMESPACE: &str = "default";
pub(crate) const CONFIG_MAPS: ResourceName<'static> = ResourceName::new("", "v1", "configmaps");

/// Nobody acts on it but the test: there are no controllers.
pub(crate) struct Lasting {
    directory: TempDir,
    port: u16,
    server: Option<ApiServer>,
}

impl Lasting {
    pub(crate) async fn start() -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let port = free_port().expect("a free port");
        let mut lasting = Self { directory, port, server: None };
        lasting.come_back(ApiOptions::default()).await;
        lasting
    }

    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.shutdown().await;
        }
    }

    /// Starts again where clients look for it.
    pub(crate) async fn come_back(&mut self, api: ApiOptions) {
        self.server = Some(self.open(self.port, api).await);
    }

    /// Works on the data at a place where no client looks, and forgets how it came about.
    pub(crate) async fn change_unseen(&mut self, work: impl AsyncFnOnce(&Client)) {
        self.stop().await;
        let hidden = self.open(0, ApiOptions::default()).await;
        work(&client(&hidden)).await;
        hidden.shutdown().await;
        let everything = Some(u64::MAX);
        self.come_back(ApiOptions { compact_at: everything, ..ApiOptions::default() }).await;
    }

    pub(crate) fn client(&self) -> Client {
        client(self.server())
    }

    /// How clients reach it, now and after it came back.
    pub(crate) fn kubeconfig(&self) -> String {
        kubeconfig(&self.server().url(), self.server().ca(), TOKEN)
    }

    fn server(&self) -> &ApiServer {
        self.server.as_ref().expect("it runs")
    }

    async fn open(&self, port: u16, api: ApiOptions) -> ApiServer {
        let mut tokens = StaticTokens::default();
        let groups = vec![User::MASTERS.to_owned()];
        tokens.add(TOKEN, User { name: "admin".to_owned(), groups, ..User::default() });
        let options = ApiServerOptions {
            objects: Some(self.directory.path().join("objects.redb")),
            keys: Some(self.directory.path().join("keys")),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            controllers: Controllers::None,
            api,
            ..ApiServerOptions::in_memory(tokens)
        };
        ApiServer::start(options).await.expect("it starts")
    }
}

fn client(server: &ApiServer) -> Client {
    Client::new(server.api().clone(), "test")
}

pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": NAMESPACE}, "data": {"value": value}})
}

pub(crate) async fn create(client: &Client, name: &str) -> Value {
    client.create(CONFIG_MAPS, NAMESPACE, &config_map(name, "1")).await.expect("it is new")
}

pub(crate) async fn change(client: &Client, name: &str) -> Value {
    client.update(CONFIG_MAPS, &config_map(name, "2")).await.expect("it is there")
}

pub(crate) async fn delete(client: &Client, name: &str) {
    client.delete(CONFIG_MAPS, NAMESPACE, name, Deletion::default()).await.expect("it is there");
}
