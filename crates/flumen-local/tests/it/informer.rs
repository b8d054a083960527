//! Informers of client-go, by a small program that prints what they learn.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use flumen_apiserver::{ApiOptions, Client, Deletion, ResourceName};
use flumen_testkit::{PATIENCE, tool};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    lasting::{Lasting, NAMESPACE, change, create, delete},
    session::found,
};

const DEPLOYMENTS: ResourceName<'static> = ResourceName::new("apps", "v1", "deployments");
const OBJECTS: usize = 100;

/// How an informer learns which objects there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    ListAndWatch,
    /// A watch that begins with all objects.
    StreamingList,
}

struct Informer {
    child: Child,
    lines: Receiver<String>,
    // It ends when this does.
    _input: Option<ChildStdin>,
}

impl Informer {
    fn start(program: &Path, kubeconfig: &Path, start: Start) -> Self {
        let mut command = Command::new(program);
        command.env("KUBE_FEATURE_WatchListClient", (start == Start::StreamingList).to_string());
        command.arg(kubeconfig).arg(NAMESPACE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Self { _input: child.stdin.take(), child, lines }
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the informer says something")
    }

    fn take(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.next()).collect()
    }
}

impl Drop for Informer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(what: &str, kind: &str, object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    format!("{what} {kind} {} {}", text("name"), text("resourceVersion"))
}

/// Without the version, which a deletion has for itself.
fn event(line: &str) -> &str {
    line.rsplit_once(' ').map_or(line, |(event, _)| event)
}

async fn deploy(client: &Client, name: &str) -> Value {
    let deployment = json!({
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "registry.example.com/app:1"}]},
            },
        },
    });
    client.create(DEPLOYMENTS, NAMESPACE, &deployment).await.expect("it is new")
}

#[test]
fn informers_that_list_and_watch_miss_nothing() {
    check(Start::ListAndWatch);
}

#[test]
fn informers_that_only_watch_miss_nothing() {
    check(Start::StreamingList);
}

fn check(start: Start) {
    let program = found("informer", tool("informer"), "`cargo xtask tools` provides it");
    let Some(program) = program else { return };
    let runtime = Runtime::new().expect("a runtime");
    let mut server = runtime.block_on(Lasting::start());
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let kubeconfig = scratch.path().join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig()).expect("written");
    let first = runtime.block_on(async { create(&server.client(), "first").await });
    let informer = Informer::start(&program, &kubeconfig, start);
    let mut seen = informer.take(2);
    seen.sort();
    assert_eq!(seen, [line("added", "ConfigMap", &first), "synced".to_owned()]);

    // Every change of every object, in the order in which it was made.
    let names: Vec<String> = (0..OBJECTS).map(|number| format!("c-{number}")).collect();
    let (maps, deployments) = runtime.block_on(async {
        let client = server.client();
        let (mut maps, mut deployments) = (Vec::new(), Vec::new());
        for name in &names {
            maps.push(line("added", "ConfigMap", &create(&client, name).await));
            deployments.push(line("added", "Deployment", &deploy(&client, name).await));
        }
        for name in &names {
            maps.push(line("changed", "ConfigMap", &change(&client, name).await));
        }
        for name in &names {
            delete(&client, name).await;
        }
        (maps, deployments)
    });
    let seen = informer.take(4 * OBJECTS);
    let of = |kind: &str| -> Vec<&str> {
        seen.iter().map(String::as_str).filter(|line| line.contains(kind)).collect()
    };
    assert_eq!(of(" Deployment "), deployments);
    let seen = of(" ConfigMap ");
    let (changes, deletions) = seen.split_at(2 * OBJECTS);
    assert_eq!(changes, maps);
    let deleted: Vec<&str> = deletions.iter().copied().map(event).collect();
    let expected: Vec<String> =
        names.iter().map(|name| format!("deleted ConfigMap {name}")).collect();
    assert_eq!(deleted, expected);

    // A server that was away for a moment is found again, and the watches go on where they were.
    let kept = runtime.block_on(async { create(&server.client(), "kept").await });
    assert_eq!(informer.next(), line("added", "ConfigMap", &kept));
    let after = runtime.block_on(async {
        server.stop().await;
        server.come_back(ApiOptions::default()).await;
        create(&server.client(), "after").await
    });
    assert_eq!(informer.next(), line("added", "ConfigMap", &after));

    // What happened meanwhile is forgotten, so everything is read anew.
    runtime.block_on(server.change_unseen(async |client: &Client| {
        delete(client, "kept").await;
        create(client, "unseen").await;
        for name in &names {
            client
                .delete(DEPLOYMENTS, NAMESPACE, name, Deletion::default())
                .await
                .expect("it is there");
        }
    }));
    let seen = informer.take(4 + OBJECTS);
    let mut maps: Vec<&str> =
        seen.iter().map(|line| event(line)).filter(|line| line.contains(" ConfigMap ")).collect();
    maps.sort_unstable();
    assert_eq!(
        maps,
        [
            "added ConfigMap unseen",
            "changed ConfigMap after",
            "changed ConfigMap first",
            "deleted ConfigMap kept"
        ]
    );
    let gone = seen.iter().filter(|line| line.starts_with("deleted Deployment "));
    assert_eq!(gone.count(), OBJECTS);
    drop(informer);
    runtime.block_on(server.stop());
}
