//! kubectl's connection options.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::Identity;

/// How to find a cluster and who to be there. What is not set comes from the kubeconfig.
#[derive(Clone)]
pub struct ConnectOptions {
    /// `--kubeconfig`: this file and no other.
    pub kubeconfig: Option<PathBuf>,
    /// The files to look for when none is named; see [`Self::search_paths`].
    pub search: Vec<PathBuf>,
    /// `--context`
    pub context: Option<String>,
    /// `--cluster`
    pub cluster: Option<String>,
    /// `--user`
    pub user: Option<String>,
    /// `--server`
    pub server: Option<String>,
    /// `--namespace`
    pub namespace: Option<String>,
    /// `--token`
    pub token: Option<String>,
    /// `--as`, `--as-group` and `--as-uid`
    pub identity: Identity,
    /// `--certificate-authority`
    pub certificate_authority: Option<PathBuf>,
    /// `--client-certificate`
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`
    pub client_key: Option<PathBuf>,
    /// `--tls-server-name`
    pub tls_server_name: Option<String>,
    /// `--insecure-skip-tls-verify`
    pub insecure_skip_tls_verify: bool,
    /// `--request-timeout`: how long to wait for one answer; `None` waits for ever. Watches are exempt.
    pub request_timeout: Option<Duration>,
    /// Requests that run at the same time.
    pub max_concurrent: usize,
}

impl ConnectOptions {
    pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
    pub const DEFAULT_MAX_CONCURRENT: usize = 32;

    /// The files that kubectl looks for: those that `KUBECONFIG` lists, else `.kube/config` at home.
    /// Files that do not exist are passed over when they are read.
    pub fn search_paths(kubeconfig: Option<&OsStr>, home: Option<&Path>) -> Vec<PathBuf> {
        let listed: Vec<PathBuf> = kubeconfig
            .map(std::env::split_paths)
            .into_iter()
            .flatten()
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        if listed.is_empty() {
            home.map(|home| home.join(".kube/config")).into_iter().collect()
        } else {
            listed
        }
    }
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            kubeconfig: None,
            search: Vec::new(),
            context: None,
            cluster: None,
            user: None,
            server: None,
            namespace: None,
            token: None,
            identity: Identity::default(),
            certificate_authority: None,
            client_certificate: None,
            client_key: None,
            tls_server_name: None,
            insecure_skip_tls_verify: false,
            request_timeout: Some(Self::DEFAULT_REQUEST_TIMEOUT),
            max_concurrent: Self::DEFAULT_MAX_CONCURRENT,
        }
    }
}

/// Without the token.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("kubeconfig", &self.kubeconfig)
            .field("search", &self.search)
            .field("context", &self.context)
            .field("cluster", &self.cluster)
            .field("user", &self.user)
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_searched_as_kubectl_does() {
        let home = Path::new("home");
        let paths =
            |list: Option<&str>| ConnectOptions::search_paths(list.map(OsStr::new), Some(home));
        let at_home = [home.join(".kube/config")];
        assert_eq!(paths(None), at_home);
        assert_eq!(paths(Some("")), at_home);
        assert_eq!(paths(Some(":a::b/c")), [PathBuf::from("a"), PathBuf::from("b/c")]);
        assert!(ConnectOptions::search_paths(None, None).is_empty());
    }

    #[test]
    fn the_token_is_not_shown() {
        let options = ConnectOptions { token: Some("hunter2".to_owned()), ..Default::default() };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
