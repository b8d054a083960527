use std::{fs, path::PathBuf};

use super::*;

const TWO: &str = "
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: first
  cluster: {server: 'https://first.example.com:6443', tls-server-name: inner.example.com}
- name: second
  cluster: {server: 'https://second.example.com/base/', insecure-skip-tls-verify: true}
contexts:
- name: one
  context: {cluster: first, user: jane, namespace: shop}
- name: two
  context: {cluster: second, user: robot}
users:
- name: jane
  user: {token: jane-token, as: root, as-groups: [a, b], as-user-extra: {scopes: [x]}}
- name: robot
  user: {username: robot, password: robot-password}
";

struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(directory.path().join(name), text).expect("written");
        }
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn resolved(options: ConnectOptions) -> Result<Target, Error> {
    let files = Files::new(&[("config", TWO)]);
    target(&ConnectOptions { kubeconfig: Some(files.path("config")), ..options })
}

#[track_caller]
fn check(result: Result<Target, Error>, message: &str, hint: &str) {
    let error = result.expect_err("an error");
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hint().unwrap_or_default(), hint);
}

#[test]
fn the_current_context_decides() {
    let target = resolved(ConnectOptions::default()).expect("a target");
    assert_eq!(target.address(), "https://first.example.com:6443");
    assert_eq!(target.namespace.as_deref(), Some("shop"));
    assert_eq!(target.cluster.tls_server_name.as_deref(), Some("inner.example.com"));
    assert!(target.user.token.is_some());
    assert_eq!(target.identity.user.as_deref(), Some("root"));
    assert_eq!(target.identity.groups, ["a", "b"]);
    assert_eq!(target.identity.extra["scopes"], ["x"]);
    assert!(target.user.impersonate.is_none(), "each request says it");
}

#[test]
fn options_choose_and_override() {
    let options = ConnectOptions { context: Some("two".into()), ..Default::default() };
    let target = resolved(options).expect("a target");
    assert_eq!(target.address(), "https://second.example.com/base");
    assert_eq!(target.namespace, None);
    assert!(target.cluster.insecure_skip_tls_verify);

    let options = ConnectOptions {
        cluster: Some("second".into()),
        user: Some("robot".into()),
        namespace: Some("other".into()),
        token: Some("new".into()),
        identity: Identity::user("alice"),
        ..Default::default()
    };
    let target = resolved(options).expect("a target");
    assert_eq!(target.address(), "https://second.example.com/base");
    assert_eq!(target.namespace.as_deref(), Some("other"));
    assert!(target.user.token.is_some() && target.user.password.is_none());
    assert_eq!(target.identity, Identity::user("alice"));
}

#[test]
fn a_name_for_the_certificate_belongs_to_its_server() {
    let options =
        ConnectOptions { server: Some("https://other.example.com".into()), ..Default::default() };
    let target = resolved(options).expect("a target");
    assert_eq!(target.address(), "https://other.example.com");
    assert_eq!(target.cluster.tls_server_name, None);
}

#[test]
fn an_address_needs_no_kubeconfig() {
    let options = ConnectOptions { server: Some("localhost:8080".into()), ..Default::default() };
    let target = target(&options).expect("a target");
    assert_eq!(target.address(), "http://localhost:8080");
    let options = ConnectOptions { insecure_skip_tls_verify: true, ..options };
    let target = super::target(&options).expect("a target");
    assert_eq!(target.address(), "https://localhost:8080");
}

#[test]
fn files_are_merged_and_the_first_one_wins() {
    let other = TWO
        .replace("https://first", "https://shadowed")
        .replace("current-context: one", "current-context: two")
        .replace("name: two", "name: three");
    let files = Files::new(&[("a", TWO), ("b", &other)]);
    let search = vec![files.path("missing"), files.path("a"), files.path("b")];
    let options = ConnectOptions { search, ..Default::default() };
    let address = target(&options).expect("a target").address();
    assert_eq!(address, "https://first.example.com:6443");
    let options = ConnectOptions { context: Some("three".into()), ..options };
    let address = target(&options).expect("a target").address();
    assert_eq!(address, "https://second.example.com/base");
}

