//! Which cluster, which user, which namespace: the kubeconfig with the options laid over it.

use std::{env, fmt, io, path::Path};

use http::Uri;

use super::{
    in_cluster,
    kubeconfig::{Cluster, Context, Kubeconfig, Named, Pem, User},
};
use crate::{ConfigError, ConnectOptions, Error, Identity};

/// Where to connect to, with which credentials, in whose name.
pub(crate) struct Target {
    pub(super) server: Uri,
    pub(super) cluster: Cluster,
    pub(super) user: User,
    pub(crate) identity: Identity,
    /// Where nothing sets it, servers take `default`.
    pub(crate) namespace: Option<String>,
}

impl Target {
    /// The address of the server as it is shown to people. Paths of requests are appended to it.
    pub(crate) fn address(&self) -> String {
        shown(&self.server)
    }
}

/// Without credentials.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// What the options and the files that they name lead to, or else the cluster that this process runs in.
pub(crate) fn target(options: &ConnectOptions) -> Result<Target, Error> {
    let selection = match read(options)? {
        Some(kubeconfig) => Selection::new(kubeconfig, options)?,
        None if options.server.is_some() => Selection::new(Kubeconfig::default(), options)?,
        None => {
            let variable = |name: &str| env::var(name).ok();
            in_cluster::selection(variable, Path::new(in_cluster::SERVICE_ACCOUNT))?
                .ok_or_else(|| ConfigError::NoKubeconfig { searched: options.search.clone() })?
        }
    };
    selection.target(options)
}

/// Returns the target of a kubeconfig that is not trusted.
pub(crate) fn target_of_text(text: &str, options: &ConnectOptions) -> Result<Target, Error> {
    let mut selection = Selection::new(Kubeconfig::from_text(text)?, options)?;
    selection.refuse_what_leaves_the_text()?;
    // As Flux does: whoever writes the kubeconfig does not decide whether the server is checked.
    selection.cluster.insecure_skip_tls_verify = false;
    selection.target(options)
}

/// The files, merged; `None` when there is none, or nothing in them.
fn read(options: &ConnectOptions) -> Result<Option<Kubeconfig>, ConfigError> {
    if let Some(path) = &options.kubeconfig {
        return Kubeconfig::from_file(path).map(Some);
    }
    let mut merged = Kubeconfig::default();
    for path in &options.search {
        match Kubeconfig::from_file(path) {
            Err(error) if is_missing(&error) => {}
            file => merged = merged.merge(file?),
        }
    }
    let is_empty = merged.clusters.is_empty() && merged.contexts.is_empty();
    Ok((!is_empty).then_some(merged))
}

