//! Several components of an install, in the order of their dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};

use super::{Ended, Outcome, Status};
use crate::graph::{Direction, Graph};

/// So many components are deployed side by side.
const PARALLEL: usize = 8;

/// Runs `one` for every selected component, each as soon as those before it are done.
///
/// What depends on a component that failed, or that waits for an approval, is not begun; after a
/// denial nothing is. Those have an outcome too.
pub async fn run_all<'a, E, F>(
    graph: &'a Graph,
    direction: Direction,
    selected: &BTreeSet<String>,
    one: impl Fn(&'a str) -> F,
) -> BTreeMap<String, Outcome<E>>
where
    F: Future<Output = Outcome<E>>,
{
    let mut walk = graph.walk(direction, selected);
    let mut outcomes = BTreeMap::new();
    let mut ready: Vec<&str> = walk.ready();
    let mut running = FuturesUnordered::new();
    let mut denied = None;
    loop {
        if denied.is_none() {
            let room = PARALLEL.saturating_sub(running.len()).min(ready.len());
            running.extend(ready.drain(..room).map(|name| {
                let deploy = one(name);
                async move { (name, deploy.await) }
            }));
        }
        let Some((name, outcome)) = running.next().await else { break };
        match outcome.ended {
            Ended::Well => {
                walk.succeed(name);
                ready.extend(walk.ready());
            }
            Ended::Denied => denied = denied.or(Some(name)),
            _ => {
                let blocked = walk.fail(name).into_iter();
                outcomes.extend(blocked.map(|behind| (behind.to_owned(), Outcome::blocked(name))));
            }
        }
        outcomes.insert(name.to_owned(), outcome);
    }
    if let Some(by) = denied {
        for name in selected {
            outcomes.entry(name.clone()).or_insert_with(|| Outcome::blocked(by));
        }
    }
    outcomes
}

impl<E> Outcome<E> {
    fn blocked(by: &str) -> Self {
        let ended = Ended::Blocked { by: by.to_owned() };
        Self { status: Status::Cancelled, artifact: None, ended }
    }
}
