//! A plain HTTP front of an API server that counts requests and makes them go wrong.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use tokio::net::TcpListener;

use super::{
    cluster::KubeCluster,
    faults::FaultPlan,
    front::Front,
    kubeconfig::{User, kubeconfig},
    request::KubeRequest,
};
use crate::{
    background::Background,
    process::{Outcome, run_until},
};

/// Forwards every request to a cluster; it ends when the value is dropped.
///
/// A request without credentials is made by somebody who may do everything. Those with a token keep it.
#[derive(Debug)]
pub struct KubeProxy {
    server: String,
    kubeconfig: PathBuf,
    front: Arc<Front>,
    _background: Background,
    _scratch: TempDir,
}

impl KubeProxy {
    /// # Panics
    /// When it does not start.
    pub fn start(cluster: &KubeCluster) -> Self {
        Self::try_start(cluster).expect("the proxy starts")
    }

    fn try_start(cluster: &KubeCluster) -> io::Result<Self> {
        let authority = cluster.authority().pem();
        let front = Front::new(cluster.server(), authority, cluster.administrator())?;
        let front = Arc::new(front);
        let background = Background::start()?;
        let listener =
            background.run(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))))??;
        let server = format!("http://{}", listener.local_addr()?);
        background.spawn(Arc::clone(&front).serve(listener));

        let scratch = tempfile::tempdir()?;
        let path = scratch.path().join("kubeconfig");
        fs::write(&path, kubeconfig(&server, None, &User::Nobody))?;
        Ok(Self { server, kubeconfig: path, front, _background: background, _scratch: scratch })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The file for somebody who may do everything.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// All requests that arrived since the start or the last [`Self::forget`].
    pub fn requests(&self) -> Vec<KubeRequest> {
        self.front.state().requests.clone()
    }

    pub fn count(&self, matching: impl Fn(&KubeRequest) -> bool) -> usize {
        self.front.state().requests.iter().filter(|request| matching(request)).count()
    }

    pub fn forget(&self) {
        self.front.state().requests.clear();
    }

    /// From now on some of the requests that match go wrong.
    pub fn inject(
        &self,
        plan: FaultPlan,
        matching: impl Fn(&KubeRequest) -> bool + Send + 'static,
    ) {
        self.front.state().inject(plan, Box::new(matching));
    }

    /// From now on nothing goes wrong.
    pub fn heal(&self) {
        self.front.state().heal();
    }

    /// Lets this many matching requests pass. The next one is neither forwarded nor answered, and no
    /// other request after it, until [`Self::release`] or [`Self::resume`].
    pub fn hold_after(
        &self,
        count: usize,
        matching: impl Fn(&KubeRequest) -> bool + Send + 'static,
    ) {
        self.front.state().hold_after(count, Box::new(matching));
    }

    /// Waits until a request is held; `false` when none was in this time.
    pub fn wait_for_hold(&self, patience: Duration) -> bool {
        self.front.wait_for_hold(patience)
    }

    /// Ends the connections of all requests that are held, and holds no more.
    pub fn release(&self) {
        self.front.state().release();
    }

    /// Forwards all requests that are held, and holds no more.
    pub fn resume(&self) {
        self.front.state().resume();
    }

    /// Runs a client and kills it when it makes one matching request more than `count`.
    ///
    /// That request has no effect. What the client prints is collected. The outcome is
    /// [`timed_out`](Outcome::timed_out) when it was killed; otherwise it never made that many.
    pub fn kill_after(
        &self,
        count: usize,
        matching: impl Fn(&KubeRequest) -> bool + Send + 'static,
        client: &mut Command,
    ) -> io::Result<Outcome> {
        self.hold_after(count, matching);
        let outcome = run_until(client, |pause| self.wait_for_hold(pause));
        self.release();
        outcome
    }
}
