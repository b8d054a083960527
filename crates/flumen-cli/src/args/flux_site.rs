//! Options of every command for Flux's kinds, and the cluster that they select.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use flumen_api::GoDuration;
use flumen_inspect::Site;
use flumen_kube::{Client, ConfigError, ConnectOptions, Error};
use tokio::time::Instant;

use crate::{
    args::{cluster::ClusterArgs, env},
    error::CommandError,
    ui::Ui,
};

/// The namespace of Flux and of its first objects.
const DEFAULT_NAMESPACE: &str = "flux-system";
/// The default server of kubectl and `flux`.
const DEFAULT_SERVER: &str = "http://localhost:8080";
const MAX_LABEL: usize = 63;

#[derive(Debug, Args)]
#[command(
    next_help_heading = "Cluster",
    mut_arg("namespace", |arg| arg.help("Namespace of the objects; the default is \
        `FLUX_SYSTEM_NAMESPACE`, and `flux-system` without it")),
    // In `flux`, `-s` has another meaning.
    mut_arg("server", |arg| arg.short(None::<char>))
)]
pub(crate) struct SiteArgs {
    /// How long the whole may take, such as 30s or 2m
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse_timeout)]
    timeout: Duration,

    /// Take the namespace of the context, as with `FLUX_NS_FOLLOWS_KUBE_CONTEXT`
    #[arg(long)]
    ns_follows_kube_context: bool,

    #[command(flatten)]
    cluster: ClusterArgs,

    #[command(flatten)]
    _unused: UnusedArgs,
}

/// Options of `flux` without meaning here, which scripts may give all the same.
#[derive(Debug, Args)]
struct UnusedArgs {
    #[arg(long, hide = true)]
    verbose: bool,

    #[arg(long, hide = true)]
    disable_compression: bool,

    #[arg(long, hide = true)]
    cache_dir: Option<PathBuf>,

    #[arg(long, hide = true)]
    kube_api_qps: Option<f32>,

    #[arg(long, hide = true)]
    kube_api_burst: Option<i32>,
}

impl SiteArgs {
    /// Deadline of a command that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    pub(crate) async fn open(&self, ui: &Ui) -> Result<Site, CommandError> {
        let deadline = self.deadline();
        let options = self.cluster.options();
        let fallback = default_namespace(ui);
        let given = options.namespace.clone();
        if let Some(namespace) = &given {
            check_namespace(namespace)?;
        }
        let client = connect(options).await.map_err(CommandError::request)?;
        let follows = self.ns_follows_kube_context || env::flux_follows_context();
        let of_context = || client.context_namespace().filter(|_| follows).map(str::to_owned);
        let namespace = given.or_else(of_context).unwrap_or(fallback);
        check_namespace(&namespace)?;
        Ok(Site::new(&client, namespace, deadline))
    }
}

async fn connect(options: ConnectOptions) -> Result<Client, Error> {
    match Client::connect(&options).await {
        Err(Error::Config(error)) if matches!(*error, ConfigError::NoKubeconfig { .. }) => {
            let server = Some(DEFAULT_SERVER.to_owned());
            Client::connect(&ConnectOptions { server, ..options }).await
        }
        client => client,
    }
}

fn default_namespace(ui: &Ui) -> String {
    let Some(name) = env::flux_namespace() else { return DEFAULT_NAMESPACE.to_owned() };
    if is_label(&name) {
        return name;
    }
    ui.caution(&format!("ignoring invalid FLUX_SYSTEM_NAMESPACE: {name:?}"));
    DEFAULT_NAMESPACE.to_owned()
}

fn check_namespace(name: &str) -> Result<(), CommandError> {
    if is_label(name) {
        return Ok(());
    }
    Err(CommandError::brief(format!("namespace must be a valid DNS label: {name:?}")))
}

/// Whether the name is a DNS label.
fn is_label(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_LABEL).contains(&name.len())
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let duration: GoDuration =
        text.parse().map_err(|_| format!("time: invalid duration {text:?}"))?;
    Ok(duration.into())
}
