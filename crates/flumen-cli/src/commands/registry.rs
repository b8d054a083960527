//! `flumen registry`: a registry of its own, and its housekeeping.

use std::{fmt::Write as _, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use flumen_registry::{Accounts, Auth, Options, Registry, Report, Server, Tls};

use crate::{
    error::{CommandError, Failure},
    memory,
    runtime::block_on,
    signals::Signals,
    ui::Ui,
};

/// Run a registry
#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Serve(ServeArgs),
    Gc(GcArgs),
}

/// Serve a directory as an OCI registry until interrupted
///
/// Says on stderr where it listens. Everything that was answered survives the end of the process,
/// however it ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  flumen registry serve --data ./registry
  flumen registry serve --data /var/lib/registry --addr 0.0.0.0:5000 \\
    --auth-file users --tls-cert server.pem --tls-key server-key.pem")]
struct ServeArgs {
    /// Directory that holds everything; made when it is missing
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5000")]
    addr: SocketAddr,

    /// Users and their passwords, one `name:hash` a line as `htpasswd -B` writes them
    #[arg(long, value_name = "FILE")]
    auth_file: Option<PathBuf>,

    /// Tokens, one a line, that are accepted instead of a user
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Let everyone read; writing still needs credentials
    #[arg(long)]
    anonymous_read: bool,

    /// Let everyone who can connect read and write, also from other machines
    #[arg(long, conflicts_with_all = ["auth_file", "token_file", "anonymous_read"])]
    allow_anonymous: bool,

    /// Certificate to show, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Megabytes that all blobs together may take
    #[arg(long, value_name = "MB")]
    max_size: Option<u64>,

    /// Megabytes that one blob may have
    #[arg(long, value_name = "MB", default_value = "65536")]
    max_blob_size: u64,
}

/// Remove blobs that no manifest names
///
/// A registry that runs does this by itself; this is for one that does not.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  flumen registry gc --data ./registry --older-than 0")]
struct GcArgs {
    /// Directory of a registry that is not running
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Keep what was pushed within the last hours
    #[arg(long, value_name = "HOURS", default_value = "24")]
    older_than: u64,
}

pub(crate) fn run(args: &RegistryArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Serve(args) => {
            memory::serve();
            block_on(serve(args, ui))
        }
        What::Gc(args) => block_on(collect(args, ui)),
    }
}

async fn serve(args: &ServeArgs, ui: &Ui) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    let server = Server::start(options(args)?).await?;
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    let mut greeting = format!("listening on {scheme}://{}", server.address());
    if args.allow_anonymous && !args.addr.ip().is_loopback() {
        let _ = write!(greeting, ", where everyone may write");
    }
    ui.talk(&format!("{greeting}\n"));
    signals.wait().await;
    server.shutdown().await;
    Ok(())
}

fn options(args: &ServeArgs) -> Result<Options, CommandError> {
    let mut options = Options::new(&args.data);
    options.address = args.addr;
    options.auth = auth(args)?;
    options.tls = args
        .tls_cert
        .clone()
        .zip(args.tls_key.clone())
        .map(|(certificate, key)| Tls { certificate, key });
    options.limits.blob_size = args.max_blob_size.saturating_mul(1 << 20);
    options.limits.total_size = args.max_size.map(|size| size.saturating_mul(1 << 20));
    options.report = Report::to(|failure| Ui::new().warnings(&[failure.to_owned()]));
    Ok(options)
}

fn auth(args: &ServeArgs) -> Result<Auth, CommandError> {
    if args.allow_anonymous {
        return Ok(Auth::Anonymous);
    }
    if args.auth_file.is_none() && args.token_file.is_none() {
        if args.anonymous_read {
            return Err(Failure::new(
                "--anonymous-read is about a registry that asks for credentials",
            )
            .hint("give --auth-file or --token-file, too")
            .into());
        }
        return Ok(Auth::LoopbackOnly);
    }
    let mut accounts = Accounts::read(args.auth_file.as_deref(), args.token_file.as_deref())?;
    accounts.anonymous_read = args.anonymous_read;
    Ok(Auth::Required(accounts))
}

async fn collect(args: &GcArgs, ui: &Ui) -> Result<(), CommandError> {
    if !args.data.is_dir() {
        return Err(CommandError::failure(format!("`{}` is no directory", args.data.display())));
    }
    let mut options = Options::new(&args.data);
    options.limits.garbage_age = Duration::from_secs(args.older_than.saturating_mul(60 * 60));
    let collected = Registry::open(&options)?.collect_garbage().await?;
    ui.talk(&format!("removed {} blobs\n", collected.blobs));
    Ok(())
}

impl From<flumen_registry::Error> for CommandError {
    fn from(error: flumen_registry::Error) -> Self {
        let failure = Failure::chain(&error);
        // The library does not know how its options are spelled here.
        let hint = match error {
            flumen_registry::Error::Exposed { .. } => {
                Some("give --auth-file or --token-file, or say --allow-anonymous")
            }
            error => error.hint(),
        };
        match hint {
            Some(hint) => failure.hint(hint).into(),
            None => failure.into(),
        }
    }
}
