//! Everything that `flumen up` runs.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use flumen_apiserver::{ServerError, StaticTokens, User};
use flumen_registry::{Options as RegistryOptions, Report, Server as Registry};
use flumen_sim::{Controllers, Pace};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::{
    ApiServer, ApiServerOptions, Error, Home, Record, home::Claim, kubeconfig::kubeconfig, token,
};

/// The name under which the owner of the machine acts.
const ADMIN: &str = "admin";

#[derive(Debug)]
pub struct InstanceOptions {
    /// Where state is kept; without one it ends with the instance.
    pub home: Option<Home>,
    /// Zero takes the port of the last time if it is free, else any.
    pub port: u16,
    pub registry_port: u16,
    pub controllers: Controllers,
    pub pace: Pace,
    /// Is told about failures that are not a client's, one line each.
    pub report: Report,
}

/// An API server and a registry that run together.
#[derive(Debug)]
pub struct Instance {
    home: Home,
    server: ApiServer,
    registry: Registry,
    record: Record,
    // In the order in which they have to go.
    _claim: Claim,
    _scratch: Option<TempDir>,
}

impl Instance {
    pub async fn start(options: InstanceOptions) -> Result<Self, Error> {
        let (home, scratch) = if let Some(home) = options.home {
            (home, None)
        } else {
            let scratch = TempDir::with_prefix("flumen-").map_err(Error::Memory)?;
            (Home::new(scratch.path()), Some(scratch))
        };
        let claim = home.claim()?;
        let last = home.take_record();
        let token = token::of(&home)?;
        let admin = User {
            name: ADMIN.to_owned(),
            uid: format!("{ADMIN}-uid"),
            groups: vec![User::MASTERS.to_owned()],
            ..User::default()
        };
        let mut tokens = StaticTokens::default();
        tokens.add(&token, admin);
        let is_ephemeral = scratch.is_some();
        let port = wanted(options.port, last.as_ref().and_then(|last| port_of(&last.server)));
        let (controllers, pace) = (options.controllers, options.pace);
        let server = with_port(port, |address| {
            let (home, tokens) = (&home, &tokens);
            async move {
                ApiServer::start(ApiServerOptions {
                    objects: (!is_ephemeral).then(|| home.objects()),
                    keys: Some(home.keys()),
                    address,
                    controllers,
                    pace,
                    ..ApiServerOptions::in_memory(tokens.clone())
                })
                .await
            }
        })
        .await?;
        let port =
            wanted(options.registry_port, last.as_ref().and_then(|last| port_of(&last.registry)));
        let report = options.report;
        let registry = with_port(port, |address| {
            let mut options = RegistryOptions::new(home.registry());
            options.address = address;
            options.report = report.clone();
            async move { Ok(Registry::start(options).await?) }
        })
        .await?;
        let text = kubeconfig(&server.url(), server.ca(), &token);
        home.write(&home.kubeconfig(), text.as_bytes())?;
        let record = Record {
            pid: i32::try_from(std::process::id()).unwrap_or_default(),
            server: server.url(),
            registry: registry.address().to_string(),
            started: Timestamp::now().strftime("%FT%TZ").to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        home.record(&record)?;
        Ok(Self { home, server, registry, record, _claim: claim, _scratch: scratch })
    }

    pub const fn home(&self) -> &Home {
        &self.home
    }

    pub const fn record(&self) -> &Record {
        &self.record
    }

    pub const fn server(&self) -> &ApiServer {
        &self.server
    }

    /// Lets what is under way end, and releases the directory.
    pub async fn shutdown(self) {
        self.server.shutdown().await;
        self.registry.shutdown().await;
    }
}

/// A port to listen on.
#[derive(Clone, Copy)]
enum Port {
    /// The user named it.
    Exactly(u16),
    /// Nice to have, because clients know it.
    Rather(u16),
    Any,
}

fn wanted(named: u16, last: Option<u16>) -> Port {
    match (named, last) {
        (0, Some(last)) => Port::Rather(last),
        (0, None) => Port::Any,
        (named, _) => Port::Exactly(named),
    }
}

/// The port at the end of an address.
fn port_of(address: &str) -> Option<u16> {
    address.rsplit(':').next()?.parse().ok()
}

/// Starts on a port; one that is only nice to have is given up when it is taken.
async fn with_port<T, F>(port: Port, start: impl Fn(SocketAddr) -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let on = |port: u16| start(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    match port {
        Port::Exactly(port) => on(port).await,
        Port::Any => on(0).await,
        Port::Rather(port) => match on(port).await {
            Err(error) if is_taken(&error) => on(0).await,
            other => other,
        },
    }
}

fn is_taken(error: &Error) -> bool {
    matches!(
        error,
        Error::Server(ServerError::Listen { source, .. })
        | Error::Registry(flumen_registry::Error::Listen { source, .. })
            if source.kind() == io::ErrorKind::AddrInUse
    )
}
