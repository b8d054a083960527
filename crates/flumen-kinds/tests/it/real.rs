//! Random bodies, judged by a real API server.

use std::{
    env,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
};

use flumen_kinds::{Media, Target, decode};
use flumen_schema::api::{Api, ApiKind, Scope};
use flumen_testkit::{KubeCluster, KubeProxy};
use serde_json::Value;

use crate::{
    defaults::compare_answers,
    manifests::Manifests,
    random::{Random, body},
};

/// How many bodies each test sends, if not the few that every run can afford.
const CASES: &str = "FLUMEN_RANDOM_BODIES";
const FEW: u64 = 150;

/// Sends bodies that a function makes from seeds, and collects what it says of the answers.
fn send(check: impl Fn(&Server, &mut Random) -> Result<(), String>) {
    let Some(cluster) = KubeCluster::shared_real() else { return };
    let proxy = KubeProxy::start(cluster);
    let server = Server::new(&proxy, cluster);
    let count = env::var(CASES).ok().and_then(|count| count.parse().ok()).unwrap_or(FEW);
    let failed: Vec<String> = (0..count)
        .filter_map(|seed| {
            let problem = check(&server, &mut Random::new(seed)).err()?;
            Some(format!("{seed} {problem}"))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_real_server_reads_random_bodies_the_same_way() {
    let kinds: Vec<&ApiKind> = Api::get().kinds().iter().filter(|kind| is_sent(kind)).collect();
    send(|server, random| {
        let kind = random.pick(&kinds);
        let body = body(random, kind);
        let theirs = refusal(&server.create(kind, &body));
        let ours = ours(kind, &body);
        if ours == theirs {
            return Ok(());
        }
        Err(format!("{}: {body}\n  {ours:?}\n  {theirs:?}", kind.kind))
    });
}

#[test]
fn a_real_server_stores_random_manifests_the_same_way() {
    let manifests = Manifests::read();
    let accepted = AtomicU64::new(0);
    send(|server, random| {
        let (kind, manifest) = manifests.pick(random);
        let theirs = server.create(kind, &manifest.to_string());
        if theirs["kind"] == "Status" {
            // Not everything goes together.
            return Ok(());
        }
        accepted.fetch_add(1, Ordering::Relaxed);
        compare_answers(kind, &manifest, &theirs)
            .map_err(|problem| format!("{}: {manifest}\n  {problem}", kind.kind))
    });
    if KubeCluster::shared_real().is_some() {
        assert!(accepted.into_inner() > FEW / 2, "most manifests are accepted");
    }
}

#[test]
fn a_real_server_refuses_other_kinds_in_the_same_words() {
    let Some(cluster) = KubeCluster::shared_real() else { return };
    let proxy = KubeProxy::start(cluster);
    let server = Server::new(&proxy, cluster);
    let mut failed = Vec::new();
    for (group, kind, body) in OTHER_KINDS {
        let version = if *kind == "HorizontalPodAutoscaler" { "v2" } else { "v1" };
        let kind = Api::get().kind(group, version, kind).expect("is served");
        let (ours, theirs) = (ours(kind, body), refusal(&server.create(kind, body)));
        if ours != theirs {
            failed.push(format!("{}: {body}\n  {ours:?}\n  {theirs:?}", kind.kind));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Group and kind that are asked for, and what is sent.
const OTHER_KINDS: &[(&str, &str, &str)] = &[
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"ConfigMapList","items":[]}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"List","items":[]}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"DeleteOptions"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"Status"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"configmap"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1beta1","kind":"ConfigMap"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"example.com/v1","kind":"ConfigMap"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"Pod","spec":{"containers":1}}"#),
    ("", "ConfigMap", r#"{"apiVersion":"v1","kind":"Pod","nope":1}"#),
    ("", "ConfigMap", r#"{"kind":"Deployment"}"#),
    ("", "ConfigMap", r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#),
    ("", "Event", r#"{"apiVersion":"events.k8s.io/v1","kind":"Event"}"#),
    ("apps", "Deployment", r#"{"apiVersion":"apps/v1beta1","kind":"Deployment"}"#),
    ("apps", "Deployment", r#"{"apiVersion":"extensions/v1beta1","kind":"Deployment"}"#),
    ("apps", "Deployment", r#"{"apiVersion":"apps/v1beta3","kind":"Deployment"}"#),
    ("apps", "Deployment", r#"{"apiVersion":"apps/v1","kind":"StatefulSet"}"#),
    ("apps", "Deployment", r#"{"apiVersion":"apps","kind":"Deployment"}"#),
    (
        "networking.k8s.io",
        "Ingress",
        r#"{"apiVersion":"networking.k8s.io/v1beta1","kind":"Ingress"}"#,
    ),
    ("batch", "CronJob", r#"{"apiVersion":"batch/v1beta1","kind":"CronJob"}"#),
    (
        "policy",
        "PodDisruptionBudget",
        r#"{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget"}"#,
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        r#"{"apiVersion":"autoscaling/v2beta2","kind":"HorizontalPodAutoscaler"}"#,
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        r#"{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"}"#,
    ),
    (
        "rbac.authorization.k8s.io",
        "Role",
        r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole"}"#,
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition"}"#,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition", r#"{"apiVersion":"v1","kind":"Pod"}"#),
    ("apiregistration.k8s.io", "APIService", r#"{"apiVersion":"v1","kind":"Pod"}"#),
];

/// Reviews are answered, not created.
fn is_sent(kind: &ApiKind) -> bool {
    kind.verbs.contains(&"update")
}

fn path(kind: &ApiKind, namespace: &str) -> String {
    let root = match kind.group {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    match kind.scope {
        Scope::Cluster => format!("{root}/{}", kind.plural),
        Scope::Namespaced => format!("{root}/namespaces/{namespace}/{}", kind.plural),
    }
}

/// What we say of a body, if it does not decode strictly.
fn ours(kind: &ApiKind, body: &str) -> Option<String> {
    match decode(body.as_bytes(), Media::Json, &Target::from(kind)) {
        Err(error) => Some(error.to_string()),
        Ok(decoded) if decoded.strict.is_empty() => None,
        Ok(decoded) => {
            let (version, kind, error) = (kind.version, kind.kind, decoded.strict.error());
            Some(format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}"))
        }
    }
}

/// What the server says of a body, if it does not decode strictly.
fn refusal(answer: &Value) -> Option<String> {
    let message = answer["message"].as_str()?;
    let is_decoding = answer["code"] == 400
        && ["cannot be handled as a", "is unrecognized", "the API version in the data"]
            .iter()
            .any(|part| message.contains(part));
    is_decoding.then(|| message.to_owned())
}

/// A real API server behind a front that speaks plain HTTP.
struct Server {
    host: String,
    namespace: String,
}

impl Server {
    fn new(proxy: &KubeProxy, cluster: &KubeCluster) -> Self {
        let host = proxy.server().trim_start_matches("http://").to_owned();
        Self { host, namespace: cluster.fresh_namespace() }
    }

    /// The answer to a strict create that changes nothing.
    fn create(&self, kind: &ApiKind, body: &str) -> Value {
        let Self { host, namespace } = self;
        let mut stream = TcpStream::connect(host).expect("the proxy listens");
        let (path, length) = (path(kind, namespace), body.len());
        // The older version of HTTP has no chunks.
        write!(
            stream,
            "POST {path}?dryRun=All&fieldValidation=Strict HTTP/1.0\r\nHost: {host}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("the proxy reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the proxy answers");
        let start = answer.find('{').expect("an answer has a body");
        let end = answer.rfind('}').map_or(start, |end| end + 1);
        serde_json::from_str(&answer[start..end]).expect("an answer is JSON")
    }
}
