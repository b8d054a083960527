//! Who is asking.

use flumen_kube::{Client, Cluster as _, Identity, ObjectName};
use flumen_testkit::KubeCluster;
use flumen_yaml::{Node, to_json};

use crate::support::{MANAGER, client, config_map, connect, node, options, resource};

/// Name and groups, as the server sees them.
pub(crate) async fn who(client: &Client) -> (String, String) {
    let reviews = resource(client, "authentication.k8s.io/v1", "SelfSubjectReview").await;
    let review = node("{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}");
    let object = ObjectName { resource: &reviews, namespace: "", name: "" };
    let answer = client.create(object, &review, MANAGER).await.expect("reviewed");
    let user = answer.at(&["status", "userInfo"]).expect("a user");
    let name = user.get("username").and_then(Node::as_str).unwrap_or_default().to_owned();
    let groups = user.get("groups").map(|groups| to_json(groups).expect("JSON"));
    (name, groups.unwrap_or_default())
}

#[tokio::test]
async fn certificates_and_tokens_say_who_one_is() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let jane = connect(&cluster.user_kubeconfig("jane")).await;
    assert_eq!(who(&jane).await.0, "jane");
    let made = cluster.kubectl(&["create", "serviceaccount", "robot", "--namespace", &namespace]);
    assert!(made.succeeded(), "{}", made.stderr);
    let robot = connect(&cluster.service_account_kubeconfig(&namespace, "robot")).await;
    assert_eq!(who(&robot).await.0, format!("system:serviceaccount:{namespace}:robot"));

    let maps = resource(&jane, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    let error = jane.create(object, &config_map("a", "1"), MANAGER).await.expect_err("no right");
    assert!(error.is_forbidden() && !error.is_namespace_terminating(), "{error:?}");
    assert!(error.to_string().contains("\"jane\" cannot create"), "{error}");
    assert!(error.hint().expect("a hint").contains("--as"));
}

#[tokio::test]
async fn one_connection_serves_many_identities() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let admin = client(cluster).await;
    let robot = admin.acting_as(&Identity::service_account("shop", "robot")).expect("an identity");
    let (name, groups) = who(&robot).await;
    assert_eq!(name, "system:serviceaccount:shop:robot");
    assert_eq!(
        groups,
        r#"["system:serviceaccounts","system:serviceaccounts:shop","system:authenticated"]"#,
        "the groups of the account are the server's to add"
    );
    let jane = Identity { groups: vec!["a".into(), "b".into()], ..Identity::user("jane") };
    let (name, groups) = who(&robot.acting_as(&jane).expect("an identity")).await;
    assert_eq!((&*name, &*groups), ("jane", r#"["a","b","system:authenticated"]"#));
    assert_eq!(who(&admin).await.0, "admin");

    let mut options = options(&cluster.kubeconfig());
    options.identity = jane;
    let jane = Client::connect(&options).await.expect("a client");
    assert_eq!(who(&jane).await.0, "jane");
}

#[tokio::test]
async fn a_plugin_gives_the_token_and_is_run_once() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let made = cluster.kubectl(&["create", "serviceaccount", "robot", "--namespace", &namespace]);
    assert!(made.succeeded(), "{}", made.stderr);
    let token = cluster.kubectl(&["create", "token", "robot", "--namespace", &namespace]).stdout;
    let token = String::from_utf8_lossy(&token).trim().to_owned();

    let directory = tempfile::tempdir().expect("a directory");
    let runs = directory.path().join("runs");
    let answer = format!(
        r#"{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{token}"}}}}"#
    );
    let script = format!("echo run >> '{}'; echo '{answer}'", runs.display());
    let plugin = |script: &str| {
        let script = script.replace('\'', "''");
        let text = std::fs::read_to_string(cluster.kubeconfig()).expect("a kubeconfig");
        let (head, _) = text.split_once("users:").expect("users");
        let path = directory.path().join("config");
        let text = format!(
            "{head}users:\n- name: test\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      \
             interactiveMode: Never\n      command: sh\n      args: [-c, '{script}']\n"
        );
        std::fs::write(&path, text).expect("written");
        path
    };
    let robot = connect(&plugin(&script)).await;
    assert_eq!(who(&robot).await.0, format!("system:serviceaccount:{namespace}:robot"));
    assert_eq!(std::fs::read_to_string(&runs).expect("runs"), "run\n");

    let failing = plugin("echo hunter2; echo the card is missing >&2; exit 3");
    let error = Client::connect(&options(&failing)).await.expect_err("no token");
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("`sh` failed") && shown.contains("the card is missing"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