fn is_missing(error: &ConfigError) -> bool {
    matches!(error, ConfigError::Unreadable { source, .. }
        if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
}

/// The parts of a kubeconfig that a context leads to.
pub(super) struct Selection {
    pub(super) name: String,
    pub(super) cluster: Cluster,
    pub(super) user: User,
    pub(super) namespace: Option<String>,
}

impl Selection {
    fn new(kubeconfig: Kubeconfig, options: &ConnectOptions) -> Result<Self, ConfigError> {
        let Kubeconfig { current_context, contexts, clusters, users } = kubeconfig;
        let context = match options.context.clone().or(current_context) {
            Some(name) => find("context", &name, contexts)?,
            None if options.cluster.is_some() || options.server.is_some() => Context::default(),
            None => return Err(ConfigError::NoContext { known: names(&contexts) }),
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
            (None, None) => User::default(),
        };
        Ok(Self { name, cluster, user, namespace: context.namespace })
    }

    fn refuse_what_leaves_the_text(&self) -> Result<(), ConfigError> {
        let Self { cluster, user, .. } = self;
        let is_file = |pem: &Option<Pem>| matches!(pem, Some(Pem::File(_)));
        let uses = [
            (user.exec.is_some(), "a program for its credentials (`exec`)"),
            (user.auth_provider.is_some(), "an `auth-provider`"),
            (user.token_file.is_some(), "a file (`tokenFile`)"),
            (is_file(&user.client_certificate), "a file (`client-certificate`)"),
            (is_file(&user.client_key), "a file (`client-key`)"),
            (is_file(&cluster.certificate_authority), "a file (`certificate-authority`)"),
        ];
        match uses.into_iter().find(|(is_used, _)| *is_used) {
            Some((_, what)) => Err(ConfigError::NotAllowed { what }),
            None => Ok(()),
        }
    }

    pub(super) fn target(mut self, options: &ConnectOptions) -> Result<Target, Error> {
        override_cluster(&mut self.cluster, options);
        override_user(&mut self.user, options);
        let identity = take_identity(&mut self.user, &options.identity);
        let is_secure =
            self.cluster.certificate_authority.is_some() || self.cluster.insecure_skip_tls_verify;
        let server = self.cluster.server.as_deref().filter(|server| !server.is_empty());
        let server = server.ok_or(ConfigError::NoServer { cluster: self.name })?;
        let server = absolute_address(server, is_secure)?;
        // What credential plugins are told.
        self.cluster.server = Some(shown(&server));
        let namespace =
            options.namespace.clone().or(self.namespace).filter(|name| !name.is_empty());
        Ok(Target { server, cluster: self.cluster, user: self.user, identity, namespace })
    }
}

fn names<T>(named: &Named<T>) -> Vec<String> {
    named.keys().cloned().collect()
}

fn find<T>(kind: &'static str, name: &str, mut named: Named<T>) -> Result<T, ConfigError> {
    named.remove(name).ok_or_else(|| ConfigError::Unknown {
        kind,
        name: name.to_owned(),
        known: names(&named),
    })
}

fn override_cluster(cluster: &mut Cluster, options: &ConnectOptions) {
    if let Some(server) = &options.server {
        cluster.server = Some(server.clone());
        // It was meant for the other address.
        cluster.tls_server_name = None;
    }
    if let Some(name) = &options.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if let Some(path) = &options.certificate_authority {
        cluster.certificate_authority = Some(Pem::File(path.clone()));
        cluster.insecure_skip_tls_verify = false;
    }
    if options.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = true;
    }
}

fn override_user(user: &mut User, options: &ConnectOptions) {
    if let Some(token) = &options.token {
        user.token = Some(token.clone());
        (user.token_file, user.username, user.password) = (None, None, None);
        (user.exec, user.auth_provider) = (None, None);
    }
    if let Some(path) = &options.client_certificate {
        user.client_certificate = Some(Pem::File(path.clone()));
    }
    if let Some(path) = &options.client_key {
        user.client_key = Some(Pem::File(path.clone()));
    }
}

/// Whom to act as is said in each request and not by the connection, which others may share.
fn take_identity(user: &mut User, overrides: &Identity) -> Identity {
    let groups = std::mem::take(&mut user.impersonate_groups);
    let extra = std::mem::take(&mut user.impersonate_extra);
    let (name, uid) = (user.impersonate.take(), user.impersonate_uid.take());
    Identity {
        user: overrides.user.clone().or(name),
        groups: if overrides.groups.is_empty() { groups } else { overrides.groups.clone() },
        uid: overrides.uid.clone().or(uid),
        extra: if overrides.extra.is_empty() { extra } else { overrides.extra.clone() },
    }
}

fn shown(server: &Uri) -> String {
    server.to_string().trim_end_matches('/').to_owned()
}

/// Addresses without a scheme are taken as kubectl takes them.
fn absolute_address(server: &str, is_secure: bool) -> Result<Uri, ConfigError> {
    let absolute = if server.contains("://") {
        server.to_owned()
    } else {
        format!("{}://{server}", if is_secure { "https" } else { "http" })
    };
    let is_address = |uri: &Uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some_and(|host| !host.is_empty())
            && uri.query().is_none()
            && !uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
    };
    absolute.parse().ok().filter(is_address).ok_or_else(|| {
        // What stands before an @ can be a password.
        let shown = server.rsplit('@').next().unwrap_or_default();
        ConfigError::Address { address: shown.escape_debug().to_string() }
    })
}

#[cfg(test)]
mod tests;
