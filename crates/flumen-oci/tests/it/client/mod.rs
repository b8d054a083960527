//! The registry client: with real registries where they behave, with a server of our own where they
//! do not.

mod authentication;
mod downloads;
mod limits;
mod redirects;
mod registries;
mod retries;
mod tls;
mod uploads;

use std::time::Duration;

use flumen_oci::{
    Repository,
    client::{ClientOptions, Registry, RemoteRepository, Timeouts},
};

/// Plain HTTP for everyone.
fn options() -> ClientOptions {
    ClientOptions { insecure: true, ..ClientOptions::default() }
}

/// The same without patience, for servers that say nothing.
fn impatient() -> ClientOptions {
    let timeouts = Timeouts { idle: Duration::from_millis(200), ..Timeouts::default() };
    ClientOptions { timeouts, ..options() }
}

fn remote(host: &str, options: &ClientOptions) -> RemoteRepository {
    Registry::new(host, options).expect("a client").repository("org/app")
}

fn repository(host: &str, options: &ClientOptions) -> Repository {
    Repository::Remote(remote(host, options))
}
