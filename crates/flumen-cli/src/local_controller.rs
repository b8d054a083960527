//! The controller beside a command, on a thread of its own.

use std::{
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use flumen_controller::Options;
use flumen_kube::{Client, ConnectOptions};
use tokio::sync::oneshot;

use crate::{
    error::{CommandError, Failure},
    runtime,
};

/// A controller that runs for as long as this lives.
pub(crate) struct LocalController {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    failed: oneshot::Receiver<Failure>,
}

impl LocalController {
    pub(crate) fn start(kubeconfig: &Path, options: Options) -> Result<Self, CommandError> {
        let (stop, stopped) = oneshot::channel();
        let (tell, failed) = oneshot::channel();
        let kubeconfig = kubeconfig.to_owned();
        // Its passes share a thread, so it needs no more than one.
        let runtime = runtime::one_thread()?;
        let thread = thread::spawn(move || {
            let work = async {
                let client = connect(kubeconfig).await?;
                let stop = async { drop(stopped.await) };
                let ended = flumen_controller::run(client, options, stop).await;
                ended.map_err(|error| Failure::new(error.to_string()))
            };
            if let Err(failure) = runtime.block_on(work) {
                let _ = tell.send(failure.within("running the controller"));
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread), failed })
    }

    /// Waits until it cannot go on.
    pub(crate) async fn failed(&mut self) -> CommandError {
        match (&mut self.failed).await {
            Ok(failure) => failure.into(),
            Err(_) => Failure::new("the controller has ended").into(),
        }
    }
}

async fn connect(kubeconfig: PathBuf) -> Result<Client, Failure> {
    let options = ConnectOptions { kubeconfig: Some(kubeconfig), ..ConnectOptions::default() };
    Client::connect(&options).await.map_err(|error| Failure::chain(&error))
}

impl Drop for LocalController {
    /// Ends it in order, which takes a moment: what it has to say is sent before.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
