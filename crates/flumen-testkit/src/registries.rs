//! Every registry that a test can run against: ours, and those of others that the machine has.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    thread,
};

use flumen_registry::{Options, Server};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::real_registry::{RealRegistry, RegistryKind};

/// Runs a test against one fresh registry after the other and says which one it failed on.
///
/// # Panics
/// When a registry does not start, or the test panics.
pub fn for_each_registry(test: impl Fn(&TestRegistry)) {
    let real = RegistryKind::ALL.into_iter().filter_map(RealRegistry::start);
    let embedded = TestRegistry::Embedded(EmbeddedRegistry::start());
    for registry in [embedded].into_iter().chain(real.map(TestRegistry::Real)) {
        let name = NameOnPanic(registry.name());
        test(&registry);
        drop(name);
    }
}

/// A registry of whatever make.
#[derive(Debug)]
pub enum TestRegistry {
    Embedded(EmbeddedRegistry),
    Real(RealRegistry),
}

impl TestRegistry {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Embedded(_) => "the embedded registry",
            Self::Real(registry) => match registry.kind() {
                RegistryKind::Distribution => "distribution",
                RegistryKind::DockerRegistry => "docker-registry",
            },
        }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        match self {
            Self::Embedded(registry) => registry.host(),
            Self::Real(registry) => registry.host(),
        }
    }
}

/// Our registry on a free port, over plain HTTP for everyone, with data of its own.
///
/// It runs on threads of its own, so that tests with and without a runtime can use it.
#[derive(Debug)]
pub struct EmbeddedRegistry {
    host: String,
    running: Option<(Runtime, Server)>,
    _scratch: TempDir,
}

impl EmbeddedRegistry {
    /// # Panics
    /// When it does not start.
    pub fn start() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let (runtime, server, address) = start(Options::new(scratch.path()));
        Self { host: address.to_string(), running: Some((runtime, server)), _scratch: scratch }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl Drop for EmbeddedRegistry {
    fn drop(&mut self) {
        if let Some((runtime, server)) = self.running.take() {
            drop(server);
            // Waiting is not allowed where a test has a runtime of its own.
            runtime.shutdown_background();
        }
    }
}

/// On a thread of its own, because a test may be inside of a runtime, which cannot wait for another.
fn start(options: Options) -> (Runtime, Server, SocketAddr) {
    let starting = thread::spawn(move || {
        let runtime =
            Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let server = runtime.block_on(Server::start(options)).expect("the registry starts");
        let address = server.address();
        (runtime, server, address)
    });
    starting.join().expect("the registry starts")
}

struct NameOnPanic(&'static str);

impl Drop for NameOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = writeln!(io::stderr().lock(), "failed against {}", self.0);
        }
    }
}
