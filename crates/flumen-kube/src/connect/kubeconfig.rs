//! Which cluster, which user, which namespace: the kubeconfig with the options laid over it.

use std::{fmt, io, path::Path};

use http::Uri;
use kube::{
    Config,
    config::{
        AuthInfo, Cluster, Context, InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError,
        NamedAuthInfo, NamedCluster, NamedContext,
    },
};

use crate::{ConfigError, ConnectOptions, Error, Identity};

/// Where to connect to, with which credentials, in whose name.
pub(crate) struct Target {
    pub(crate) config: Config,
    /// What the kubeconfig says; the environment is asked where it says nothing.
    pub(crate) proxy: Option<String>,
    pub(crate) identity: Identity,
    /// Where nothing sets it, servers take `default`.
    pub(crate) namespace: Option<String>,
}

impl Target {
    /// The address of the server as it is shown to people.
    pub(crate) fn address(&self) -> String {
        self.config.cluster_url.to_string().trim_end_matches('/').to_owned()
    }
}

/// Without credentials.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// What the options and the files that they name lead to, or else the cluster that this process runs in.
pub(crate) async fn target(options: &ConnectOptions) -> Result<Target, Error> {
    match read(options)? {
        Some(kubeconfig) => Selection::new(kubeconfig, options)?.target(options).await,
        None if options.server.is_some() => {
            Selection::new(Kubeconfig::default(), options)?.target(options).await
        }
        None => in_cluster(options),
    }
}

/// What a kubeconfig leads to that somebody else wrote.
pub(crate) async fn target_of_text(text: &str, options: &ConnectOptions) -> Result<Target, Error> {
    let kubeconfig =
        Kubeconfig::from_yaml(text).map_err(|error| unusable("the text", None, error))?;
    let mut selection = Selection::new(kubeconfig, options)?;
    selection.refuse_what_leaves_the_text()?;
    // As Flux does: whoever writes the kubeconfig does not decide whether the server is checked.
    selection.cluster.insecure_skip_tls_verify = None;
    selection.target(options).await
}

/// The files, merged; `None` when there is none, or nothing in them.
fn read(options: &ConnectOptions) -> Result<Option<Kubeconfig>, Error> {
    if let Some(path) = &options.kubeconfig {
        return read_file(path).map(Some);
    }
    let mut merged = Kubeconfig::default();
    for path in &options.search {
        let file = match read_file(path) {
            Err(error) if is_missing(&error) => continue,
            file => file?,
        };
        merged = merged
            .merge(file)
            .map_err(|error| unusable(&format!("`{}`", path.display()), Some(path), error))?;
    }
    let is_empty = merged.clusters.is_empty() && merged.contexts.is_empty();
    Ok((!is_empty).then_some(merged))
}

fn read_file(path: &Path) -> Result<Kubeconfig, Error> {
    Kubeconfig::read_from(path)
        .map_err(|error| unusable(&format!("`{}`", path.display()), Some(path), error))
}

