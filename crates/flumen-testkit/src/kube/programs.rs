//! The programs of a real cluster and how they are told of each other.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::guarded::Guarded;
use crate::{
    certificate::{Authority, Certificate},
    kube_programs::kube_program,
    port::free_port,
};

const ETCD: &str = "etcd";
const APISERVER: &str = "kube-apiserver";
const CONTROLLERS: &str = "kube-controller-manager";

/// What tokens of service accounts are checked and signed with, in the directory of the cluster.
const ACCOUNT_CERTIFICATE: &str = "service-accounts.pem";
const ACCOUNT_KEY: &str = "service-accounts-key.pem";

/// The running programs, in the order in which they are ended.
#[derive(Debug)]
pub(super) struct Programs {
    controllers: Option<Guarded>,
    apiserver: Guarded,
    etcd: Guarded,
    port: u16,
    scratch: PathBuf,
    authority: PathBuf,
}

impl Programs {
    /// The names of what has to be there.
    pub(super) fn names(controllers: bool) -> impl Iterator<Item = &'static str> {
        [ETCD, APISERVER].into_iter().chain(controllers.then_some(CONTROLLERS))
    }

    /// Starts a store and an API server that is ready for the controllers, if there will be any.
    pub(super) fn start(
        scratch: &Path,
        authority: &Authority,
        controllers: bool,
    ) -> io::Result<Self> {
        let files = authority.certify_loopback(scratch)?;
        let accounts = authority.certify_user("service-accounts", None)?;
        fs::write(scratch.join(ACCOUNT_CERTIFICATE), accounts.certificate)?;
        fs::write(scratch.join(ACCOUNT_KEY), accounts.key)?;

        let store = format!("http://127.0.0.1:{}", free_port()?);
        let etcd = Guarded::start(program(ETCD)?, etcd_arguments(&store), scratch)?;
        let port = free_port()?;
        let mut arguments = apiserver_arguments(port, &store, &files);
        if !controllers {
            // It waits for accounts that the controllers make.
            arguments.push("--disable-admission-plugins=ServiceAccount".to_owned());
        }
        let apiserver = Guarded::start(program(APISERVER)?, arguments, scratch)?;
        let (scratch, authority) = (scratch.to_owned(), files.authority);
        Ok(Self { controllers: None, apiserver, etcd, port, scratch, authority })
    }

    /// Starts the controllers, which act with the rights of a kubeconfig.
    pub(super) fn start_controllers(&mut self, kubeconfig: &Path) -> io::Result<()> {
        let arguments = vec![
            format!("--kubeconfig={}", kubeconfig.display()),
            format!("--root-ca-file={}", self.authority.display()),
            format!("--service-account-private-key-file={ACCOUNT_KEY}"),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
        ];
        let controllers = Guarded::start(program(CONTROLLERS)?, arguments, &self.scratch)?;
        self.controllers = Some(controllers);
        Ok(())
    }

    pub(super) fn has_controllers(&self) -> bool {
        self.controllers.is_some()
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn restart_apiserver(&mut self) -> io::Result<()> {
        self.apiserver.restart()
    }

    /// An error when one of them is no longer running.
    pub(super) fn check(&mut self) -> io::Result<()> {
        let all = [&mut self.etcd, &mut self.apiserver].into_iter();
        all.chain(&mut self.controllers).try_for_each(Guarded::check)
    }

    /// The ends of their logs.
    pub(super) fn last_words(&self) -> String {
        let all = [&self.etcd, &self.apiserver].into_iter().chain(&self.controllers);
        all.map(Guarded::last_words).collect::<Vec<_>>().join("\n")
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
