//! `flumen apiserver`: what it is told in files and names reaches the server.

use flumen_testkit::Certificate;

use super::{Scratch, serving::Serving};

#[test]
fn certificates_say_who_serves_and_who_asks() {
    let scratch = Scratch::new();
    Certificate::for_loopback(&scratch.path()).expect("certificates");
    let server = Serving::start(
        &scratch,
        &[
            "apiserver",
            "--tls-cert-file=server.pem",
            "--tls-private-key-file=server-key.pem",
            "--client-ca-file=ca.pem",
        ],
    );
    // Nothing in the certificate says what it is for, so it is good for a client too.
    let kubeconfig = format!(
        "current-context: test\ncontexts: [{{name: test, context: {{cluster: test, user: test}}}}]\n\
         clusters: [{{name: test, cluster: {{server: '{}', certificate-authority: ca.pem}}}}]\n\
         users: [{{name: test, user: {{client-certificate: server.pem, client-key: server-key.pem}}}}]\n",
        server.url
    );
    scratch.write("kubeconfig", &kubeconfig);
    let apply = ["apply", "-f", "a/map.yaml", "--inventory", "app", "--kubeconfig", "kubeconfig"];
    scratch.check_refused(&apply, 1, &["User \"rcgen self signed cert\" cannot"]);
}

#[test]
fn what_cannot_be_used_is_named() {
    let scratch = Scratch::new();
    let authority = ["apiserver", "--client-ca-file", "a/map.yaml"];
    scratch.check_refused(&authority, 1, &["`a/map.yaml`: there is no certificate"]);
    let certificate =
        ["apiserver", "--tls-cert-file", "a/map.yaml", "--tls-private-key-file", "a/map.yaml"];
    scratch.check_refused(&certificate, 1, &["`a/map.yaml`: there is no certificate"]);
    let plugin = ["apiserver", "--disable-admission-plugins", "LimitRanger,Nonsense"];
    scratch.check_refused(&plugin, 2, &["'Nonsense'", "NamespaceLifecycle, LimitRanger"]);
}
