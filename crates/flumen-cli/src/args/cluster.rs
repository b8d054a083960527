//! Options of every command that talks to a cluster: kubectl's, under their names.

use std::{
    collections::BTreeMap, convert::Infallible, fmt, path::PathBuf, str::FromStr, time::Duration,
};

use clap::Args;
use flumen_kube::{Client, ConnectOptions, Identity};

use crate::{
    args::{duration, env},
    error::CommandError,
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// Kubeconfig file; the default is `KUBECONFIG`, then `~/.kube/config`
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Cluster of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// User of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// Namespace of the inventory, and of objects that name none; the default is the context's
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Address of the API server
    #[arg(short, long, value_name = "URL")]
    server: Option<String>,

    /// Bearer token for the API server
    #[arg(long, value_name = "TOKEN")]
    token: Option<Token>,

    /// User to act as
    #[arg(long = "as", value_name = "NAME")]
    as_user: Option<String>,

    /// Group to act as; can be given more than once
    #[arg(long, value_name = "NAME")]
    as_group: Vec<String>,

    /// Unique id to act as
    #[arg(long, value_name = "UID")]
    as_uid: Option<String>,

    /// Further fact of the user to act as; can be given more than once, also for one key
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_fact)]
    as_user_extra: Vec<(String, String)>,

    /// Certificates of the authority that the API server's certificate comes from
    #[arg(long, value_name = "FILE")]
    certificate_authority: Option<PathBuf>,

    /// Certificate that this client shows to the API server
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<PathBuf>,

    /// Private key of that certificate
    #[arg(long, value_name = "FILE")]
    client_key: Option<PathBuf>,

    /// Name that the API server's certificate must be for, if it is not that of the address
    #[arg(long, value_name = "NAME")]
    tls_server_name: Option<String>,

    /// Believe any certificate of the API server; the connection is not secure then
    #[arg(long)]
    insecure_skip_tls_verify: bool,

    /// How long to wait for one answer, such as 10s or 2m; 0 waits for ever
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse_limit)]
    request_timeout: Duration,
}

/// A token, which no message shows.
#[derive(Clone)]
struct Token(String);

impl FromStr for Token {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl ClusterArgs {
    /// A client of the cluster that the options lead to.
    pub(crate) async fn connect(&self) -> Result<Client, CommandError> {
        Ok(Client::connect(&self.options()).await?)
    }

    /// What is to be said of the user to act as, values in the order in which they were given.
    fn facts(&self) -> BTreeMap<String, Vec<String>> {
        let mut facts = BTreeMap::<_, Vec<_>>::new();
        for (key, value) in &self.as_user_extra {
            facts.entry(key.clone()).or_default().push(value.clone());
        }
        facts
    }

    pub(crate) fn options(&self) -> ConnectOptions {
        ConnectOptions {
            kubeconfig: self.kubeconfig.clone(),
            search: env::kubeconfigs(),
            context: self.context.clone(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
            server: self.server.clone(),
            namespace: self.namespace.clone(),
            token: self.token.as_ref().map(|token| token.0.clone()),
            identity: Identity {
                user: self.as_user.clone(),
                groups: self.as_group.clone(),
                uid: self.as_uid.clone(),
                extra: self.facts(),
            },
            certificate_authority: self.certificate_authority.clone(),
            client_certificate: self.client_certificate.clone(),
            client_key: self.client_key.clone(),
            tls_server_name: self.tls_server_name.clone(),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify,
            request_timeout: Some(self.request_timeout).filter(|limit| !limit.is_zero()),
            ..ConnectOptions::default()
        }
    }
}

fn parse_fact(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    #[test]
    fn facts_of_the_user_to_act_as_may_have_several_values() {
        let facts = ["scope=a=1", "scope=b", "team="].map(|fact| format!("--as-user-extra={fact}"));
        let parsed = Alone::try_parse_from([&["x".to_owned()][..], &facts].concat());
        let identity = parsed.expect("parses").cluster.options().identity;
        let expected = [("scope", vec!["a=1", "b"]), ("team", vec![""])];
        let expected = expected.map(|(key, values)| {
            (key.to_owned(), values.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(identity.extra, BTreeMap::from(expected));
        for wrong in ["scope", "=a"] {
            let parsed = Alone::try_parse_from(["x", "--as-user-extra", wrong]);
            assert!(parsed.expect_err("refused").to_string().contains("expected KEY=VALUE"));
        }
    }
}