#[test]
fn what_is_not_there_is_named_beside_what_is() {
    let options = ConnectOptions { context: Some("three".into()), ..Default::default() };
    let message = "the kubeconfig has no context `three`";
    check(resolved(options), message, "there are `one`, `two`");
    let options = ConnectOptions { cluster: Some("third".into()), ..Default::default() };
    let message = "the kubeconfig has no cluster `third`";
    check(resolved(options), message, "there are `first`, `second`");
    let options = ConnectOptions { user: Some("joe".into()), ..Default::default() };
    let message = "the kubeconfig has no user `joe`";
    check(resolved(options), message, "there are `jane`, `robot`");

    let text = TWO.replace("current-context: one", "");
    let hint = "choose one with `--context`: `one`, `two`";
    let options = ConnectOptions::default();
    let message = "the kubeconfig sets no current context";
    check(target_of_text(&text, &options), message, hint);
    let text = TWO.replace("server: 'https://first.example.com:6443', ", "");
    let message = "the kubeconfig gives no server address for the cluster `first`";
    check(target_of_text(&text, &options), message, "give one with `--server`");
}

#[test]
fn no_kubeconfig_says_where_one_was_looked_for() {
    let files = Files::new(&[("empty", "")]);
    let search = vec![files.path("missing"), files.path("empty")];
    let shown: Vec<String> = search.iter().map(|path| format!("`{}`", path.display())).collect();
    let hint = "name one with `--kubeconfig` or `KUBECONFIG`, or an address with `--server`; \
                looked at ";
    let message = "no kubeconfig was found, and this is not a pod of a cluster";
    let options = ConnectOptions { search, ..Default::default() };
    check(target(&options), message, &format!("{hint}{}", shown.join(", ")));

    let path = files.path("missing");
    let named = ConnectOptions { kubeconfig: Some(path.clone()), ..Default::default() };
    let message = format!("the kubeconfig `{}` cannot be read", path.display());
    check(target(&named), &message, "");
}

#[test]
fn errors_show_no_part_of_the_file() {
    for text in ["users: [{name: a, user: {token: [hunter2]}}]", "users: hunter2", "a: 'hunter2"] {
        let error = target_of_text(text, &ConnectOptions::default()).expect_err("an error");
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(error.to_string().starts_with("the text is not a kubeconfig"), "{error}");
    }
}

#[test]
fn addresses_are_checked_without_showing_passwords() {
    for address in ["https://user:hunter2@example.com", "ftp://example.com", "https://", "ht tp://"]
    {
        let options = ConnectOptions { server: Some(address.into()), ..Default::default() };
        let error = target(&options).expect_err("no address");
        assert!(error.to_string().ends_with("is not the address of a server"), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn a_kubeconfig_of_others_runs_and_reads_nothing() {
    let refused = |text: String, what: &str| {
        let hint = "put a token, or certificate and key, into the kubeconfig itself";
        let message = format!("the kubeconfig is refused: it uses {what}");
        check(target_of_text(&text, &ConnectOptions::default()), &message, hint);
    };
    let user = |fields: &str| TWO.replace("token: jane-token", fields);
    let exec = user("exec: {apiVersion: client.authentication.k8s.io/v1, command: touch}");
    refused(exec, "a program for its credentials (`exec`)");
    refused(user("auth-provider: {name: gcp}"), "an `auth-provider`");
    refused(user("tokenFile: /etc/passwd"), "a file (`tokenFile`)");
    refused(user("client-certificate: a.pem"), "a file (`client-certificate`)");
    refused(user("token: x, client-key: a.pem"), "a file (`client-key`)");
    let cluster = TWO.replace("tls-server-name", "certificate-authority: ca.pem, tls-server-name");
    refused(cluster, "a file (`certificate-authority`)");

    let options = ConnectOptions { context: Some("two".into()), ..Default::default() };
    let target = target_of_text(TWO, &options).expect("a target");
    assert!(!target.cluster.insecure_skip_tls_verify, "the server is always checked");
}
