//! etcd, an API server and, where a test wants them, the controllers.

use std::{
    fmt, fs,
    hash::{BuildHasher as _, RandomState},
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use reqwest::Method;
use tempfile::TempDir;

use super::{
    admin::Admin,
    guarded::Guarded,
    kubeconfig::{User, kubeconfig},
};
use crate::{
    certificate::{Authority, Certificate, Identity},
    kube_programs::kube_program,
    outside::skip,
    process::{Outcome, run},
};

/// A cluster starts within seconds; this only ends the ones that hang.
const PATIENCE: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(25);
/// Another program can take a port between our choice and its use.
const ATTEMPTS: usize = 3;
/// Below what systems give to outgoing connections, so that no client takes the port of a server
/// that is being restarted.
const PORTS: std::ops::Range<u16> = 12_000..30_000;

/// What tokens of service accounts are checked and signed with, in the directory of the cluster.
const ACCOUNT_CERTIFICATE: &str = "service-accounts.pem";
const ACCOUNT_KEY: &str = "service-accounts-key.pem";

/// A running cluster with data of its own; it ends when the value is dropped, or with the process.
pub struct KubeCluster {
    server: String,
    authority: Authority,
    administrator: Identity,
    admin: Admin,
    kubectl: PathBuf,
    namespaces: AtomicUsize,
    // In the order in which they are ended.
    controllers: Option<Guarded>,
    apiserver: Mutex<Guarded>,
    apiserver_program: PathBuf,
    apiserver_arguments: Vec<String>,
    etcd: Mutex<Guarded>,
    scratch: TempDir,
}

impl KubeCluster {
    /// Starts a cluster in which nobody acts but the test: no controllers, so the test can play them.
    ///
    /// Pods need no service account, because nobody makes the one that they would use. The cluster
    /// roles `view`, `edit` and `admin` are empty, because nobody gathers their rules.
    /// `None` when the machine has no such programs; that is said as skipped.
    ///
    /// # Panics
    /// When the programs are there but do not start: that is a broken fixture.
    pub fn start() -> Option<Self> {
        Self::start_if_there(false)
    }

    /// Starts a cluster with the controllers of Kubernetes. See [`Self::start`].
    ///
    /// # Panics
    /// When the programs are there but do not start.
    pub fn start_with_controllers() -> Option<Self> {
        Self::start_if_there(true)
    }

    /// The cluster without controllers that all tests of a binary share.
    ///
    /// # Panics
    /// When the programs are there but do not start.
    pub fn shared() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<KubeCluster>> = OnceLock::new();
        CLUSTER.get_or_init(Self::start).as_ref()
    }

    /// The cluster with controllers that all tests of a binary share.
    ///
    /// # Panics
    /// When the programs are there but do not start.
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
        self.scratch.path().join("admin.kubeconfig")
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
        let name = format!("test-{}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        let namespace =
            format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}"#);
        let (status, answer) = self
            .admin
            .request(Method::POST, "/api/v1/namespaces", namespace)
            .expect("the API server answers");
        assert_eq!(status, 201, "{answer}");
        if self.controllers.is_some() {
            self.wait_for_account(&name).expect("the controllers work");
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
        run(&self.kubectl, &arguments, self.scratch.path(), PATIENCE).expect("`kubectl` starts")
    }

    /// Kills the API server and starts it again on the same port; returns when it is ready.
    ///
    /// # Panics
    /// When it does not come back.
    pub fn restart_apiserver(&self) {
        let mut apiserver = self.apiserver.lock().unwrap_or_else(PoisonError::into_inner);
        apiserver.end();
        *apiserver =
            Guarded::start(&self.apiserver_program, &self.apiserver_arguments, self.scratch.path())
                .expect("the API server starts");
        self.wait_until_ready(&mut apiserver).expect("the API server comes back");
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(super) fn administrator(&self) -> &Identity {
        &self.administrator
    }

    fn start_if_there(controllers: bool) -> Option<Self> {
        let names = ["etcd", "kube-apiserver", "kubectl"];
        let names = names.into_iter().chain(controllers.then_some("kube-controller-manager"));
        for name in names {
            if kube_program(name).is_none() {
                let what = format!("tests that need `{name}` of a real Kubernetes");
                skip(&what, "`cargo xtask kube` provides it");
                return None;
            }
        }
        let mut attempts = 1;
        loop {
            match Self::try_start(controllers) {
                Ok(cluster) => return Some(cluster),
                Err(_) if attempts < ATTEMPTS => attempts += 1,
                Err(error) => panic!("cannot start a Kubernetes: {error}"),
            }
        }
    }

    fn try_start(controllers: bool) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("flumen-kube-").tempdir()?;
        let authority = Authority::new()?;
        let files = authority.certify_loopback(scratch.path())?;
        let accounts = authority.certify_user("service-accounts", None)?;
        fs::write(scratch.path().join(ACCOUNT_CERTIFICATE), accounts.certificate)?;
        fs::write(scratch.path().join(ACCOUNT_KEY), accounts.key)?;

        let store = format!("http://127.0.0.1:{}", free_port()?);
        let etcd = Guarded::start(&program("etcd")?, &etcd_arguments(&store), scratch.path())?;
        let port = free_port()?;
        let mut apiserver_arguments = apiserver_arguments(port, &store, &files);
        if !controllers {
            apiserver_arguments.push("--disable-admission-plugins=ServiceAccount".to_owned());
        }
        let apiserver_program = program("kube-apiserver")?;
        let apiserver = Guarded::start(&apiserver_program, &apiserver_arguments, scratch.path())?;

        let server = format!("https://127.0.0.1:{port}");
        let administrator = authority.certify_user("admin", Some("system:masters"))?;
        let mut cluster = Self {
            admin: Admin::new(&server, authority.pem(), &administrator)?,
            server,
            authority,
            administrator,
            kubectl: program("kubectl")?,
            namespaces: AtomicUsize::new(1),
            controllers: None,
            apiserver: Mutex::new(apiserver),
            apiserver_program,
            apiserver_arguments,
            etcd: Mutex::new(etcd),
            scratch,
        };
        cluster.write_kubeconfig("admin", &User::Certificate(&cluster.administrator))?;
        {
            let mut apiserver = cluster.apiserver.lock().unwrap_or_else(PoisonError::into_inner);
            cluster.wait_until_ready(&mut apiserver)?;
        }
        if controllers {
            let arguments = controller_arguments(&cluster.kubeconfig(), &files.authority);
            let program = program("kube-controller-manager")?;
            cluster.controllers =
                Some(Guarded::start(&program, &arguments, cluster.scratch.path())?);
            cluster.wait_for_account("default")?;
        }
        Ok(cluster)
    }

    fn write_kubeconfig(&self, name: &str, user: &User<'_>) -> io::Result<PathBuf> {
        let path = self.scratch.path().join(format!("{name}.kubeconfig"));
        fs::write(&path, kubeconfig(&self.server, Some(self.authority.pem()), user))?;
        Ok(path)
    }

    fn wait_until_ready(&self, apiserver: &mut Guarded) -> io::Result<()> {
        let begin = Instant::now();
        while !self.answers("/readyz") {
            apiserver.check()?;
            self.etcd.lock().unwrap_or_else(PoisonError::into_inner).check()?;
            if begin.elapsed() > PATIENCE {
                let log = apiserver.last_words();
                return Err(io::Error::other(format!("it does not get ready:\n{log}")));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Pods of a namespace are refused before the controllers have made its account.
    fn wait_for_account(&self, namespace: &str) -> io::Result<()> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
        let begin = Instant::now();
        while !self.answers(&path) {
            if begin.elapsed() > PATIENCE {
                let log = self.controllers.as_ref().map(Guarded::last_words).unwrap_or_default();
                return Err(io::Error::other(format!("no service account was made:\n{log}")));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn answers(&self, path: &str) -> bool {
        let answer = self.admin.request(Method::GET, path, String::new());
        matches!(answer, Ok((200, _)))
    }
}

impl fmt::Debug for KubeCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeCluster").field("server", &self.server).finish_non_exhaustive()
    }
}

fn program(name: &str) -> io::Result<PathBuf> {
    kube_program(name).ok_or_else(|| io::Error::other(format!("`{name}` is not there any more")))
}

fn etcd_arguments(store: &str) -> Vec<String> {
    vec![
        "--data-dir=etcd".to_owned(),
        format!("--listen-client-urls={store}"),
        format!("--advertise-client-urls={store}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        "--log-level=warn".to_owned(),
        // The data need not outlive the machine.
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn apiserver_arguments(port: u16, store: &str, files: &Certificate) -> Vec<String> {
    vec![
        format!("--etcd-servers={store}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", files.certificate.display()),
        format!("--tls-private-key-file={}", files.key.display()),
        format!("--client-ca-file={}", files.authority.display()),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={ACCOUNT_CERTIFICATE}"),
        format!("--service-account-signing-key-file={ACCOUNT_KEY}"),
        "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        "--event-ttl=10m".to_owned(),
        "--profiling=false".to_owned(),
        // It would refuse an address of the loopback interface.
        "--endpoint-reconciler-type=none".to_owned(),
    ]
}

fn controller_arguments(kubeconfig: &Path, authority: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--root-ca-file={}", authority.display()),
        format!("--service-account-private-key-file={ACCOUNT_KEY}"),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
    ]
}

/// A port that nobody listens on.
fn free_port() -> io::Result<u16> {
    let random = RandomState::new();
    let free = (0..PORTS.len()).find_map(|attempt| {
        let choice = random.hash_one(attempt) % u64::try_from(PORTS.len()).ok()?;
        let port = PORTS.start + u16::try_from(choice).ok()?;
        TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
    });
    free.ok_or_else(|| io::Error::other("there is no free port"))
}
