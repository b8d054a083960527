//! Copies between layouts, archives and registries.

mod graphs;
mod judges;
mod sample;

use flumen_oci::{
    Repository,
    client::{ClientOptions, Registry},
};

fn repository(host: &str, path: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    Repository::Remote(Registry::new(host, &options).expect("a client").repository(path))
}