fn is_missing(error: &Error) -> bool {
    let Error::Config(error) = error else { return false };
    matches!(&**error, ConfigError::Unreadable { source, .. }
        if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
}

/// The parts of a kubeconfig that a context leads to.
struct Selection {
    name: String,
    cluster: Cluster,
    user: AuthInfo,
    namespace: Option<String>,
}

impl Selection {
    fn new(kubeconfig: Kubeconfig, options: &ConnectOptions) -> Result<Self, Error> {
        let Kubeconfig { clusters, auth_infos, contexts, current_context, .. } = kubeconfig;
        let contexts: Vec<_> =
            contexts.into_iter().map(|named| (named.name, named.context)).collect();
        let clusters: Vec<_> =
            clusters.into_iter().map(|named| (named.name, named.cluster)).collect();
        let users: Vec<_> =
            auth_infos.into_iter().map(|named| (named.name, named.auth_info)).collect();

        let current = current_context.filter(|name| !name.is_empty());
        let context = match options.context.clone().or(current) {
            Some(name) => find("context", &name, contexts)?,
            None if options.cluster.is_some() || options.server.is_some() => Context::default(),
            None => return Err(ConfigError::NoContext { known: names(&contexts) }.into()),
        };
        let name = options.cluster.clone().unwrap_or(context.cluster);
        let cluster = match find("cluster", &name, clusters) {
            Err(_) if options.server.is_some() && options.cluster.is_none() => Cluster::default(),
            cluster => cluster?,
        };
        let user = match (&options.user, context.user) {
            (Some(name), _) => find("user", name, users)?,
            // Like kubectl, which then has no credentials.
            (None, Some(name)) => find("user", &name, users).unwrap_or_default(),
            (None, None) => AuthInfo::default(),
        };
        Ok(Self { name, cluster, user, namespace: context.namespace })
    }

    fn refuse_what_leaves_the_text(&self) -> Result<(), Error> {
        let Self { cluster, user, .. } = self;
        let uses = [
            (user.exec.is_some(), "a program for its credentials (`exec`)"),
            (user.auth_provider.is_some(), "an `auth-provider`"),
            (user.token_file.is_some(), "a file (`tokenFile`)"),
            (user.client_certificate.is_some(), "a file (`client-certificate`)"),
            (user.client_key.is_some(), "a file (`client-key`)"),
            (cluster.certificate_authority.is_some(), "a file (`certificate-authority`)"),
        ];
        match uses.into_iter().find(|(is_used, _)| *is_used) {
            Some((_, what)) => Err(ConfigError::NotAllowed { what }.into()),
            None => Ok(()),
        }
    }

    async fn target(mut self, options: &ConnectOptions) -> Result<Target, Error> {
        override_cluster(&mut self.cluster, options);
        override_user(&mut self.user, options);
        let identity = take_identity(&mut self.user, &options.identity);
        let is_secure = self.cluster.certificate_authority.is_some()
            || self.cluster.certificate_authority_data.is_some()
            || self.cluster.insecure_skip_tls_verify == Some(true);
        let server = self.cluster.server.take().filter(|server| !server.is_empty());
        let server = server.ok_or_else(|| ConfigError::NoServer { cluster: self.name.clone() })?;
        self.cluster.server = Some(absolute_address(&server, is_secure)?);
        let proxy = self.cluster.proxy_url.take().filter(|proxy| !proxy.is_empty());

        let namespace =
            options.namespace.clone().or(self.namespace).filter(|name| !name.is_empty());
        let mut config = Config::from_custom_kubeconfig(
            single(self.cluster, self.user, namespace.clone()),
            &KubeConfigOptions::default(),
        )
        .await
        .map_err(|error| unusable("the kubeconfig", None, error))?;
        config.proxy_url = None;
        Ok(Target { config, proxy, identity, namespace })
    }
}

fn names<T>(named: &[(String, Option<T>)]) -> Vec<String> {
    named.iter().map(|(name, _)| name.clone()).collect()
}

fn find<T>(kind: &'static str, name: &str, named: Vec<(String, Option<T>)>) -> Result<T, Error> {
    let unknown = ConfigError::Unknown { kind, name: name.to_owned(), known: names(&named) };
    let found = named.into_iter().find(|(known, _)| known == name);
    found.and_then(|(_, value)| value).ok_or_else(|| unknown.into())
}

fn override_cluster(cluster: &mut Cluster, options: &ConnectOptions) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if let Some(server) = &options.server {
        cluster.server = Some(server.clone());
        // It was meant for the other address.
        cluster.tls_server_name = None;
    }
    if let Some(name) = &options.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if let Some(path) = &options.certificate_authority {
        cluster.certificate_authority = Some(text(path));
        cluster.certificate_authority_data = None;
        cluster.insecure_skip_tls_verify = None;
    }
    if options.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
    }
}

