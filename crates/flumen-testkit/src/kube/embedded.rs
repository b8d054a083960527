//! Our own API server, on threads of the test process.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use flumen_apiserver::{ApiOptions, ClientAuthority, ServingCertificate, StaticTokens};
use flumen_local::{ApiServer, ApiServerOptions};
use flumen_sim::{Controllers, Pace};

use super::sweeper::Sweeper;
use crate::{background::Background, certificate::Authority, port::free_port};

/// Longer than any test: as in a real cluster without nodes, pods are there and nothing runs in them.
const NEVER: Duration = Duration::from_hours(24);

/// An API server with its controllers; it ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Embedded {
    server: Option<ApiServer>,
    recipe: Recipe,
    background: Background,
    _sweeper: Sweeper,
}

/// What makes a restarted server the same server.
#[derive(Debug, Clone)]
struct Recipe {
    directory: PathBuf,
    port: u16,
    certificate: ServingCertificate,
    client_authority: ClientAuthority,
    controllers: bool,
}

impl Embedded {
    pub(super) fn start(
        scratch: &Path,
        authority: &Authority,
        controllers: bool,
    ) -> io::Result<Self> {
        let files = authority.certify_loopback(scratch)?;
        let recipe = Recipe {
            directory: scratch.to_owned(),
            port: free_port()?,
            certificate: ServingCertificate::from_pem(
                &(fs::read_to_string(files.certificate)? + authority.pem()),
                &fs::read_to_string(files.key)?,
            )
            .map_err(io::Error::other)?,
            client_authority: ClientAuthority::from_pem(authority.pem())
                .map_err(io::Error::other)?,
            controllers,
        };
        let background = Background::start()?;
        let server = recipe.start(&background)?;
        let sweeper = Sweeper::start(scratch)?;
        Ok(Self { server: Some(server), recipe, background, _sweeper: sweeper })
    }

    pub(super) const fn has_controllers(&self) -> bool {
        self.recipe.controllers
    }

    pub(super) const fn port(&self) -> u16 {
        self.recipe.port
    }

    pub(super) fn restart(&mut self) -> io::Result<()> {
        self.end()?;
        self.server = Some(self.recipe.start(&self.background)?);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        match self.server.take() {
            Some(server) => self.background.run(server.shutdown()),
            None => Ok(()),
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Its file must be closed before its directory goes.
        let _ = self.end();
    }
}

impl Recipe {
    fn start(&self, background: &Background) -> io::Result<ApiServer> {
        let options = self.options()?;
        background.run(ApiServer::start(options))?.map_err(io::Error::other)
    }

    fn options(&self) -> io::Result<ApiServerOptions> {
        let mut api = ApiOptions::default();
        if !self.controllers {
            // It waits for accounts that the controllers make.
            api.disabled_plugins.push("ServiceAccount".parse().map_err(io::Error::other)?);
        }
        Ok(ApiServerOptions {
            objects: Some(self.directory.join("objects.redb")),
            keys: Some(self.directory.join("keys")),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)),
            certificate: Some(self.certificate.clone()),
            client_authority: Some(self.client_authority.clone()),
            api,
            controllers: if self.controllers { Controllers::All } else { Controllers::None },
            pace: Pace { start: NEVER, ..Pace::default() },
            ..ApiServerOptions::in_memory(StaticTokens::default())
        })
    }
}
