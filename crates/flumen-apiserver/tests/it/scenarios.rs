//! Conversations with a real API server, which the embedded one has to answer in the same way.
//!
//! A file has a step a line: what is asked, which parts of an object in the answer count, whether it counts that the
//! object got another version than the answer before had (`follows`), and the answer of the real server. A test asks the real server again where there is one, and writes what it
//! says with `FLUMEN_RECORD=1`.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use flumen_testkit::{KubeCluster, KubeProxy, PATIENCE};
use serde_json::{Map, Value, json};

use crate::{fixture::Fixture, hook::Hook};

const RECORD: &str = "FLUMEN_RECORD";
/// The real server learns of configurations and pods by watching them.
const PAUSE: Duration = Duration::from_millis(50);

/// One of the two servers.
struct Side<'a> {
    url: String,
    token: Option<&'static str>,
    client: reqwest::Client,
    hook: &'a Hook,
}

impl Side<'_> {
    async fn send(&self, step: &Value) -> (u16, Vec<String>, Value) {
        let text = |field: &str| step[field].as_str().unwrap_or_default();
        let method = text("method").parse().expect("a method");
        let body = match &step["body"] {
            Value::Null => String::new(),
            body => self.with_hook(&body.to_string()),
        };
        let kind = step["type"].as_str().unwrap_or("application/json");
        let mut request = self
            .client
            .request(method, format!("{}{}", self.url, text("path")))
            .header("Content-Type", kind)
            .header("Accept", step["accept"].as_str().unwrap_or("application/json"))
            .header("User-Agent", "scenario/1")
            .body(body);
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.expect("an answer");
        let warnings = answer.headers().get_all("warning").iter();
        let warnings = warnings.map(|it| it.to_str().unwrap_or_default().to_owned()).collect();
        let status = answer.status().as_u16();
        let body = answer.text().await.expect("a body");
        (status, warnings, serde_json::from_str(&self.without_hook(&body)).unwrap_or_default())
    }

    fn with_hook(&self, text: &str) -> String {
        text.replace("${hook}", &self.hook.url).replace("${bundle}", &self.hook.bundle)
    }

    fn without_hook(&self, text: &str) -> String {
        text.replace(&self.hook.url, "${hook}")
            .replace(&self.hook.bundle, "${bundle}")
            .replace(self.hook.url.trim_start_matches("https://"), "${address}")
    }

    /// The answer to a step, as far as it counts. `version` is that of the object in the answer before.
    async fn ask(&self, step: &Value, version: &mut Value) -> Value {
        let (status, warnings, mut body) = self.send(step).await;
        as_of_one_second(&mut body);
        let mut answer = json!({ "status": status });
        let before = std::mem::replace(version, body["metadata"]["resourceVersion"].clone());
        if step["follows"] == true {
            answer["is_written"] = json!(*version != before);
        }
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        if body["kind"] == "Status" && status >= 400 {
            answer["body"] = body;
        } else {
            let kept = step["keep"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let parts: Map<String, Value> = kept
                .map(|at| (at.to_owned(), body.pointer(at).cloned().unwrap_or_default()))
                .collect();
            if !parts.is_empty() {
                answer["body"] = parts.into();
            }
        }
        let wait = &step["wait"];
        if wait.is_object() {
            self.wait_for(wait).await;
        }
        hide_identities(&answer)
    }

    async fn wait_for(&self, wait: &Value) {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let (status, warnings, _) = self.send(wait).await;
            let is_warned = wait["warnings"].is_null() || wait["warnings"] == json!(warnings);
            if json!(status) == wait["status"] && is_warned {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("it never came to pass: {wait}");
    }
}

/// Brings the managers of an object into the order that they have if all of them wrote within the same second, as
/// they did when the answers were recorded.
fn as_of_one_second(object: &mut Value) {
    let Some(Value::Array(managers)) = object.pointer_mut("/metadata/managedFields") else {
        return;
    };
    managers.sort_by_cached_key(|entry| {
        ["operation", "manager", "apiVersion", "subresource"]
            .map(|key| entry[key].as_str().unwrap_or_default().to_owned())
    });
}

/// Identities and generated names are made up anew every time, and so are times in messages.
fn hide_identities(answer: &Value) -> Value {
    const MARKS: [(&str, &str); 3] = [
        ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "<uid>"),
        ("gen-?????", "<name>"),
        (r#"\"time\":\"xxxx-xx-xxTxx:xx:xxZ"#, r#"\"time\":\"<time>"#),
    ];
    let mut text = answer.to_string();
    for (mark, name) in MARKS {
        let mut at = 0;
        while at < text.len() {
            if is_marked(&text.as_bytes()[at..], mark) {
                text.replace_range(at..at + mark.len(), name);
            }
            at += 1;
        }
    }
    serde_json::from_str(&text).expect("it was JSON before")
}

fn is_marked(text: &[u8], mark: &str) -> bool {
    text.len() >= mark.len()
        && mark.bytes().zip(text).all(|(mark, byte)| match mark {
            b'x' => byte.is_ascii_hexdigit(),
            b'?' => byte.is_ascii_alphanumeric(),
            plain => *byte == plain,
        })
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn read(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder().join(format!("{name}.jsonl"))).expect("a scenario");
    text.lines().map(|line| serde_json::from_str(line).expect("a step")).collect()
}

/// What is answered otherwise, in words.
fn differences(steps: &[Value], answers: &[Value]) -> Vec<String> {
    let pairs = steps.iter().zip(answers).enumerate();
    pairs
        .filter(|(_, (step, answer))| step["answer"] != **answer)
        .map(|(place, (step, answer))| {
            let line = place + 1;
            format!(
                "line {line}: {} {}\n  {}\n  {answer}",
                step["method"], step["path"], step["answer"]
            )
        })
        .collect()
}

async fn answers(side: &Side<'_>, steps: &[Value]) -> Vec<Value> {
    let mut answers = Vec::new();
    let mut version = Value::Null;
    for step in steps {
        answers.push(side.ask(step, &mut version).await);
    }
    answers
}

async fn check(name: &str) {
    let (fixture, hook) = (Fixture::start().await, Hook::start().await);
    let url = fixture.url();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let side = Side { url, token: Some("t0ken"), client, hook: &hook };
    let steps = read(name);
    let answers = answers(&side, &steps).await;
    let found = differences(&steps, &answers);
    assert!(found.is_empty(), "{name}: {} of {}\n{}", found.len(), steps.len(), found.join("\n"));
}

/// All scenarios.
const NAMES: &[&str] = &[
    "access-reviews",
    "api-services",
    "bindings",
    "certificates",
    "devices",
    "edges",
    "evictions",
    "expressions",
    "fresh",
    "job-status",
    "limit-ranges",
    "node-ports",
    "plugins",
    "pod-security",
    "policies",
    "quotas",
    "watches",
    "webhook-conversion",
    "webhook-failures",
    "webhooks",
];

#[tokio::test]
async fn access_reviews() {
    check("access-reviews").await;
}

#[tokio::test]
async fn api_services() {
    check("api-services").await;
}

#[tokio::test]
async fn bindings() {
    check("bindings").await;
}

#[tokio::test]
async fn certificates() {
    check("certificates").await;
}

#[tokio::test]
async fn devices() {
    check("devices").await;
}

#[tokio::test]
async fn edges() {
    check("edges").await;
}

#[tokio::test]
async fn evictions() {
    check("evictions").await;
}

#[tokio::test]
async fn expressions() {
    check("expressions").await;
}

#[tokio::test]
async fn fresh_servers() {
    check("fresh").await;
}

#[tokio::test]
async fn job_statuses() {
    check("job-status").await;
}

#[tokio::test]
async fn limit_ranges() {
    check("limit-ranges").await;
}

#[tokio::test]
async fn node_ports() {
    check("node-ports").await;
}

#[tokio::test]
async fn plugins() {
    check("plugins").await;
}

#[tokio::test]
async fn pod_security() {
    check("pod-security").await;
}

#[tokio::test]
async fn policies() {
    check("policies").await;
}

#[tokio::test]
async fn quotas() {
    check("quotas").await;
}

#[tokio::test]
async fn watches() {
    check("watches").await;
}

#[tokio::test]
async fn webhook_conversion() {
    check("webhook-conversion").await;
}

#[tokio::test]
async fn webhook_failures() {
    check("webhook-failures").await;
}

#[tokio::test]
async fn webhooks() {
    check("webhooks").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_server_says_what_was_recorded() {
    let started = tokio::task::spawn_blocking(|| {
        // Its policies would refuse what other tests do.
        KubeCluster::start_real().map(|cluster| (KubeProxy::start(&cluster), cluster))
    });
    let Some((proxy, _cluster)) = started.await.expect("it starts") else { return };
    let hook = Hook::start().await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let side = Side { url: proxy.server().to_owned(), token: None, client, hook: &hook };
    let mut found = Vec::new();
    for name in NAMES {
        let mut steps = read(name);
        let answers = answers(&side, &steps).await;
        if env::var_os(RECORD).is_some() {
            let mut lines = String::new();
            for (step, answer) in steps.iter_mut().zip(answers) {
                step["answer"] = answer;
                lines.push_str(&step.to_string());
                lines.push('\n');
            }
            fs::write(folder().join(format!("{name}.jsonl")), lines).expect("it is written");
        } else {
            found.extend(differences(&steps, &answers).into_iter().map(|d| format!("{name} {d}")));
        }
    }
    // The proxy waits for its threads, which may not happen among tasks.
    tokio::task::spawn_blocking(move || drop(proxy)).await.expect("it ends");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
