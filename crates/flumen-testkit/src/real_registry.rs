//! Registries of others, started for a test on a port of the loopback interface.

use std::{
    fmt::Write as _,
    fs,
    io::{self, BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use tempfile::TempDir;

use crate::{certificate::Certificate, outside::skip, process::PATIENCE, tools::tool};

/// Who may use a registry that asks for credentials.
pub const REGISTRY_USER: &str = "reader";
pub const REGISTRY_PASSWORD: &str = "correct horse";
/// The same two, as the registries want them.
const HTPASSWD: &str = "reader:$2a$04$vYpmkCj1lvA49i03e0HOo.mZiz32zOq1dnIue2RcSeAW91EBQfUsi\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistryKind {
    /// `registry` of distribution v3.
    Distribution,
    /// Debian's `docker-registry` 2.8, which knows no referrers.
    DockerRegistry,
}

impl RegistryKind {
    pub const ALL: [Self; 2] = [Self::Distribution, Self::DockerRegistry];

    fn program(self) -> &'static str {
        match self {
            Self::Distribution => "registry",
            Self::DockerRegistry => "docker-registry",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct RegistryOptions {
    /// Serve HTTPS; [`RealRegistry::authority`] is what clients must trust.
    pub tls: bool,
    /// Ask for [`REGISTRY_USER`] and [`REGISTRY_PASSWORD`].
    pub credentials: bool,
}

/// A running registry with data of its own; it ends when the value is dropped.
#[derive(Debug)]
pub struct RealRegistry {
    kind: RegistryKind,
    host: String,
    authority: Option<PathBuf>,
    child: Child,
    _scratch: TempDir,
}

impl RealRegistry {
    /// Starts one over plain HTTP for everyone.
    ///
    /// `None` when the machine has no such program; that is said as skipped.
    pub fn start(kind: RegistryKind) -> Option<Self> {
        Self::start_with(kind, RegistryOptions::default())
    }

    /// # Panics
    /// When the program is there but does not start: that is a broken fixture.
    pub fn start_with(kind: RegistryKind, options: RegistryOptions) -> Option<Self> {
        let name = kind.program();
        let Some(program) = tool(name) else {
            skip(&format!("tests against `{name}`"), "`cargo xtask tools` provides it");
            return None;
        };
        Some(
            Self::spawn(kind, &program, options)
                .unwrap_or_else(|error| panic!("cannot start `{name}`: {error}")),
        )
    }

    fn spawn(kind: RegistryKind, program: &Path, options: RegistryOptions) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("flumen-registry-").tempdir()?;
        let certificate =
            options.tls.then(|| Certificate::for_loopback(scratch.path())).transpose()?;
        let configuration = configuration(scratch.path(), certificate.as_ref(), options)?;
        let mut child = Command::new(program)
            .arg("serve")
            .arg(configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let host = match child.stderr.take().map(listening) {
            Some(address) => address.recv_timeout(PATIENCE).map_err(io::Error::other),
            None => Err(io::Error::other("its log cannot be read")),
        };
        let authority = certificate.map(|files| files.authority);
        // From here on dropping the value ends the program.
        let mut registry = Self { kind, host: String::new(), authority, child, _scratch: scratch };
        registry.host = host?;
        Ok(registry)
    }

    pub fn kind(&self) -> RegistryKind {
        self.kind
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The PEM file of the authority behind its certificate.
    pub fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }
}

impl Drop for RealRegistry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration(
    directory: &Path,
    certificate: Option<&Certificate>,
    options: RegistryOptions,
) -> io::Result<PathBuf> {
    let mut text = format!(
        "version: 0.1\n\
         log: {{level: info, accesslog: {{disabled: true}}}}\n\
         storage:\n\
         \x20 filesystem: {{rootdirectory: '{}'}}\n\
         \x20 delete: {{enabled: true}}\n\
         http:\n\
         \x20 addr: 127.0.0.1:0\n\
         \x20 secret: fixture\n",
        directory.join("data").display()
    );
    if let Some(Certificate { certificate, key, .. }) = certificate {
        let (certificate, key) = (certificate.display(), key.display());
        let _ = writeln!(text, "  tls: {{certificate: '{certificate}', key: '{key}'}}");
    }
    if options.credentials {
        let users = directory.join("htpasswd");
        fs::write(&users, HTPASSWD)?;
        let users = users.display();
        let _ = writeln!(text, "auth: {{htpasswd: {{realm: fixture, path: '{users}'}}}}");
    }
    let path = directory.join("config.yml");
    fs::write(&path, text)?;
    Ok(path)
}

/// Waits for the line of the log that names the address, and goes on reading so that a full pipe
/// never blocks the registry.
fn listening(log: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            if let Some(address) = address_in(&line) {
                let _ = sender.send(address.to_owned());
            }
        }
    });
    receiver
}

fn address_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("listening on ")?;
    rest.split(['"', ',', ' ']).next()
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn the_log_names_the_address() {
        let line = r#"level=info msg="listening on 127.0.0.1:4000, tls" go.version=go1.26.8"#;
        assert_eq!(address_in(line), Some("127.0.0.1:4000"));
        assert_eq!(address_in(r#"level=info msg="redis not configured""#), None);
    }

    #[test]
    fn registries_start_and_end_with_their_fixture() {
        for kind in RegistryKind::ALL {
            let options = RegistryOptions { tls: true, credentials: true };
            let Some(registry) = RealRegistry::start_with(kind, options) else { continue };
            let host = registry.host().to_owned();
            assert!(registry.authority().is_some_and(Path::is_file));
            TcpStream::connect(&host).expect("it listens");
            drop(registry);
            TcpStream::connect(&host).expect_err("it has ended");
        }
    }
}
