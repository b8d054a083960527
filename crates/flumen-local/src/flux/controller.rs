//! The controller beside a command, on a thread of its own.

use std::{
    path::PathBuf,
    thread::{self, JoinHandle},
};

use flumen_controller::Options;
use flumen_kube::{Client, ConnectOptions};
use tokio::{runtime::Builder, sync::oneshot};

use super::Bootstrap;
use crate::{DeliveryError, Home};

/// A controller that runs until this is dropped.
#[derive(Debug)]
pub struct LocalController {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    failed: oneshot::Receiver<DeliveryError>,
}

impl LocalController {
    /// Starts a controller on the cluster of a directory.
    pub fn start(home: &Home, bootstrap: &Bootstrap) -> Result<Self, DeliveryError> {
        let (stop, stopped) = oneshot::channel();
        let (tell, failed) = oneshot::channel();
        let kubeconfig = home.kubeconfig();
        let mut options = Options::default();
        options.source.storage = home.artifacts();
        options.source.local_sources.clone_from(&bootstrap.sources);
        // Its reconciliations share a thread, so one is enough.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(DeliveryError::Runtime)?;
        let thread = thread::spawn(move || {
            let work = async {
                let client = connect(kubeconfig).await?;
                let stop = async { drop(stopped.await) };
                let ended = flumen_controller::run(client, options, stop).await;
                ended.map_err(DeliveryError::Controller)
            };
            if let Err(error) = runtime.block_on(work) {
                let _ = tell.send(error);
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread), failed })
    }

    /// Waits until the controller fails.
    pub async fn failed(&mut self) -> DeliveryError {
        (&mut self.failed).await.unwrap_or(DeliveryError::ControllerStopped)
    }
}

async fn connect(kubeconfig: PathBuf) -> Result<Client, DeliveryError> {
    let options = ConnectOptions { kubeconfig: Some(kubeconfig), ..ConnectOptions::default() };
    Client::connect(&options).await.map_err(DeliveryError::ControllerClient)
}

impl Drop for LocalController {
    /// Shuts down gracefully, which takes a moment: pending events are sent first.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
