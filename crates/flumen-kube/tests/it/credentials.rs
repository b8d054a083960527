//! What requests carry so that the server knows their sender.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_kube::{Client, Cluster as _, ConnectOptions, Error, ObjectName};
use flumen_object::Gvk;
use flumen_testkit::{Certificate, KubeCluster};
use flumen_yaml::Node;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    identities::who,
    support::{Head, Scripted, config_maps, connect, node, options, text},
};

const EXPIRED: &str = "2000-01-01T00:00:00Z";

/// A directory with a kubeconfig and with what the plugin in it reads and writes.
struct Plugin {
    directory: tempfile::TempDir,
    /// The fields of the cluster.
    cluster: String,
}

impl Plugin {
    fn new(server: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, cluster: format!("server: '{server}'") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Sets what the script finds in the file `status`.
    fn set_status(&self, status: &Value) {
        let answer = json!({"kind": "ExecCredential", "status": status});
        fs::write(self.path("status"), answer.to_string()).expect("written");
    }

    /// A kubeconfig whose plugin is a shell script that runs in the directory.
    fn kubeconfig(&self, script: &str, fields: &str) -> PathBuf {
        let directory = self.directory.path().display();
        let script = format!("cd '{directory}'; {script}").replace('\'', "''");
        let text = format!(
            "current-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
             clusters: [{{name: a, cluster: {{{}}}}}]\nusers:\n- name: a\n  user:\n    exec:\n      \
             apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      \
             command: sh\n      args: [-c, '{script}']\n{fields}",
            self.cluster
        );
        fs::write(self.path("config"), text).expect("written");
        self.path("config")
    }

    async fn client(&self, script: &str) -> Client {
        connect(&self.kubeconfig(script, "")).await
    }

    /// Why no client could be made.
    async fn failure(&self, script: &str) -> String {
        let error = Client::connect(&options(&self.kubeconfig(script, ""))).await;
        let error = error.expect_err("no credentials");
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(!shown.contains("hunter2"), "{shown}");
        error.to_string()
    }
}

/// Counts its runs and prints a token with their number.
fn counting(expires: Option<&str>) -> String {
    let expiry = expires.map(|time| format!(r#", expirationTimestamp: "{time}""#));
    let expiry = expiry.unwrap_or_default().replace('"', r#"\""#);
    format!(
        r#"echo run >> runs; n=$(wc -l < runs); echo "{{status: {{token: token-$((n)){expiry}}}}}""#
    )
}

/// Asks the server for something that it does not have: two requests.
async fn ask(client: &Client) -> Result<(), Error> {
    client.forget_resources();
    client.resource(&Gvk::new(&"v1".into(), "Pod".into())).await.map(drop)
}

/// The tokens of the requests in their order.
fn tokens(server: &Scripted) -> Vec<String> {
    let header = |head: &Head| head.header("authorization").map(str::to_owned);
    server.heads().iter().filter_map(header).collect()
}

const NOTHING: (u16, &str) = (200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#);

#[tokio::test]
async fn a_plugin_runs_again_when_its_token_expires() {
    for (expires, runs) in [(None, 1), (Some("2999-01-01T00:00:00Z"), 1), (Some(EXPIRED), 5)] {
        let server = Scripted::start(|_, _| NOTHING).await;
        let plugin = Plugin::new(server.address());
        let client = plugin.client(&counting(expires)).await;
        ask(&client).await.expect("an answer");
        ask(&client).await.expect("an answer");
        assert_eq!(plugin.read("runs").lines().count(), runs, "{expires:?}");
        let mut sent = tokens(&server);
        sent.sort();
        let expected: Vec<_> = match runs {
            1 => vec!["Bearer token-1".to_owned(); 4],
            _ => (2..=5).map(|run| format!("Bearer token-{run}")).collect(),
        };
        assert_eq!(sent, expected, "{expires:?}");
    }
}

#[tokio::test]
async fn a_plugin_runs_again_when_the_server_refuses_its_token() {
    let server = Scripted::start(|_, earlier| match earlier {
        0 => (401, r#"{"kind":"Status","code":401,"reason":"Unauthorized"}"#),
        _ => NOTHING,
    })
    .await;
    let plugin = Plugin::new(server.address());
    let client = plugin.client(&counting(None)).await;
    let maps = config_maps();
    let object = ObjectName { resource: &maps, namespace: "default", name: "a" };
    let error = client.get(object).await.expect_err("refused");
    assert!(error.is_unauthorized(), "{error:?}");
    for _ in 0..2 {
        client.get(object).await.expect("an answer");
    }
    assert_eq!(tokens(&server), ["Bearer token-1", "Bearer token-2", "Bearer token-2"]);
}

#[tokio::test]
async fn a_plugin_runs_once_at_a_time() {
    let server = Scripted::start(|_, _| NOTHING).await;
    let plugin = Plugin::new(server.address());
    let script = "mkdir running || echo clash >> clashes; cat status; rmdir running";
    plugin.set_status(&json!({"token": "t", "expirationTimestamp": EXPIRED}));
    let client = plugin.client(script).await;
    for answer in join_all((0..10).map(|_| ask(&client))).await {
        answer.expect("an answer");
    }
    assert_eq!(plugin.read("clashes"), "");
}

#[tokio::test]
async fn a_plugin_that_fails_later_fails_the_request() {
    let server = Scripted::start(|_, _| NOTHING).await;
    let plugin = Plugin::new(server.address());
    plugin.set_status(&json!({"token": "hunter2", "expirationTimestamp": EXPIRED}));
    let client = plugin.client("cat status || { echo no card >&2; exit 3; }").await;
    fs::remove_file(plugin.path("status")).expect("removed");
    let error = ask(&client).await.expect_err("no token");
    let message = "no credentials: `sh` failed with exit status: 3: no card";
    assert_eq!(error.to_string(), message);
    assert!(server.heads().is_empty(), "nothing is sent without credentials");

    plugin.set_status(&json!({"token": "t"}));
    ask(&client).await.expect("the plugin works again");
}

#[tokio::test]
async fn answers_of_plugins_that_are_none_are_not_shown() {
    let plugin = Plugin::new("http://127.0.0.1:1");
    let check = async |script: &str, reason: &str| {
        assert_eq!(plugin.failure(script).await, format!("no credentials: {reason}"), "{script}");
    };
    let unreadable = "what `sh` printed cannot be read";
    check("echo hunter2", unreadable).await;
    check("echo '{hunter2'", unreadable).await;
    check(r"printf 'hunter2\377'", unreadable).await;
    check("true", unreadable).await;
    check("echo '{status: hunter2}'", unreadable).await;
    check("echo '{status: {token: [hunter2]}}'", unreadable).await;
    let none = "`sh` printed no credentials";
    check("echo '{kind: ExecCredential}'", none).await;
    check("echo '{status: {}}'", none).await;
    let half = "`sh` printed only one of client certificate and key";
    check("echo '{status: {clientKeyData: hunter2}}'", half).await;
    let time = "the `expirationTimestamp` that `sh` printed is not a time";
    check("echo '{status: {token: t, expirationTimestamp: hunter2}}'", time).await;
    let script = "echo hunter2; echo first >&2; echo ' why ' >&2; echo >&2; exit 3";
    check(script, "`sh` failed with exit status: 3: why").await;
    let script = "echo '{status: {clientCertificateData: hunter2, clientKeyData: hunter2}}'";
    let message = "no secure connection can be made: \
                   there is no certificate in the `clientCertificateData` that `sh` printed";
    assert_eq!(plugin.failure(script).await, message);

    let text = fs::read_to_string(plugin.kubeconfig("true", "")).expect("a kubeconfig");
    let text = text.replace("command: sh", "command: no-such-program");
    fs::write(plugin.path("config"), text).expect("written");
    let error = Client::connect(&options(&plugin.path("config"))).await.expect_err("no program");
    let message =
        "no credentials: `no-such-program` cannot be run: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn plugins_learn_what_they_are_asked_for() {
    let mut plugin = Plugin::new("127.0.0.1:1/base/");
    let script = "printf %s \"$KUBERNETES_EXEC_INFO\" > info; printf %s \"$EXTRA\" > extra; \
                  echo '{status: {token: t}}'";
    let info =
        |plugin: &Plugin| -> Value { serde_json::from_str(&plugin.read("info")).expect("JSON") };
    plugin.client(script).await;
    let version = "client.authentication.k8s.io/v1";
    let expected =
        json!({"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": false}});
    assert_eq!(info(&plugin), expected);

    plugin.cluster += ", certificate-authority: ca.pem, tls-server-name: inner, extensions: \
        [{name: client.authentication.k8s.io/exec, extension: {audience: shop}}]";
    let fields = "      provideClusterInfo: true\n      env: [{name: EXTRA, value: more}]\n";
    let authority = Certificate::for_loopback(plugin.directory.path()).expect("a certificate");
    let authority = fs::read(authority.authority).expect("a file");
    connect(&plugin.kubeconfig(script, fields)).await;
    let cluster = json!({
        "server": "https://127.0.0.1:1/base",
        "certificate-authority-data": STANDARD.encode(authority),
        "tls-server-name": "inner",
        "config": {"audience": "shop"},
    });
    assert_eq!(info(&plugin)["spec"], json!({"interactive": false, "cluster": cluster}));
    assert_eq!(plugin.read("extra"), "more");
}

/// The value of a field of the first cluster or user of a kubeconfig: base64, or the path of a file.
fn pem(kubeconfig: &Path, list: &str, path: [&str; 2]) -> String {
    let kubeconfig = node(&fs::read_to_string(kubeconfig).expect("a kubeconfig"));
    let first = &kubeconfig.get(list).and_then(Node::as_seq).expect("a list")[0];
    let bytes = match text(first, &[path[0], &format!("{}-data", path[1])]) {
        "" => fs::read(text(first, &path)).expect("a file"),
        data => STANDARD.decode(data).expect("base64"),
    };
    String::from_utf8(bytes).expect("PEM")
}

/// Certificate and key of a user.
fn identity(cluster: &KubeCluster, name: &str) -> [String; 2] {
    let kubeconfig = cluster.user_kubeconfig(name);
    ["client-certificate", "client-key"].map(|field| pem(&kubeconfig, "users", ["user", field]))
}

fn authority(cluster: &KubeCluster) -> String {
    pem(&cluster.kubeconfig(), "clusters", ["cluster", "certificate-authority"])
}

#[tokio::test]
async fn a_plugin_gives_a_certificate_and_another_one_later() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let mut plugin = Plugin::new(cluster.server());
    plugin.cluster += ", certificate-authority: ca.pem";
    fs::write(plugin.path("ca.pem"), authority(cluster)).expect("written");
    let set = |name: &str, expires: &str| {
        let [certificate, key] = identity(cluster, name);
        plugin.set_status(&json!({
            "clientCertificateData": certificate,
            "clientKeyData": key,
            "expirationTimestamp": expires,
        }));
    };
    set("jane", "2999-01-01T00:00:00Z");
    let jane = plugin.client("cat status").await;
    set("joe", EXPIRED);
    assert_eq!(who(&jane).await.0, "jane", "it runs once");

    let client = plugin.client("cat status").await;
    assert_eq!(who(&client).await.0, "joe");
    set("jane", EXPIRED);
    assert_eq!(who(&client).await.0, "jane", "connections of the old certificate are not used");
}

#[tokio::test]
async fn certificates_and_keys_may_be_files_beside_the_kubeconfig() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("ca.pem"), authority(cluster)).expect("written");
    for name in ["jane", "joe"] {
        let [certificate, key] = identity(cluster, name);
        fs::write(path(&format!("{name}.pem")), certificate).expect("written");
        fs::write(path(&format!("{name}-key.pem")), key).expect("written");
    }
    let text = format!(
        "current-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: '{}', certificate-authority: ca.pem}}}}]\n\
         users: [{{name: a, user: {{client-certificate: jane.pem, client-key: jane-key.pem}}}}]",
        cluster.server()
    );
    fs::write(path("config"), text).expect("written");
    assert_eq!(who(&connect(&path("config")).await).await.0, "jane");

    let options = ConnectOptions {
        client_certificate: Some(path("joe.pem")),
        client_key: Some(path("joe-key.pem")),
        ..options(&path("config"))
    };
    assert_eq!(who(&Client::connect(&options).await.expect("a client")).await.0, "joe");
}
