//! Every request that 175 commands of `kubectl` sent to a real server, sent again: same status.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_apiserver::{StaticTokens, User};
use flumen_local::{ApiServer, ApiServerOptions};
use flumen_sim::Controllers;
use flumen_testkit::{PATIENCE, shared_dir, skip};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

const TOKEN: &str = "t0ken";
/// What binary bodies call the namespace; in texts it was renamed to `demo`.
const NAMESPACE: &str = "demob";
/// Controllers may be some steps behind.
const PAUSE: Duration = Duration::from_millis(50);

/// A server, and what recorded requests refer to.
struct Player {
    client: Client,
    server: String,
    etags: BTreeMap<String, String>,
    token: String,
}

impl Player {
    /// Sends a recorded request and says how the answer differs.
    async fn play(&mut self, recorded: &Value) -> Result<(), String> {
        let expected = recorded["status"].as_u64().unwrap_or_default();
        let is_read = recorded["method"] == "GET";
        let begin = Instant::now();
        loop {
            let answer = self.send(recorded).await;
            let found = u64::from(answer.status().as_u16());
            if found == expected {
                self.remember(recorded, answer).await;
                return Ok(());
            }
            if !is_read || begin.elapsed() > PATIENCE {
                let text = answer.text().await.unwrap_or_default();
                return Err(format!("{expected}, not {found}: {text}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn send(&self, recorded: &Value) -> Response {
        let path = text(&recorded["path"]);
        let version = self.version(recorded).await;
        let fill = |value: &str| {
            value
                .replace("<rv>", &version)
                .replace("<token>", &self.token)
                .replace("<etag>", self.etags.get(path).map_or("", |etag| etag))
                .replace("<time>", "2026-01-01T00:00:00Z")
                .replace("<random>", "x")
                .replace("<uid>", "0")
                .replace("<300 to 600>", "300")
        };
        let method = Method::from_bytes(text(&recorded["method"]).as_bytes()).expect("a method");
        // Documents are where their hash says; ours has another.
        let query = recorded["query"].as_object().into_iter().flatten();
        let query =
            query.filter(|(key, _)| *key != "hash").map(|(key, value)| (key, fill(text(value))));
        let url = Url::parse_with_params(&format!("{}{path}", self.server), query).expect("a URL");
        let mut request = self.client.request(method, url);
        for (key, value) in recorded["headers"].as_object().into_iter().flatten() {
            request = request.header(key, fill(text(value)));
        }
        if let Some(body) = recorded["protobufBody"].as_str() {
            request = request.body(STANDARD.decode(body).expect("base64"));
        } else if !recorded["body"].is_null() {
            request = request.body(fill(&recorded["body"].to_string()));
        }
        request.bearer_auth(TOKEN).send().await.expect("the server answers")
    }

    /// The version of what a request is about, if it names one.
    async fn version(&self, recorded: &Value) -> String {
        if !recorded.to_string().contains("<rv>") {
            return String::new();
        }
        let url = format!("{}{}", self.server, text(&recorded["path"]));
        let answer = self.client.get(url).bearer_auth(TOKEN).send().await.expect("an answer");
        let object = json(answer).await;
        text(&object["metadata"]["resourceVersion"]).to_owned()
    }

    /// Keeps what later requests refer to. A watch has no end to wait for.
    async fn remember(&mut self, recorded: &Value, answer: Response) {
        if let Some(etag) = answer.headers().get("etag").and_then(|etag| etag.to_str().ok()) {
            let etag = etag.trim_matches('"').to_owned();
            self.etags.insert(text(&recorded["path"]).to_owned(), etag);
        }
        let query = &recorded["query"];
        if query.get("limit").is_some() && query.get("watch").is_none() {
            text(&json(answer).await["metadata"]["continue"]).clone_into(&mut self.token);
        }
    }
}

/// A request as it can be sent again; `None` if the recording does not say enough, or time decides.
fn playable(command: &Value, recorded: &Value, deleting: bool) -> Option<Value> {
    // Headers of caches and of impersonation were not kept.
    let is_cached = recorded["status"] == 304 && recorded["headers"].get("If-None-Match").is_none();
    let is_impersonated = text(&command["command"]).contains("--as=");
    // Whether the object is already gone after a deletion is up to the controllers.
    let is_race = deleting && recorded["method"] == "GET";
    if is_cached || is_impersonated || is_race {
        return None;
    }
    let mut request = recorded.clone();
    for operation in request["body"].as_array_mut().into_iter().flatten() {
        if operation["path"] == "/metadata/resourceVersion" {
            operation["value"] = "<rv>".into();
        }
    }
    Some(request)
}

async fn json(answer: Response) -> Value {
    let body = answer.bytes().await.unwrap_or_default();
    serde_json::from_slice(&body).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_kubectl_are_answered() {
    let Some(shared) = shared_dir() else {
        return skip("requests recorded from `kubectl`", "no `../shared` beside the checkout");
    };
    let path = shared.join("corpus/kubernetes/kubectl-requests.jsonl");
    let recorded = fs::read_to_string(path).expect("the recording is there");
    let mut tokens = StaticTokens::default();
    let groups = vec![User::MASTERS.to_owned()];
    tokens.add(TOKEN, User { name: "admin".to_owned(), groups, ..User::default() });
    let server = ApiServer::start(ApiServerOptions {
        tls: false,
        controllers: Controllers::Core,
        ..ApiServerOptions::in_memory(tokens)
    });
    let server = server.await.expect("it starts");
    let client = Client::builder().no_proxy().build().expect("a client");
    let mut player =
        Player { client, server: server.url(), etags: BTreeMap::new(), token: String::new() };
    let (mut sent, mut wrong) = (0, Vec::new());
    for line in recorded.lines() {
        let line = line.replace("demo", NAMESPACE);
        let command: Value = serde_json::from_str(&line).expect("a command");
        let mut deleting = false;
        for request in command["requests"].as_array().into_iter().flatten() {
            let Some(request) = playable(&command, request, deleting) else { continue };
            deleting |= request["method"] == "DELETE";
            sent += 1;
            if let Err(why) = player.play(&request).await {
                let (method, path) = (text(&request["method"]), text(&request["path"]));
                wrong.push(format!("{}: {method} {path}: {why}", text(&command["command"])));
            }
        }
    }
    assert!(sent > 300, "only {sent} requests");
    assert!(wrong.is_empty(), "{} of {sent} requests:\n{}", wrong.len(), wrong.join("\n"));
    server.shutdown().await;
}
