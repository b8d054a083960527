//! `flumen apiserver`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use flumen_apiserver::{ApiOptions, ServiceRange, StaticTokens};
use flumen_local::{ApiServer, ApiServerOptions};
use flumen_sim::Controllers;

use crate::{
    error::{CommandError, Failure},
    key_files::read_text,
    memory,
    runtime::block_on,
    signals::Signals,
    ui::Ui,
};

/// Run the API server alone
///
/// For tests and for tools that bring their own controllers; `flumen up` is the whole. Says on stderr where it
/// listens. No container runs: with `--controllers all`, workloads are simulated.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:
  echo secret,admin,admin-uid,system:masters >tokens.csv
  flumen apiserver --addr 127.0.0.1:6443 --token-auth-file tokens.csv --controllers core")]
pub(crate) struct ApiserverArgs {
    /// Directory that holds everything; without it, nothing is kept
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6443")]
    addr: SocketAddr,

    /// Speak HTTP without encryption; on the loopback interface only
    #[arg(long)]
    insecure_http: bool,

    /// Users by token, one `token,user,uid,"group1,group2"` a line
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,

    /// Which controllers run
    #[arg(long, value_enum, value_name = "WHICH", default_value = "all")]
    controllers: Which,

    /// Addresses that Services get
    #[arg(long, value_name = "CIDR", default_value = "10.0.0.0/16")]
    service_cluster_ip_range: ServiceRange,

    /// Forget the history of objects up to this version, as far as there is one at the start
    #[arg(long, value_name = "VERSION")]
    compact_at: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    /// None: whoever uses the server plays them
    None,
    /// Garbage collection, namespaces, service accounts, root certificates, role aggregation
    Core,
    /// Those, and simulated workloads
    All,
}

pub(crate) fn run(args: &ApiserverArgs, ui: &Ui) -> Result<(), CommandError> {
    memory::return_at_once();
    block_on(async {
        let mut signals = Signals::listen()?;
        let server = ApiServer::start(args.options()?).await?;
        ui.talk(&format!("listening on {}\n", server.url()));
        signals.wait().await;
        server.shutdown().await;
        Ok(())
    })
}

impl ApiserverArgs {
    fn options(&self) -> Result<ApiServerOptions, CommandError> {
        let tokens = match &self.token_auth_file {
            Some(file) => StaticTokens::parse(&read_text(file)?)
                .map_err(|error| Failure::new(format!("`{}`: {error}", file.display())))?,
            None => StaticTokens::default(),
        };
        Ok(ApiServerOptions {
            objects: self.data.as_ref().map(|data| data.join("objects.redb")),
            keys: self.data.as_ref().map(|data| data.join("keys")),
            address: self.addr,
            tls: !self.insecure_http,
            api: ApiOptions {
                service_range: self.service_cluster_ip_range,
                compact_at: self.compact_at,
            },
            controllers: match self.controllers {
                Which::None => Controllers::None,
                Which::Core => Controllers::Core,
                Which::All => Controllers::All,
            },
            ..ApiServerOptions::in_memory(tokens)
        })
    }
}
