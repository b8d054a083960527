//! Real clusters start, obey, and leave nothing behind.

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use flumen_testkit::{KubeCluster, Outcome};

/// Set for the process that the last test starts and kills.
const VICTIM: &str = "FLUMEN_TESTKIT_VICTIM";
const PATIENCE: Duration = Duration::from_secs(60);

fn text(outcome: &Outcome) -> String {
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
}

fn address(cluster: &KubeCluster) -> String {
    cluster.server().trim_start_matches("https://").to_owned()
}

#[test]
fn a_cluster_is_ready_and_keeps_what_is_put_into_it() {
    let Some(cluster) = KubeCluster::shared() else { return };
    assert_eq!(text(&cluster.kubectl(&["get", "--raw", "/readyz"])), "ok");
    let version = text(&cluster.kubectl(&["version", "--output=json"]));
    assert_eq!(version.matches(r#""gitVersion": "v1."#).count(), 2, "{version}");

    let [first, second] = [cluster.fresh_namespace(), cluster.fresh_namespace()];
    assert_ne!(first, second);
    let made = ["create", "configmap", "settings", "--from-literal=a=b", "--namespace", &first];
    text(&cluster.kubectl(&made));
    cluster.restart_apiserver();
    let value = ["get", "configmap", "settings", "--output=jsonpath={.data.a}", "--namespace"];
    assert_eq!(text(&cluster.kubectl(&[&value[..], &[&first]].concat())), "b");
    assert!(!cluster.kubectl(&[&value[..], &[&second]].concat()).succeeded());
}

#[test]
fn users_have_the_rights_that_they_are_given() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let within = ["--namespace", &*namespace];
    text(&cluster.kubectl(&[&["create", "serviceaccount", "robot"], &within[..]].concat()));
    let files = [
        cluster.user_kubeconfig("jane"),
        cluster.service_account_kubeconfig(&namespace, "robot"),
    ];
    for (file, subject) in files.iter().zip(["--user=jane", "--serviceaccount=robot"]) {
        let subject = match subject.strip_prefix("--serviceaccount=") {
            Some(name) => format!("--serviceaccount={namespace}:{name}"),
            None => subject.to_owned(),
        };
        let binding = format!("view-{}", subject.len());
        let file = format!("--kubeconfig={}", file.display());
        let list = [&[&*file, "get", "configmaps"], &within[..]].concat();
        let refused = cluster.kubectl(&list);
        assert!(refused.stderr.contains("Forbidden"), "{subject}: {}", refused.stderr);
        let grant = ["create", "rolebinding", &*binding, "--clusterrole=view", &*subject];
        text(&cluster.kubectl(&[&grant[..], &within[..]].concat()));
        wait_until(|| cluster.kubectl(&list).succeeded(), &subject);
    }
}

#[test]
fn controllers_work_where_they_are_asked_for() {
    let Some(cluster) = KubeCluster::start_with_controllers() else { return };
    let namespace = cluster.fresh_namespace();
    let within = ["--namespace", &*namespace];
    let deployment = ["create", "deployment", "web", "--image=registry.example.com/web:1"];
    text(&cluster.kubectl(&[&deployment[..], &within[..]].concat()));
    let wait = ["wait", "--for=create", "pod", "--selector=app=web", "--timeout=60s"];
    wait_until(|| cluster.kubectl(&[&wait[..], &within[..]].concat()).succeeded(), "a pod");
    text(&cluster.kubectl(&["delete", "namespace", &*namespace, "--timeout=60s"]));
}

#[test]
fn two_clusters_are_two_clusters() {
    let Some(first) = KubeCluster::shared() else { return };
    let Some(second) = KubeCluster::start() else { return };
    let namespace = first.fresh_namespace();
    text(&second.kubectl(&["create", "namespace", "only-there"]));
    assert!(first.kubectl(&["get", "namespace", &namespace]).succeeded());
    assert!(!first.kubectl(&["get", "namespace", "only-there"]).succeeded());

    let address = address(&second);
    let files = second.kubeconfig();
    drop(second);
    TcpStream::connect(address).expect_err("it has ended");
    assert!(!files.exists());
    assert!(first.kubectl(&["get", "--raw", "/readyz"]).succeeded());
}

#[test]
fn a_killed_test_process_leaves_no_cluster_behind() {
    if env::var_os(VICTIM).is_some() {
        return be_killed();
    }
    let Ok(mut victim) = Command::new(env::current_exe().expect("a path"))
        .args(["--exact", "kube_cluster::a_killed_test_process_leaves_no_cluster_behind"])
        .arg("--nocapture")
        .env(VICTIM, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        panic!("the test cannot start itself")
    };
    let output = BufReader::new(victim.stdout.take().expect("its output"));
    let told = output.lines().map_while(Result::ok).find_map(|line| {
        let (_, told) = line.split_once("cluster: ")?;
        told.split_once(' ').map(|(address, file)| (address.to_owned(), file.to_owned()))
    });
    let alive = told.as_ref().map(|(address, _)| TcpStream::connect(address).is_ok());
    victim.kill().expect("killed");
    victim.wait().expect("reaped");
    // Without the programs it has nothing to tell, and has said so as skipped.
    let Some((address, file)) = told else { return };
    assert_eq!(alive, Some(true));
    wait_until(|| TcpStream::connect(&address).is_err(), "the end of the API server");
    let directory = Path::new(&file).parent().expect("a directory");
    wait_until(|| !directory.exists(), "the directory to vanish");
}

/// Starts a cluster, tells where it is, and waits for the end.
fn be_killed() {
    use std::io::Write as _;

    let Some(cluster) = KubeCluster::shared() else { return };
    let file = cluster.kubeconfig();
    writeln!(std::io::stdout(), "cluster: {} {}", address(cluster), file.display()).expect("told");
    let _ = std::io::stdin().read(&mut [0]);
}

/// For what another program does in its own time.
fn wait_until(done: impl Fn() -> bool, what: &str) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
