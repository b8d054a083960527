//! The same random sequences of operations, sent to a real API server and to the embedded one.
//!
//! ```text
//! seed ─▶ generate ─▶ operations ─▶ run ─┬─▶ real     ─▶ normal ─┬─▶ equal?
//!                                        └─▶ embedded ─▶ normal ─┘
//! ```
//!
//! Every answer is compared in full, once what servers make up is normalised. A sequence ends at its
//! first difference, which is reported with the fewest operations that show it.
//! `FLUMEN_DIFFERENTIAL_SEQUENCES=2000` makes a campaign of it, `FLUMEN_DIFFERENTIAL_SEED` is where it begins.

mod generate;
mod kinds;
mod known;
mod manifest;
mod memory;
mod normal;
mod operation;
mod patches;
mod run;
mod server;

use std::{
    collections::BTreeMap,
    env,
    io::{self, Write as _},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use flumen_apiserver::ApiOptions;
use flumen_testkit::{KubeCluster, KubeProxy, PATIENCE};
use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;

use self::{
    kinds::Kind,
    memory::Memory,
    operation::Operation,
    run::{Pair, class, describe},
    server::Server,
};
use crate::fixture::{ADMIN_TOKEN, Fixture};

const SEQUENCES: &str = "FLUMEN_DIFFERENTIAL_SEQUENCES";
const SEED: &str = "FLUMEN_DIFFERENTIAL_SEED";
/// What every run can afford.
const FEW: u64 = 40;
/// Differences of one class that are worth the time to make them small.
const SHOWN: usize = 2;
const POLL: Duration = Duration::from_millis(20);
/// Sequences at a time.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sequences_are_answered_as_by_the_real_server() {
    // Others change what a cluster admits.
    let Some(cluster) = KubeCluster::start_real() else { return };
    let proxy = KubeProxy::start(&cluster);
    // Neither has controllers that would make the accounts of pods.
    let accounts = "ServiceAccount".parse().expect("a plugin");
    let options = ApiOptions { disabled_plugins: vec![accounts], ..ApiOptions::default() };
    let fixture = Fixture::start_with(options).await;
    let pair = Pair {
        real: Server::new(proxy.server().to_owned(), None),
        embedded: Server::new(fixture.url(), Some(ADMIN_TOKEN)),
        namespaces: AtomicUsize::new(0),
        sent: AtomicUsize::new(0),
        known: Mutex::default(),
    };
    let kinds = kinds::read();
    define(&pair, &kinds).await;

    let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number(SEED).unwrap_or(0), number(SEQUENCES).unwrap_or(FEW));
    let found: Vec<_> = stream::iter(first..first + count)
        .map(async |seed| {
            proxy.forget();
            let operations = generate::sequence(seed, &kinds);
            let difference = pair.compare(&operations).await?;
            Some((seed, operations, difference))
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(async |found| found)
        .collect()
        .await;

    let operations = pair.sent.load(Ordering::Relaxed);
    let known = pair.known.lock().clone();
    let summary = format!(
        "differential: {count} sequences from seed {first}, {operations} operations, {} differ; known: {known:?}\n",
        found.len(),
    );
    // Straight to the handle: the test harness captures the macros of passing tests.
    let _ = io::stderr().lock().write_all(summary.as_bytes());

    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut reports = String::new();
    for (seed, operations, difference) in found {
        let met = classes.entry(class(&difference)).or_default();
        *met += 1;
        if *met <= SHOWN {
            let (operations, difference) = pair.shrink(operations, difference).await;
            reports += &describe(seed, &operations, &difference);
        }
    }
    assert!(classes.is_empty(), "{summary}{classes:#?}\n{reports}");
}

/// Makes the custom kinds and waits until both servers serve them.
async fn define(pair: &Pair, kinds: &[Kind]) {
    let memory = Memory::new("default");
    for server in [&pair.real, &pair.embedded] {
        for definition in kinds::definitions() {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            let create = Operation::new("POST", path).with_json(&definition);
            let answer = server.send(&create, &memory).await;
            assert_eq!(answer.status, 201, "{}", answer.body);
        }
        for kind in kinds.iter().filter(|kind| kind.is_custom()) {
            for version in &kind.versions {
                let list = Operation::new("GET", kind.collection(version));
                let served = async {
                    while server.send(&list, &memory).await.status != 200 {
                        tokio::time::sleep(POLL).await;
                    }
                };
                tokio::time::timeout(PATIENCE, served).await.expect("it is served soon");
            }
        }
    }
}
