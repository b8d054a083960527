//! Measures a store: commits per second, watches, opening, and memory.
//!
//! `cargo run --release -p flumen-store --example load -- DIRECTORY [COUNT] [BYTES]`
//!
//! Every writer replaces entries of its own, each only if nobody else did meanwhile, as an API
//! server does. The directory should be on the disk in question; its file is left there.

#![allow(clippy::disallowed_methods, reason = "measures time and memory")]

use std::{
    env,
    error::Error,
    fs,
    io::{Write as _, stdout},
    path::Path,
    time::Instant,
};

use flumen_store::{Condition, Options, Store, Transaction};
use tokio::task::JoinSet;

const WRITERS: [usize; 3] = [1, 16, 50];
const WATCHES: usize = 100;
const CHANGES: usize = 1000;

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let directory = arguments.next().ok_or("a directory is missing")?;
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (count, size) = (number(10_000)?, number(2048)?);
    let path = Path::new(&directory).join("load.store");

    let store = Store::open(&path, Options::default())?;
    for writers in WRITERS {
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for writer in 0..writers {
            tasks.spawn(write(store.clone(), (writer..count).step_by(writers), size));
        }
        while let Some(result) = tasks.join_next().await {
            result??;
        }
        let seconds = start.elapsed().as_secs_f64();
        let rate = f64::from(u32::try_from(count)?) / seconds;
        writeln!(stdout(), "{writers} writers: {rate:.0} commits/s")?;
    }
    let seconds = fan_out(&store, size).await?;
    writeln!(stdout(), "{WATCHES} watches of {CHANGES} changes: {:.0} ms", seconds * 1000.0)?;
    drop(store);

    let start = Instant::now();
    let store = Store::open(&path, Options::default())?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let resident = resident().unwrap_or_else(|| "unknown".to_owned());
    writeln!(stdout(), "{count} entries: opened in {milliseconds:.1} ms, {resident} resident")?;
    drop(store);
    Ok(())
}

async fn write(
    store: Store,
    numbers: impl Iterator<Item = usize>,
    size: usize,
) -> Result<(), Failure> {
    for number in numbers {
        let key = format!("/registry/configmaps/default/load-{number:08}");
        let condition =
            store.get(&key).map_or(Condition::Absent, |entry| Condition::At(entry.revision));
        let value = vec![b'v'; size];
        store.commit(Transaction::new().require(&key, condition).put(&key, value)).await?;
    }
    Ok(())
}

/// The seconds until all watches have seen all changes.
async fn fan_out(store: &Store, size: usize) -> Result<f64, Failure> {
    let mut tasks = JoinSet::new();
    for _ in 0..WATCHES {
        let mut watch = store.watch("/registry/", store.revision())?;
        tasks.spawn(async move {
            for _ in 0..CHANGES {
                watch.next().await?;
            }
            Ok(())
        });
    }
    let start = Instant::now();
    for writer in 0..16 {
        tasks.spawn(write(store.clone(), (writer..CHANGES).step_by(16), size));
    }
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// The memory of this process, on systems that tell.
fn resident() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().to_owned())
}
