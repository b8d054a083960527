//! Runs the API server alone.
//!
//! `cargo run -p flumen-apiserver --example serve -- --listen 127.0.0.1:8080 --token-auth-file tokens.csv`

#![allow(clippy::disallowed_methods, reason = "reads the token file")]
#![allow(clippy::print_stderr, reason = "an example has no Ui")]

use std::{error::Error, net::SocketAddr, path::PathBuf};

use flumen_apiserver::{
    Api, ApiOptions, AuthOptions, Server, ServerOptions, StateDir, StaticTokens,
};
use flumen_store::{Options, Store};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut address: SocketAddr = "127.0.0.1:8080".parse()?;
    let mut auth = AuthOptions::default();
    let mut data: Option<PathBuf> = None;
    let mut tls = false;
    let mut api = ApiOptions::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--listen" => address = value()?.parse()?,
            "--token-auth-file" => {
                auth.tokens = StaticTokens::parse(&std::fs::read_to_string(value()?)?)?;
            }
            "--data" => {
                let dir = PathBuf::from(value()?);
                std::fs::create_dir_all(&dir)?;
                data = Some(dir);
            }
            "--tls" => tls = true,
            "--service-cluster-ip-range" => api.service_range = value()?.parse()?,
            "--compact-at" => api.compact_at = Some(value()?.parse()?),
            "--controllers" => drop(value()?),
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let store = match &data {
        Some(dir) => Store::open(&dir.join("objects.redb"), Options::default())?,
        None => Store::in_memory(Options::default())?,
    };
    let options = ServerOptions { address, tls, names: Vec::new(), auth, state: StateDir(data) };
    let server = Server::start(Api::open_with(store, api).await?, options).await?;
    eprintln!("listening on {}", server.address());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
