//! The process dies at any moment: what was acknowledged is there, nothing else is seen.
//!
//! The registry runs in a process of its own, which is this test binary started again. It is
//! killed after a number of answers that a seed decides, while other requests are on their way.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use flumen_registry::{Options, Server};
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::client::{MANIFEST, image, sha256};

/// Tells a process of this binary that it is the registry.
const DATA: &str = "FLUMEN_TEST_REGISTRY_DATA";
const GREETING: &str = "registry at ";
const PUSHES: usize = 200;
const CLIENTS: usize = 6;
const ROUNDS: u64 = 8;

/// Not a test of its own: the registry that is killed, when the environment says so.
#[tokio::test]
async fn registry_process() {
    let Some(data) = env::var_os(DATA) else { return };
    let server = Server::start(Options::new(data)).await.expect("starts");
    let greeting = format!("{GREETING}{}\n", server.address());
    io::stdout().write_all(greeting.as_bytes()).expect("someone listens");
    std::future::pending::<()>().await;
}

struct Process {
    child: Child,
    base: String,
}

impl Process {
    fn spawn(data: &Path) -> Child {
        Command::new(env::current_exe().expect("a path"))
            .args(["--exact", "crash::registry_process", "--nocapture"])
            .env(DATA, data)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts")
    }

    fn start(data: &Path) -> Self {
        let mut child = Self::spawn(data);
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        // The harness prints lines of its own, and the beginning of this one.
        let address = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split_once(GREETING).map(|(_, address)| address.to_owned()))
            .expect("a greeting");
        Self { child, base: format!("http://{address}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Counts answers and kills the registry at one of them.
struct Fuse {
    left: Mutex<u64>,
    process: Mutex<Option<Process>>,
    base: String,
}

impl Fuse {
    fn burn(&self) {
        let mut left = self.left.lock().expect("no panic");
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.process.lock().expect("no panic").take();
        }
    }
}

fn layer(number: usize) -> Vec<u8> {
    let size = number * 7919 % 300_000 + 1;
    number.to_le_bytes().into_iter().cycle().take(size).collect()
}

/// One request; `None` when there was no answer.
async fn send(fuse: &Fuse, request: reqwest::RequestBuilder) -> Option<StatusCode> {
    let status = request.send().await.ok()?.status();
    fuse.burn();
    Some(status)
}

async fn push(
    fuse: &Fuse,
    client: &Client,
    number: usize,
    acknowledged: &Acknowledged,
) -> Option<()> {
    let layer = layer(number);
    let mut digests = Vec::new();
    for content in [b"{}".to_vec(), layer.clone()] {
        let digest = sha256(&content);
        let url = format!("{}/v2/crash/blobs/uploads/?digest={digest}", fuse.base);
        let status = send(fuse, client.post(url).body(content)).await?;
        assert_eq!(status, StatusCode::CREATED);
        acknowledged.blobs.lock().expect("no panic").insert(digest.clone());
        digests.push(digest);
    }
    let manifest = image((&digests[0], 2), &[(&digests[1], layer.len())]).to_string();
    let url = format!("{}/v2/crash/manifests/v{number}", fuse.base);
    let digest = sha256(manifest.as_bytes());
    let request = client.put(url).header("content-type", MANIFEST).body(manifest);
    let status = send(fuse, request).await?;
    assert_eq!(status, StatusCode::CREATED);
    acknowledged.tags.lock().expect("no panic").insert(number, digest);
    Some(())
}

#[derive(Default)]
struct Acknowledged {
    blobs: Mutex<BTreeSet<String>>,
    tags: Mutex<BTreeMap<usize, String>>,
}

/// Everything that can be seen is whole, and everything that was acknowledged can be seen.
async fn check(base: &str, acknowledged: &Acknowledged) {
    let client = Client::new();
    let get = async |path: String| {
        let answer = client.get(format!("{base}/v2/crash/{path}")).send().await.expect("an answer");
        (answer.status(), answer.bytes().await.expect("a body"))
    };
    let (_, tags) = get("tags/list".to_owned()).await;
    let tags: Value = serde_json::from_slice(&tags).expect("JSON");
    let mut visible = BTreeSet::new();
    let mut blobs = acknowledged.blobs.lock().expect("no panic").clone();
    for tag in tags["tags"].as_array().map_or(&[][..], Vec::as_slice) {
        let tag = tag.as_str().expect("a tag");
        let (status, manifest) = get(format!("manifests/{tag}")).await;
        assert_eq!(status, StatusCode::OK, "{tag}");
        let content: Value = serde_json::from_slice(&manifest).expect("JSON");
        let named =
            content["layers"].as_array().expect("layers").iter().chain([&content["config"]]);
        blobs.extend(named.map(|named| named["digest"].as_str().expect("a digest").to_owned()));
        visible.insert((tag.to_owned(), sha256(&manifest)));
    }
    for blob in blobs {
        let (status, content) = get(format!("blobs/{blob}")).await;
        assert_eq!((status, sha256(&content)), (StatusCode::OK, blob));
    }
    for (number, digest) in acknowledged.tags.lock().expect("no panic").iter() {
        assert!(
            visible.contains(&(format!("v{number}"), digest.clone())),
            "v{number} was acknowledged"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_registry_loses_nothing_that_it_acknowledged() {
    let data = tempfile::tempdir().expect("a directory");
    let acknowledged = Arc::new(Acknowledged::default());
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..=ROUNDS {
        let process = Process::start(data.path());
        check(&process.base, &acknowledged).await;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // The last round may finish.
        let answers = if round == ROUNDS { u64::MAX } else { random % 90 + 1 };
        let base = process.base.clone();
        let process = Mutex::new(Some(process));
        let fuse = Arc::new(Fuse { left: Mutex::new(answers), process, base });
        let done = acknowledged.tags.lock().expect("no panic").clone();
        let open: Vec<usize> = (0..PUSHES).filter(|number| !done.contains_key(number)).collect();
        let mut clients = JoinSet::new();
        for first in 0..CLIENTS {
            let numbers: Vec<usize> = open.iter().skip(first).step_by(CLIENTS).copied().collect();
            let (fuse, acknowledged) = (Arc::clone(&fuse), Arc::clone(&acknowledged));
            clients.spawn(async move {
                let client = Client::new();
                for number in numbers {
                    if push(&fuse, &client, number, &acknowledged).await.is_none() {
                        break;
                    }
                }
            });
        }
        clients.join_all().await;
    }
    assert_eq!(acknowledged.tags.lock().expect("no panic").len(), PUSHES);
    let process = Process::start(data.path());
    check(&process.base, &acknowledged).await;
}

#[test]
fn a_registry_that_was_killed_while_it_was_made_starts_again() {
    const STEP: Duration = Duration::from_micros(300);

    // Ever later, until some of them had begun.
    let (mut delay, mut begun) = (Duration::ZERO, 0);
    while begun < 20 {
        delay += STEP;
        let data = tempfile::tempdir().expect("a directory");
        let mut child = Process::spawn(data.path());
        thread::sleep(delay);
        child.kill().expect("killed");
        child.wait().expect("ended");
        if data.path().read_dir().expect("reads").next().is_some() {
            begun += 1;
            let _started = Process::start(data.path());
        }
    }
}
