//! The cluster that this process runs in, from what a pod finds in its environment and its files.

use std::{
    fs,
    net::{IpAddr, SocketAddr},
    path::Path,
};

use super::{
    kubeconfig::{Cluster, Pem, User},
    target::Selection,
};
use crate::ConfigError;

/// Where a pod finds the token of its service account and the authority of the API server.
pub(super) const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const HOST: &str = "KUBERNETES_SERVICE_HOST";
const PORT: &str = "KUBERNETES_SERVICE_PORT";

/// `None` when this process is not in a pod.
pub(super) fn selection(
    variable: impl Fn(&str) -> Option<String>,
    service_account: &Path,
) -> Result<Option<Selection>, ConfigError> {
    let set = |name| variable(name).filter(|value: &String| !value.is_empty());
    let (Some(host), Some(port)) = (set(HOST), set(PORT)) else { return Ok(None) };
    let port = port.parse().map_err(|_| ConfigError::Credentials {
        reason: format!("`{PORT}` is not a port: `{}`", port.escape_debug()),
    })?;
    let namespace = fs::read_to_string(service_account.join("namespace")).ok();
    let namespace = namespace.map(|text| text.trim().to_owned()).filter(|name| !name.is_empty());
    Ok(Some(Selection {
        name: "in-cluster".to_owned(),
        cluster: Cluster {
            server: Some(address(&host, port)),
            certificate_authority: Some(Pem::File(service_account.join("ca.crt"))),
            ..Cluster::default()
        },
        user: User { token_file: Some(service_account.join("token")), ..User::default() },
        namespace,
    }))
}

fn address(host: &str, port: u16) -> String {
    const DEFAULT_PORT: u16 = 443;
    match (host.parse::<IpAddr>(), port) {
        (Ok(IpAddr::V6(address)), DEFAULT_PORT) => format!("https://[{address}]"),
        (_, DEFAULT_PORT) => format!("https://{host}"),
        (Ok(address), port) => format!("https://{}", SocketAddr::new(address, port)),
        (Err(_), port) => format!("https://{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectOptions, Error, connect::target::Target};

    const HTTPS: &[(&str, &str)] = &[(HOST, "10.0.0.1"), (PORT, "443")];

    fn found(variables: &[(&str, &str)], directory: &Path) -> Result<Option<Target>, Error> {
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let options = ConnectOptions::default();
        selection(value, directory)?.map(|selection| selection.target(&options)).transpose()
    }

    #[track_caller]
    fn check(host: &str, port: &str, address: &str) {
        let target = found(&[(HOST, host), (PORT, port)], Path::new("none")).expect("no error");
        assert_eq!(target.expect("in a cluster").address(), address);
    }

    #[test]
    fn variables_become_an_address() {
        check("10.0.0.1", "443", "https://10.0.0.1");
        check("10.0.0.1", "6443", "https://10.0.0.1:6443");
        check("fd00:0::1", "443", "https://[fd00::1]");
        check("fd00::1", "6443", "https://[fd00::1]:6443");
        check("api.example.com", "6443", "https://api.example.com:6443");
        check("api.example.com", "443", "https://api.example.com");
    }

    #[test]
    fn without_both_variables_there_is_no_cluster() {
        for variables in [&[][..], &[(HOST, "a")], &[(PORT, "443")], &[(HOST, ""), (PORT, "443")]] {
            assert!(found(variables, Path::new("none")).expect("no error").is_none());
        }
        let error = found(&[(HOST, "a"), (PORT, "x")], Path::new("none")).expect_err("no port");
        assert_eq!(
            error.to_string(),
            "no credentials: `KUBERNETES_SERVICE_PORT` is not a port: `x`"
        );
    }

    #[test]
    fn the_service_account_gives_token_authority_and_namespace() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let target = found(HTTPS, path).expect("no error").expect("in a cluster");
        assert_eq!(target.namespace, None, "the namespace is optional");
        assert_eq!(target.user.token_file.as_deref(), Some(&*path.join("token")));
        let authority = target.cluster.certificate_authority;
        assert!(matches!(authority, Some(Pem::File(file)) if file == path.join("ca.crt")));

        fs::write(path.join("namespace"), "shop\n").expect("written");
        let target = found(HTTPS, path).expect("no error").expect("in a cluster");
        assert_eq!(target.namespace.as_deref(), Some("shop"));
    }

    #[test]
    fn options_apply_in_a_cluster_too() {
        let variable = |name: &str| Some(if name == HOST { "10.0.0.1" } else { "443" }.to_owned());
        let selection = selection(variable, Path::new("none")).expect("no error");
        let options = ConnectOptions {
            namespace: Some("other".to_owned()),
            token: Some("new".to_owned()),
            tls_server_name: Some("inner.example.com".to_owned()),
            insecure_skip_tls_verify: true,
            ..ConnectOptions::default()
        };
        let target = selection.expect("in a cluster").target(&options).expect("a target");
        assert_eq!(target.namespace.as_deref(), Some("other"));
        assert!(target.user.token.is_some() && target.user.token_file.is_none());
        assert!(target.cluster.insecure_skip_tls_verify);
        assert_eq!(target.cluster.tls_server_name.as_deref(), Some("inner.example.com"));
    }
}
