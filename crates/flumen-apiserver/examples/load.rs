//! Measures how fast an API server applies, lists and tells watchers, from outside: any server that speaks
//! the Kubernetes API.
//!
//! ```text
//! cargo run --release -p flumen-apiserver --example load -- https://127.0.0.1:6443 TOKEN [OBJECTS]
//! ```
//!
//! Server-side applies of config maps and deployments by 16 connections, in a namespace of their own; then the
//! same again, which changes nothing; then a list.

#![allow(clippy::print_stdout, reason = "what is measured is the output")]
#![allow(clippy::disallowed_methods, reason = "measures time")]

use std::{error::Error, sync::Arc, time::Instant};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

const CONNECTIONS: usize = 16;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

struct Target {
    /// One connection each.
    clients: Vec<Client>,
    server: String,
    token: String,
    namespace: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(token)) = (arguments.next(), arguments.next()) else {
        return Err("usage: load SERVER TOKEN [OBJECTS]".into());
    };
    let count: usize = arguments.next().map_or(Ok(2000), |text| text.parse())?;
    let client = || {
        // HTTP/1.1, so that a client is a connection.
        Client::builder().http1_only().tls_danger_accept_invalid_certs(true).no_proxy().build()
    };
    let clients = (0..CONNECTIONS).map(|_| client()).collect::<std::result::Result<_, _>>()?;
    let namespace = format!("load-{}", std::process::id());
    let target = Arc::new(Target { clients, server, token, namespace });
    let body =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": target.namespace}});
    target.apply(0, &format!("/api/v1/namespaces/{}", target.namespace), &body).await?;
    for round in ["first", "again"] {
        let begin = Instant::now();
        let workers = (0..CONNECTIONS).map(|worker| {
            let target = Arc::clone(&target);
            tokio::spawn(async move {
                for number in (worker..count).step_by(CONNECTIONS) {
                    let (path, body) = target.object(number);
                    target.apply(worker, &path, &body).await?;
                }
                Result::Ok(())
            })
        });
        let workers: Vec<_> = workers.collect();
        for worker in workers {
            worker.await??;
        }
        println!("{round}: {count} applies in {:.2} s", begin.elapsed().as_secs_f64());
    }
    let begin = Instant::now();
    let bytes = target.list().await?;
    println!("list: {bytes} bytes in {:.3} s", begin.elapsed().as_secs_f64());
    Ok(())
}

impl Target {
    /// Half of the objects are small, half are of the size that most have.
    fn object(&self, number: usize) -> (String, Value) {
        let (namespace, name) = (&self.namespace, format!("object-{number}"));
        if number.is_multiple_of(2) {
            let body = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "labels": {"app": name}},
                "data": {"key": "value", "number": number.to_string()},
            });
            return (format!("/api/v1/namespaces/{namespace}/configmaps/{name}"), body);
        }
        let container = json!({
            "name": "app",
            "image": "registry.example.com/app:1.0",
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            "ports": [{"containerPort": 8080, "name": "http"}],
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
            "resources": {"limits": {"memory": "128Mi"}, "requests": {"cpu": "100m"}},
        });
        let body = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
            },
        });
        (format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"), body)
    }

    async fn apply(&self, worker: usize, path: &str, body: &Value) -> Result<()> {
        let url = format!("{}{path}?fieldManager=load&force=true", self.server);
        let request = self.clients[worker].patch(url).bearer_auth(&self.token);
        let request = request.header("content-type", "application/apply-patch+yaml");
        let answer = request.body(serde_json::to_vec(body)?).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if status == StatusCode::OK || status == StatusCode::CREATED {
            return Ok(());
        }
        Err(format!("{status}: {text}").into())
    }

    async fn list(&self) -> Result<usize> {
        let url = format!("{}/apis/apps/v1/namespaces/{}/deployments", self.server, self.namespace);
        let answer = self.clients[0].get(url).bearer_auth(&self.token).send().await?;
        Ok(answer.bytes().await?.len())
    }
}
