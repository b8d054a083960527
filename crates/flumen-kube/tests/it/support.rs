//! Clients, manifests and a server that answers what it is told to.

mod scripted;

use std::path::Path;

use flumen_kube::{
    ApplyOptions, Client, Cluster as _, ConnectOptions, Error, ObjectName, Resource, Write,
};
use flumen_object::Gvk;
use flumen_testkit::{KubeCluster, KubeProxy};
use flumen_yaml::{Budget, Node};

pub(crate) use scripted::{Encoding, Head, Scripted};

pub(crate) const MANAGER: &str = "test";

pub(crate) const FORCED: ApplyOptions<'_> =
    ApplyOptions { manager: MANAGER, force: true, write: Write::Real };

pub(crate) fn options(kubeconfig: &Path) -> ConnectOptions {
    ConnectOptions { kubeconfig: Some(kubeconfig.to_owned()), ..ConnectOptions::default() }
}

pub(crate) async fn connect(kubeconfig: &Path) -> Client {
    Client::connect(&options(kubeconfig)).await.expect("a client")
}

pub(crate) async fn client(cluster: &KubeCluster) -> Client {
    connect(&cluster.kubeconfig()).await
}

pub(crate) async fn through(proxy: &KubeProxy) -> Client {
    connect(proxy.kubeconfig()).await
}

pub(crate) fn node(yaml: &str) -> Node {
    let text = yaml.to_owned().into();
    let mut documents = flumen_yaml::read(&text, 1, &Budget::default()).expect("YAML");
    documents.pop().expect("a document")
}

pub(crate) fn config_map(name: &str, value: &str) -> Node {
    node(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{key: '{value}'}}}}"
    ))
}

pub(crate) fn text<'a>(node: &'a Node, path: &[&str]) -> &'a str {
    node.at(path).and_then(Node::as_str).unwrap_or_default()
}

pub(crate) async fn resource(client: &Client, api_version: &str, kind: &str) -> Resource {
    let gvk = Gvk::new(&api_version.into(), kind.into());
    client.resource(&gvk).await.expect("discovery works").expect("the kind is served")
}

/// Config maps without asking a server how they are served.
pub(crate) fn config_maps() -> Resource {
    Resource {
        gvk: Gvk::new(&"v1".into(), "ConfigMap".into()),
        plural: "configmaps".into(),
        namespaced: true,
        verbs: Vec::new().into(),
    }
}

/// Applies a manifest, in this namespace where its kind has one.
pub(crate) async fn apply(
    client: &Client,
    namespace: &str,
    manifest: &Node,
    options: ApplyOptions<'_>,
) -> Result<Node, Error> {
    let gvk = Gvk::of(manifest);
    let resource = client.resource(&gvk).await?.expect("the kind is served");
    let name = text(manifest, &["metadata", "name"]);
    let object = ObjectName { resource: &resource, namespace, name };
    client.apply(object, manifest, options).await
}
