//! Reaching a server, or saying why not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use flumen_kube::{Client, Cluster as _, Error, ObjectName};
use flumen_object::Gvk;
use flumen_testkit::{Certificate, KubeCluster, KubeProxy};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{client, connect, options, resource};

/// Passes bytes on to a server and counts connections.
async fn counted(server: &str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (scheme, target) = server.split_once("://").expect("an address");
    let address = format!("{scheme}://{}", listener.local_addr().expect("an address"));
    let (target, connections) = (target.to_owned(), Arc::<AtomicUsize>::default());
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut inside, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let target = target.clone();
            tokio::spawn(async move {
                let mut outside = TcpStream::connect(target).await.expect("the server is there");
                let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
            });
        }
    });
    (address, connections)
}

async fn ask_often(client: &Client) {
    let namespaces = resource(client, "v1", "Namespace").await;
    let object = ObjectName { resource: &namespaces, namespace: "", name: "default" };
    let asked = (0..200).map(|_| async { client.get(object).await.map(drop) });
    stream::iter(asked).buffer_unordered(100).try_collect::<()>().await.expect("answers");
}

#[tokio::test]
async fn one_connection_carries_all_requests() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (address, connections) = counted(cluster.server()).await;
    let mut options = options(&cluster.kubeconfig());
    options.server = Some(address);
    let client = Client::connect(&options).await.expect("a client");
    ask_often(&client).await;
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    assert_eq!(client.requests(), 202);
}

#[tokio::test]
async fn without_tls_connections_are_used_again() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let (address, connections) = counted(proxy.server()).await;
    let mut options = options(proxy.kubeconfig());
    options.server = Some(address);
    options.max_concurrent = 4;
    let client = Client::connect(&options).await.expect("a client");
    ask_often(&client).await;
    let connections = connections.load(Ordering::Relaxed);
    assert!(connections < 100, "{connections} connections for 202 requests");
}

#[tokio::test]
async fn no_more_requests_run_than_agreed() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let proxy = KubeProxy::start(cluster);
    let mut options = options(proxy.kubeconfig());
    options.max_concurrent = 3;
    let client = Client::connect(&options).await.expect("a client");
    let namespaces = resource(&client, "v1", "Namespace").await;
    proxy.hold_after(0, |_| true);
    let before = client.requests();
    let asked: Vec<_> = (0..10)
        .map(|_| {
            let (client, namespaces) = (client.clone(), namespaces.clone());
            tokio::spawn(async move {
                let object = ObjectName { resource: &namespaces, namespace: "", name: "default" };
                client.get(object).await.map(drop)
            })
        })
        .collect();
    // Everything runs on this thread: all of them have had their turn after a few.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.requests() - before, 3);
    proxy.release();
    for answer in asked {
        answer.await.expect("no panic").expect("an answer");
    }
}

#[tokio::test]
async fn the_namespace_of_the_context_is_known() {
    let Some(cluster) = KubeCluster::shared() else { return };
    assert_eq!(client(cluster).await.namespace(), "default");
    let text = std::fs::read_to_string(cluster.kubeconfig()).expect("a kubeconfig");
    let text = text.replace("user: test}", "user: test, namespace: shop}");
    let client = Client::from_kubeconfig_text(&text, &flumen_kube::ConnectOptions::default()).await;
    let client = client.expect("a client");
    assert_eq!(client.namespace(), "shop");
    assert_eq!(client.address(), cluster.server());
    ask_often(&client).await;
}

/// What is said when the first question fails.
async fn failure(options: &flumen_kube::ConnectOptions) -> Error {
    let client = Client::connect(options).await.expect("a client");
    let error = client.resource(&Gvk::new(&"v1".into(), "Pod".into())).await;
    assert!(client.requests() <= 2, "trying again does not help");
    error.expect_err("no answer")
}

#[tokio::test]
async fn nobody_there_is_said_at_once() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let mut options = options(&cluster.kubeconfig());
    options.server = Some("https://127.0.0.1:1".to_owned());
    let error = failure(&options).await;
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with("the server https://127.0.0.1:1 cannot be reached: "), "{message}");
    assert!(message.contains("refused"), "{message}");
    assert!(error.hint().expect("a hint").contains("--context"));
    let plain = KubeProxy::start(cluster);
    options.server = Some(plain.server().replace("http:", "https:"));
    let error = failure(&options).await;
    assert!(error.to_string().ends_with("cannot be reached: it does not speak TLS"), "{error}");
    options.server = Some("https://nowhere.invalid".to_owned());
    let error = failure(&options).await;
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn servers_have_to_prove_who_they_are() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let other = Certificate::for_loopback(directory.path()).expect("a certificate");
    let mut options = options(&cluster.kubeconfig());
    options.certificate_authority = Some(other.authority);
    let error = failure(&options).await;
    assert!(matches!(error, Error::Untrusted { .. }), "{error:?}");
    assert!(error.to_string().contains(cluster.server()), "{error}");
    assert!(error.hint().expect("a hint").contains("--certificate-authority"));

    options.certificate_authority = None;
    options.tls_server_name = Some("other.example.com".to_owned());
    let error = failure(&options).await;
    assert!(matches!(error, Error::Untrusted { .. }), "{error:?}");
    assert!(error.to_string().contains("other.example.com"), "{error}");

    options.insecure_skip_tls_verify = true;
    ask_often(&Client::connect(&options).await.expect("a client")).await;
}

#[tokio::test]
async fn credentials_that_nobody_knows_are_refused() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let made = cluster.kubectl(&["create", "serviceaccount", "robot", "--namespace", &namespace]);
    assert!(made.succeeded(), "{}", made.stderr);
    let mut options = options(&cluster.service_account_kubeconfig(&namespace, "robot"));
    options.token = Some("hunter2".to_owned());
    let error = failure(&options).await;
    assert!(error.is_unauthorized(), "{error:?}");
    assert!(error.hint().expect("a hint").contains("log in"));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let client = Client::connect(&options).await.expect("a client");
    assert!(!format!("{client:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_proxy_is_used_when_the_kubeconfig_names_one() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let text = std::fs::read_to_string(cluster.kubeconfig()).expect("a kubeconfig");
    let text =
        text.replace("cluster: {server", "cluster: {proxy-url: 'http://127.0.0.1:1', server");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("config");
    std::fs::write(&path, text).expect("written");
    let client = connect(&path).await;
    let error = client.resource(&Gvk::new(&"v1".into(), "Pod".into())).await.expect_err("no proxy");
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}
