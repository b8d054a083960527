//! The real server beside ours, where the machine has one: both are asked the same.

use flumen_testkit::{KubeCluster, KubeProxy};
use reqwest::{Client, Method};
use serde_json::Value;

use crate::fixture::Fixture;

pub(crate) struct Both {
    pub ours: Fixture,
    theirs: KubeProxy,
    client: Client,
}

/// What the two said to the same request.
#[derive(Debug)]
pub(crate) struct Answers {
    pub ours: (u16, Value),
    pub theirs: (u16, Value),
}

impl Both {
    /// `None` when the machine has no real server; that is said as skipped.
    pub(crate) async fn start() -> Option<Self> {
        let cluster =
            tokio::task::spawn_blocking(KubeCluster::shared_real).await.expect("it starts")?;
        let client = Client::builder().no_proxy().build().expect("a client");
        Some(Self { ours: Fixture::start().await, theirs: KubeProxy::start(cluster), client })
    }

    /// A request of the administrator; `headers` are `Name: value`.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Answers {
        let all: Vec<&str> =
            headers.iter().copied().chain(["Authorization: Bearer t0ken"]).collect();
        let ours = self.ours.send(method, path, &all, body).await;
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.client.request(method, format!("{}{path}", self.theirs.server()));
        for (name, value) in headers.iter().filter_map(|header| header.split_once(": ")) {
            request = request.header(name, value);
        }
        let theirs = request.body(body.to_vec()).send().await.expect("the real server answers");
        let status = theirs.status().as_u16();
        let body = theirs.bytes().await.unwrap_or_default();
        Answers {
            ours: (ours.status, ours.json()),
            theirs: (status, serde_json::from_slice(&body).unwrap_or_default()),
        }
    }

    /// Makes the same object in both.
    pub(crate) async fn create(&self, path: &str, object: &Value) {
        let json = ["Content-Type: application/json"];
        let answers = self.ask("POST", path, &json, object.to_string().as_bytes()).await;
        assert_eq!((answers.ours.0, answers.theirs.0), (201, 201), "{path}: {answers:?}");
    }
}