fn override_user(user: &mut AuthInfo, options: &ConnectOptions) {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if let Some(token) = &options.token {
        user.token = Some(token.clone().into());
        (user.token_file, user.username, user.password) = (None, None, None);
        (user.exec, user.auth_provider) = (None, None);
    }
    if let Some(path) = &options.client_certificate {
        user.client_certificate = Some(text(path));
        user.client_certificate_data = None;
    }
    if let Some(path) = &options.client_key {
        user.client_key = Some(text(path));
        user.client_key_data = None;
    }
}

/// Whom to act as is said in each request and not by the connection, which others may share.
fn take_identity(user: &mut AuthInfo, overrides: &Identity) -> Identity {
    let groups = user.impersonate_groups.take().unwrap_or_default();
    let extra = user.impersonate_user_extra.take().unwrap_or_default();
    let (name, uid) = (user.impersonate.take(), user.impersonate_uid.take());
    Identity {
        user: overrides.user.clone().or(name.filter(|name| !name.is_empty())),
        groups: if overrides.groups.is_empty() { groups } else { overrides.groups.clone() },
        uid: overrides.uid.clone().or(uid.filter(|uid| !uid.is_empty())),
        extra: if overrides.extra.is_empty() {
            extra.into_iter().collect()
        } else {
            overrides.extra.clone()
        },
    }
}

/// Addresses without a scheme are taken as kubectl takes them.
fn absolute_address(server: &str, is_secure: bool) -> Result<String, Error> {
    let absolute = if server.contains("://") {
        server.to_owned()
    } else {
        format!("{}://{server}", if is_secure { "https" } else { "http" })
    };
    let is_address = absolute.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.query().is_none()
            && !uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
    });
    if is_address {
        return Ok(absolute);
    }
    // What stands before an @ can be a password.
    let shown = server.rsplit('@').next().unwrap_or_default();
    Err(ConfigError::Address { address: shown.escape_debug().to_string() }.into())
}

/// A kubeconfig that holds one context and nothing else.
fn single(cluster: Cluster, user: AuthInfo, namespace: Option<String>) -> Kubeconfig {
    let name = || "selected".to_owned();
    let context = Context { cluster: name(), user: Some(name()), namespace, ..Context::default() };
    Kubeconfig {
        clusters: vec![NamedCluster { name: name(), cluster: Some(cluster), ..Default::default() }],
        auth_infos: vec![NamedAuthInfo {
            name: name(),
            auth_info: Some(user),
            ..Default::default()
        }],
        contexts: vec![NamedContext { name: name(), context: Some(context), ..Default::default() }],
        current_context: Some(name()),
        ..Kubeconfig::default()
    }
}

fn in_cluster(options: &ConnectOptions) -> Result<Target, Error> {
    let mut config = Config::incluster().map_err(|error| match error {
        InClusterError::ReadEnvironmentVariable(_) => {
            ConfigError::NoKubeconfig { searched: options.search.clone() }
        }
        error => ConfigError::Credentials { reason: error.to_string() },
    })?;
    if let Some(namespace) = &options.namespace {
        config.default_namespace.clone_from(namespace);
    }
    override_user(&mut config.auth_info, options);
    config.accept_invalid_certs = options.insecure_skip_tls_verify;
    config.tls_server_name.clone_from(&options.tls_server_name);
    let namespace = Some(config.default_namespace.clone());
    Ok(Target { config, proxy: None, identity: options.identity.clone(), namespace })
}

/// Reasons of the YAML reader are left out: they can quote what the file holds.
fn unusable(place: &str, path: Option<&Path>, error: KubeconfigError) -> Error {
    let malformed = |line, column| ConfigError::Malformed { place: place.to_owned(), line, column };
    match (error, path) {
        (KubeconfigError::ReadConfig(source, _), Some(path)) => {
            ConfigError::Unreadable { path: path.to_owned(), source }
        }
        (KubeconfigError::Parse(error), _) => {
            error.location().map_or_else(|| malformed(0, 0), |at| malformed(at.line(), at.column()))
        }
        (KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch, _) => malformed(0, 0),
        (error, _) => ConfigError::Tls { reason: error.to_string() },
    }
    .into()
}

#[cfg(test)]
mod tests;
