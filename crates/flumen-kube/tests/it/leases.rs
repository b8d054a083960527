//! One of several holds the Lease.

use std::time::Duration;

use flumen_kube::{Client, Cluster as _, Lease, LeaseOptions, Lost, ObjectName, PatchType};
use flumen_testkit::{KubeCluster, KubeProxy};
use flumen_yaml::Node;
use tokio::time::timeout;

use crate::support::{MANAGER, client, node, resource, text, through};

/// Ends tests that hang; whoever acts is much faster.
const PATIENCE: Duration = Duration::from_mins(1);
/// Nobody waits for a Lease to expire that lasts as long.
const NEVER: Duration = Duration::from_hours(1);

fn options(namespace: &str, identity: &str, lease: Duration) -> LeaseOptions {
    LeaseOptions {
        lease,
        renew: lease / 4 * 3,
        retry: Duration::from_millis(50),
        ..LeaseOptions::new(namespace.to_owned(), "leader".to_owned(), identity.to_owned())
    }
}

async fn acquire(client: &Client, options: LeaseOptions) -> Lease<Client> {
    let acquired = Lease::acquire(client.clone(), options, |_| ());
    timeout(PATIENCE, acquired).await.expect("it is free in the end").expect("no refusal")
}

/// The Lease as the server has it.
async fn stored(client: &Client, namespace: &str) -> Node {
    let resource = resource(client, "coordination.k8s.io/v1", "Lease").await;
    let object = ObjectName { resource: &resource, namespace, name: "leader" };
    client.get(object).await.expect("an answer").expect("the Lease")
}

async fn patch(client: &Client, namespace: &str, body: &str) {
    let resource = resource(client, "coordination.k8s.io/v1", "Lease").await;
    let object = ObjectName { resource: &resource, namespace, name: "leader" };
    client.patch(object, PatchType::Merge, &node(body), MANAGER).await.expect("patched");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_holder_dies_another_takes_over() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
    let short = Duration::from_secs(3);
    let (first, second) = (client(cluster).await, client(cluster).await);
    let mut lease = acquire(&first, options(&namespace, "first", short)).await;
    let holder = tokio::spawn(async move { lease.keep().await });

    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let waiting = options(&namespace, "second", short);
    let candidate = second.clone();
    let candidate = tokio::spawn(async move {
        let tell = move |holder: &str| told.send(holder.to_owned()).expect("somebody listens");
        Lease::acquire(candidate, waiting, tell).await
    });
    assert_eq!(timeout(PATIENCE, heard.recv()).await.expect("told"), Some("first".to_owned()));
    // As long as it is renewed nobody takes it, although that is longer than a Lease lasts.
    let mut renewals = Vec::new();
    while renewals.len() < 80 {
        let renewed = text(&stored(&second, &namespace).await, &["spec", "renewTime"]).to_owned();
        if renewals.last() != Some(&renewed) {
            renewals.push(renewed);
        }
    }
    assert!(!candidate.is_finished());

    holder.abort();
    let taken = timeout(PATIENCE, candidate).await.expect("it is free in the end");
    taken.expect("no panic").expect("no refusal");
    let lease = stored(&second, &namespace).await;
    let field = |name| text(&lease, &["spec", name]);
    assert_eq!(field("holderIdentity"), "second");
    assert_eq!((field("leaseTransitions"), field("leaseDurationSeconds")), ("1", "3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_released_is_free_at_once() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
    let client = client(cluster).await;
    let lease = acquire(&client, options(&namespace, "first", NEVER)).await;
    patch(&client, &namespace, "{metadata: {labels: {of: others}}}").await;
    lease.release().await.expect("released");
    assert_eq!(text(&stored(&client, &namespace).await, &["spec", "holderIdentity"]), "");
    let second = acquire(&client, options(&namespace, "second", NEVER)).await;
    let lease = stored(&client, &namespace).await;
    assert_eq!(text(&lease, &["spec", "holderIdentity"]), "second");
    assert_eq!(text(&lease, &["metadata", "labels", "of"]), "others");

    patch(&client, &namespace, "{spec: {holderIdentity: thief}}").await;
    second.release().await.expect("what is another's is left alone");
    assert_eq!(text(&stored(&client, &namespace).await, &["spec", "holderIdentity"]), "thief");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_somebody_takes_is_lost() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
    let client = client(cluster).await;
    let mut lease = acquire(&client, options(&namespace, "first", NEVER)).await;
    patch(&client, &namespace, "{metadata: {labels: {of: others}}, spec: {holderIdentity: thief}}")
        .await;
    let lost = timeout(PATIENCE, lease.keep()).await.expect("it is lost");
    assert!(matches!(&lost, Lost::Taken { holder, .. } if holder == "thief"), "{lost}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_cannot_renew_gives_up() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
    let proxy = tokio::task::block_in_place(|| KubeProxy::start(cluster));
    let client = through(&proxy).await;
    let mut lease = acquire(&client, options(&namespace, "first", Duration::from_secs(2))).await;
    proxy.hold_after(0, |_| true);
    let lost = timeout(PATIENCE, lease.keep()).await.expect("it is lost");
    assert!(matches!(lost, Lost::NotRenewed { .. }), "{lost}");
    proxy.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_may_not_be_written_is_an_error() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = tokio::task::block_in_place(|| cluster.fresh_namespace());
    let jane = crate::support::connect(&cluster.user_kubeconfig("jane")).await;
    let acquired = Lease::acquire(jane, options(&namespace, "jane", NEVER), |_| ());
    let error = timeout(PATIENCE, acquired).await.expect("an answer").expect_err("no right");
    assert!(error.is_forbidden(), "{error:?}");
}
