//! `flumen apiserver`.

use std::{
    fmt::Display,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use flumen_apiserver::{
    AdmissionPlugin, ApiOptions, ClientAuthority, ServiceRange, ServingCertificate, StaticTokens,
};
use flumen_local::{ApiServer, ApiServerOptions};
use flumen_sim::Controllers;

use crate::{
    args::key_files::read_text,
    error::{CommandError, Failure},
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

    /// Authorities whose certificates tell who a client is: the common name is the user, organizations are groups
    #[arg(long, value_name = "FILE", conflicts_with = "insecure_http")]
    client_ca_file: Option<PathBuf>,

    /// Certificate to show to clients, followed by those of its authorities; made up without it
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_private_key_file",
        conflicts_with = "insecure_http"
    )]
    tls_cert_file: Option<PathBuf>,

    /// Key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,

    /// Which controllers run
    #[arg(long, value_enum, value_name = "WHICH", default_value = "all")]
    controllers: Which,

    /// Addresses that Services get
    #[arg(long, value_name = "CIDR", default_value = "10.0.0.0/16")]
    service_cluster_ip_range: ServiceRange,

    /// Rules to do without, by their names in Kubernetes; without controllers, pods need `ServiceAccount` here
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    disable_admission_plugins: Vec<AdmissionPlugin>,

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
    memory::serve();
    block_on(async {
        let mut signals = Signals::listen()?;
        let server = ApiServer::start(args.options()?).await?;
        ui.talk(&format!("listening on {}\n", server.url()));
        tokio::spawn(memory::forget_start());
        signals.wait().await;
        server.shutdown().await;
        Ok(())
    })
}

impl ApiserverArgs {
    fn options(&self) -> Result<ApiServerOptions, CommandError> {
        let tokens = parsed(self.token_auth_file.as_deref(), StaticTokens::parse)?;
        let certificate = match (&self.tls_cert_file, &self.tls_private_key_file) {
            (Some(certificate), Some(key)) => Some(serving_certificate(certificate, key)?),
            _ => None,
        };
        Ok(ApiServerOptions {
            objects: self.data.as_ref().map(|data| data.join("objects.redb")),
            keys: self.data.as_ref().map(|data| data.join("keys")),
            address: self.addr,
            tls: !self.insecure_http,
            certificate,
            client_authority: parsed(self.client_ca_file.as_deref(), ClientAuthority::from_pem)?,
            api: ApiOptions {
                service_range: self.service_cluster_ip_range,
                compact_at: self.compact_at,
                disabled_plugins: self.disable_admission_plugins.clone(),
            },
            controllers: match self.controllers {
                Which::None => Controllers::None,
                Which::Core => Controllers::Core,
                Which::All => Controllers::All,
            },
            ..ApiServerOptions::in_memory(tokens.unwrap_or_default())
        })
    }
}

fn serving_certificate(certificate: &Path, key: &Path) -> Result<ServingCertificate, CommandError> {
    let read = ServingCertificate::from_pem(&read_text(certificate)?, &read_text(key)?);
    Ok(read
        .map_err(|error| unusable(if error.is_about_key() { key } else { certificate }, error))?)
}

/// What a file means, if there is one.
fn parsed<T, E: Display>(
    file: Option<&Path>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, CommandError> {
    let Some(file) = file else { return Ok(None) };
    Ok(Some(parse(&read_text(file)?).map_err(|error| unusable(file, error))?))
}

fn unusable(file: &Path, error: impl Display) -> Failure {
    Failure::new(format!("`{}`: {error}", file.display()))
}
