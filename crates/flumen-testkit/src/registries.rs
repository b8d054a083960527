//! Every registry that a test can run against: ours, and those of others that the machine has.

use std::{
    io::{self, Write as _},
    thread,
};

use flumen_registry::{Options, Server};
use tempfile::TempDir;

use crate::{
    background::Background,
    real_registry::{RealRegistry, RegistryKind},
};

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
#[derive(Debug)]
pub struct EmbeddedRegistry {
    host: String,
    // In the order in which they are ended.
    _server: Server,
    _background: Background,
    _scratch: TempDir,
}

impl EmbeddedRegistry {
    /// # Panics
    /// When it does not start.
    pub fn start() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let background = Background::start().expect("a runtime");
        let server = background.run(Server::start(Options::new(scratch.path())));
        let server = server.expect("the registry is heard of").expect("the registry starts");
        let host = server.address().to_string();
        Self { host, _server: server, _background: background, _scratch: scratch }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        &self.host
    }
}

struct NameOnPanic(&'static str);

impl Drop for NameOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = writeln!(io::stderr().lock(), "failed against {}", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn ours_starts_and_ends_also_inside_of_a_runtime() {
        let registry = EmbeddedRegistry::start();
        TcpStream::connect(registry.host()).expect("it listens");
        drop(registry);
    }
}
