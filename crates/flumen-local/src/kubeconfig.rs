//! How clients reach the server.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The name of the context, the cluster and the user.
pub const CONTEXT: &str = "flumen";

/// A kubeconfig with one context.
pub fn kubeconfig(server: &str, ca: Option<&str>, token: &str) -> String {
    let authority = ca.map_or_else(String::new, |pem| {
        format!("    certificate-authority-data: {}\n", STANDARD.encode(pem))
    });
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: {CONTEXT}\n  \
           cluster:\n    \
             server: {server}\n\
         {authority}\
         contexts:\n\
         - name: {CONTEXT}\n  \
           context:\n    \
             cluster: {CONTEXT}\n    \
             user: {CONTEXT}\n\
         current-context: {CONTEXT}\n\
         users:\n\
         - name: {CONTEXT}\n  \
           user:\n    \
             token: {token}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::kubeconfig;

    #[test]
    fn has_what_clients_need() {
        let text = kubeconfig("https://127.0.0.1:6443", Some("PEM"), "secret");
        assert_eq!(
            text,
            "apiVersion: v1
kind: Config
clusters:
- name: flumen
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: UEVN
contexts:
- name: flumen
  context:
    cluster: flumen
    user: flumen
current-context: flumen
users:
- name: flumen
  user:
    token: secret
"
        );
    }
}
