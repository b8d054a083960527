//! Copies between layouts, archives and registries.
#![allow(clippy::disallowed_methods, reason = "tests may touch the disk")]

mod graphs;
mod judges;
mod requests;
mod sample;

use flumen_oci::{
    Repository,
    client::{ClientOptions, Registry},
};
use flumen_testkit::{TestRegistry, for_each_registry};
use tokio::runtime::Runtime;

fn repository(host: &str, path: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    Repository::Remote(Registry::new(host, &options).expect("a client").repository(path))
}

/// Runs a test against one registry after the other.
#[expect(clippy::needless_pass_by_value, reason = "a test is written where it is handed over")]
fn with_each(test: impl AsyncFn(&TestRegistry)) {
    for_each_registry(|registry| {
        Runtime::new().expect("a runtime").block_on(test(registry));
    });
}
