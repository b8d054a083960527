//! The API server with its store and its controllers.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use flumen_apiserver::{
    Api, ApiOptions, AuthOptions, ClientAuthority, Server, ServerOptions, ServingCertificate,
    StateDir, StaticTokens,
};
use flumen_sim::{Controllers, Pace, Running, Settings};
use flumen_store::{Options as StoreOptions, Store};

use crate::Error;

/// How an API server runs. [`ApiServerOptions::in_memory`] is one that forgets everything.
#[derive(Debug)]
pub struct ApiServerOptions {
    /// The file of all objects; without one they live as long as the server.
    pub objects: Option<PathBuf>,
    /// The directory of certificates and keys.
    pub keys: Option<PathBuf>,
    pub address: SocketAddr,
    pub tls: bool,
    /// What clients are shown; without one, the server makes its own.
    pub certificate: Option<ServingCertificate>,
    pub tokens: StaticTokens,
    /// Whose certificates tell who a client is.
    pub client_authority: Option<ClientAuthority>,
    pub api: ApiOptions,
    pub controllers: Controllers,
    pub pace: Pace,
}

impl ApiServerOptions {
    /// On a free port of the loopback interface, with all controllers.
    pub fn in_memory(tokens: StaticTokens) -> Self {
        Self {
            objects: None,
            keys: None,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: true,
            certificate: None,
            tokens,
            client_authority: None,
            api: ApiOptions::default(),
            controllers: Controllers::All,
            pace: Pace::default(),
        }
    }
}

/// An API server that serves until it is shut down.
#[derive(Debug)]
pub struct ApiServer {
    api: Api,
    server: Server,
    controllers: Running,
    scheme: &'static str,
}

impl ApiServer {
    pub async fn start(options: ApiServerOptions) -> Result<Self, Error> {
        let store = match &options.objects {
            Some(path) => {
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory).map_err(|source| Error::Directory {
                        path: directory.to_owned(),
                        source,
                    })?;
                }
                Store::open(path, StoreOptions::default())?
            }
            None => Store::in_memory(StoreOptions::default()).map_err(Error::Memory)?,
        };
        let api = Api::open_with(store, options.api).await.map_err(Error::Boot)?;
        let server = Server::start(
            api.clone(),
            ServerOptions {
                address: options.address,
                tls: options.tls,
                certificate: options.certificate,
                auth: AuthOptions {
                    tokens: options.tokens,
                    client_authority: options.client_authority,
                },
                state: StateDir(options.keys),
            },
        )
        .await?;
        let settings = Settings {
            root_ca: server.ca().unwrap_or_default().to_owned(),
            pace: options.pace,
            ..Settings::default()
        };
        let controllers = flumen_sim::start(&api, options.controllers, &settings);
        let scheme = if options.tls { "https" } else { "http" };
        Ok(Self { api, server, controllers, scheme })
    }

    /// `https://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.server.address())
    }

    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The certificate that clients have to trust.
    pub fn ca(&self) -> Option<&str> {
        self.server.ca()
    }

    pub const fn api(&self) -> &Api {
        &self.api
    }

    /// Ends in the order in which nothing is asked of what has ended.
    pub async fn shutdown(self) {
        self.controllers.stop().await;
        self.server.shutdown().await;
        // Not left to the last handle: tasks that were told to end may have one for a while.
        self.api.close().await;
    }
}
