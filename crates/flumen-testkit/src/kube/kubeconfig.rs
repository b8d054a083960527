//! Texts of kubeconfig files.
//!
//! Everything is inline, so that a test can put the text into a secret.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::certificate::Identity;

/// How a client says who it is.
pub(super) enum User<'a> {
    /// Not at all.
    Nobody,
    Certificate(&'a Identity),
    Token(&'a str),
}

/// A kubeconfig file with one context; `authority` is what to trust when the server speaks TLS.
pub(super) fn kubeconfig(server: &str, authority: Option<&str>, user: &User<'_>) -> String {
    let authority = authority
        .map(|pem| format!(", certificate-authority-data: {}", STANDARD.encode(pem)))
        .unwrap_or_default();
    let user = match user {
        User::Nobody => String::new(),
        User::Token(token) => format!("token: {token}"),
        User::Certificate(identity) => format!(
            "client-certificate-data: {}, client-key-data: {}",
            STANDARD.encode(&identity.certificate),
            STANDARD.encode(&identity.key)
        ),
    };
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         current-context: test\n\
         contexts:\n\
         - name: test\n\
         \x20 context: {{cluster: test, user: test}}\n\
         clusters:\n\
         - name: test\n\
         \x20 cluster: {{server: '{server}'{authority}}}\n\
         users:\n\
         - name: test\n\
         \x20 user: {{{user}}}\n"
    )
}
