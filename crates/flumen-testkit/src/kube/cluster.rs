//! An API server with objects of its own and, where a test wants them, controllers.

use std::{
    fmt,
    io::{self, ErrorKind, Write as _},
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use reqwest::Method;
use tempfile::{NamedTempFile, TempDir};

#[cfg(feature = "embedded")]
use super::choice::chosen;
use super::{
    admin::Admin,
    kubeconfig::{User, kubeconfig},
    servers::{ServerKind, Servers},
};
use crate::{
    certificate::{Authority, Identity},
    kube_programs::{kube_program, named_kube_programs},
    outside::{retry, skip},
    process::{Outcome, PATIENCE, run},
};

const POLL: Duration = Duration::from_millis(25);
const READY: &str = "/readyz";
const KUBECTL: &str = "kubectl";
const ADMINISTRATOR: &str = "admin";
/// Another program can take a port between our choice and its use. Each further attempt is reported.
const ATTEMPTS: usize = 3;

/// A running cluster with data of its own; it ends when the value is dropped, or with the process.
pub struct KubeCluster {
    server: String,
    authority: Authority,
    administrator: Identity,
    admin: Admin,
    namespaces: AtomicUsize,
    // They end before their directory does.
    servers: Mutex<Servers>,
    scratch: TempDir,
}

impl KubeCluster {
    /// Starts a cluster in which nobody acts but the test: no controllers, so the test can play them.
    ///
    /// The environment says whose it is, see [`TEST_SERVER_VARIABLE`](crate::TEST_SERVER_VARIABLE).
    /// Pods need no service account, because nobody makes the one that they would use. The cluster
    /// roles `view`, `edit` and `admin` are empty, because nobody gathers their rules.
    /// `None` when the machine has no such programs; that is said as skipped.
    ///
    /// # Panics
    /// When the programs are there but do not start: that is a broken fixture.
    #[cfg(feature = "embedded")]
    pub fn start() -> Option<Self> {
        Self::start_if_there(chosen(), false)
    }

    /// Starts a cluster with controllers. See [`Self::start`].
    ///
    /// # Panics
    /// When the programs are there but do not start.
    #[cfg(feature = "embedded")]
    pub fn start_with_controllers() -> Option<Self> {
        Self::start_if_there(chosen(), true)
    }

    /// Starts a real cluster without controllers, whatever the environment says.
    ///
    /// # Panics
    /// When the programs are there but do not start.
    pub fn start_real() -> Option<Self> {
        Self::start_if_there(ServerKind::Real, false)
    }

    /// The real cluster without controllers that all tests of a binary share, whatever the
    /// environment says: for tests that compare with it.
    ///
    /// # Panics
    /// When the programs are there but do not start.
    pub fn shared_real() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<KubeCluster>> = OnceLock::new();
        CLUSTER.get_or_init(Self::start_real).as_ref()
    }

    /// The cluster without controllers that all tests of a binary share.
    ///
    /// # Panics
    /// When the programs are there but do not start.
    #[cfg(feature = "embedded")]
    pub fn shared() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<KubeCluster>> = OnceLock::new();
        CLUSTER.get_or_init(Self::start).as_ref()
    }

    /// The cluster with controllers that all tests of a binary share.
    ///
    /// # Panics
    /// When the programs are there but do not start.
    #[cfg(feature = "embedded")]
    pub fn shared_with_controllers() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<KubeCluster>> = OnceLock::new();
        CLUSTER.get_or_init(Self::start_with_controllers).as_ref()
    }

    /// `https://127.0.0.1:PORT`.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The file for somebody who may do everything.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig_of(ADMINISTRATOR)
    }

    /// A file for a user of this name, by certificate. It has no rights but those that a test gives it.
    ///
    /// # Panics
    /// When the file cannot be made.
    pub fn user_kubeconfig(&self, name: &str) -> PathBuf {
        let user = self.authority.certify_user(name, None).expect("a certificate");
        self.write_kubeconfig(&format!("user-{name}"), &User::Certificate(&user))
            .expect("a kubeconfig")
    }

    /// A file for a service account that exists, by token.
    ///
    /// # Panics
    /// When there is no such account.
    pub fn service_account_kubeconfig(&self, namespace: &str, name: &str) -> PathBuf {
        let made = self.kubectl(&["create", "token", "--namespace", namespace, name]);
        assert!(made.succeeded(), "no token for {namespace}/{name}: {}", made.stderr);
        let token = String::from_utf8_lossy(&made.stdout);
        self.write_kubeconfig(&format!("account-{namespace}-{name}"), &User::Token(token.trim()))
            .expect("a kubeconfig")
    }

    /// Makes a namespace that no other test has.
    ///
    /// # Panics
    /// When the API server does not make it.
    pub fn fresh_namespace(&self) -> String {
        // Lists over several namespaces are in the order of names, here that of creation.
        let name = format!("test-{:03}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        let namespace =
            format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}"#);
        let (status, answer) = self
            .admin
            .request(Method::POST, "/api/v1/namespaces", namespace)
            .expect("the API server answers");
        assert_eq!(status, 201, "{answer}");
        let mut servers = self.servers();
        if servers.has_controllers() {
            self.wait_for(&account(&name), &mut servers).expect("the controllers work");
        }
        name
    }

    /// Runs the `kubectl` of the same version, as somebody who may do everything.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn kubectl(&self, arguments: &[&str]) -> Outcome {
        let file = format!("--kubeconfig={}", self.kubeconfig().display());
        let arguments: Vec<&str> = [&*file].into_iter().chain(arguments.iter().copied()).collect();
        let program = kube_program(KUBECTL).expect("it was there at the start");
        run(&program, &arguments, self.scratch.path(), PATIENCE).expect("`kubectl` starts")
    }

    /// Kills the API server and starts it again on the same port; returns when it is ready.
    ///
    /// # Panics
    /// When it does not come back.
    pub fn restart_apiserver(&self) {
        let mut servers = self.servers();
        servers.restart_apiserver().expect("the API server starts");
        self.wait_for(READY, &mut servers).expect("the API server comes back");
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(super) fn administrator(&self) -> &Identity {
        &self.administrator
    }

    fn start_if_there(kind: ServerKind, controllers: bool) -> Option<Self> {
        let mut names = kind.programs(controllers).into_iter().chain([KUBECTL]);
        if let Some(name) = names.find(|name| kube_program(name).is_none()) {
            let why = match named_kube_programs() {
                Some(_) => "it is not in the directory that the environment names",
                None => "`cargo xtask kube` provides it",
            };
            skip(&format!("tests that need `{name}` of a real Kubernetes"), why);
            return None;
        }
        let mut attempts = 1;
        loop {
            match Self::try_start(kind, controllers) {
                Ok(cluster) => return Some(cluster),
                Err(error) if attempts == ATTEMPTS || error.kind() == ErrorKind::TimedOut => {
                    panic!("cannot start a Kubernetes: {error}")
                }
                Err(error) => {
                    retry("start of a Kubernetes for tests", &error.to_string());
                    attempts += 1;
                }
            }
        }
    }

    fn try_start(kind: ServerKind, controllers: bool) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("flumen-kube-").tempdir()?;
        let authority = Authority::new()?;
        let servers = Servers::start(kind, scratch.path(), &authority, controllers)?;
        let server = servers.address();
        let administrator = authority.certify_user(ADMINISTRATOR, Some("system:masters"))?;
        let cluster = Self {
            admin: Admin::new(&server, authority.pem(), &administrator)?,
            server,
            authority,
            administrator,
            namespaces: AtomicUsize::new(1),
            servers: Mutex::new(servers),
            scratch,
        };
        let file =
            cluster.write_kubeconfig(ADMINISTRATOR, &User::Certificate(&cluster.administrator))?;
        let mut servers = cluster.servers();
        cluster.wait_for(READY, &mut servers)?;
        if controllers {
            servers.start_controllers(&file)?;
            cluster.wait_for(&account("default"), &mut servers)?;
        }
        drop(servers);
        Ok(cluster)
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock()
    }

    fn write_kubeconfig(&self, name: &str, user: &User<'_>) -> io::Result<PathBuf> {
        let path = self.kubeconfig_of(name);
        // Two tests may ask for the same user, and neither may read half of a file.
        let mut file = NamedTempFile::new_in(self.scratch.path())?;
        file.write_all(kubeconfig(&self.server, Some(self.authority.pem()), user).as_bytes())?;
        file.persist(&path)?;
        Ok(path)
    }

    fn kubeconfig_of(&self, name: &str) -> PathBuf {
        self.scratch.path().join(format!("{name}.kubeconfig"))
    }

    /// Waits until a path is answered.
    fn wait_for(&self, path: &str, servers: &mut Servers) -> io::Result<()> {
        let begin = Instant::now();
        while !matches!(self.admin.request(Method::GET, path, String::new()), Ok((200, _))) {
            servers.check()?;
            if begin.elapsed() > PATIENCE {
                let why = format!("no answer to {path}:\n{}", servers.last_words());
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

/// What the controllers make in every namespace; pods are refused before.
fn account(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/serviceaccounts/default")
}

impl fmt::Debug for KubeCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeCluster").field("server", &self.server).finish_non_exhaustive()
    }
}
