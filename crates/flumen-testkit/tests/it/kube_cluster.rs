//! Real clusters start, obey, and leave nothing behind.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use flumen_testkit::{KubeCluster, Outcome, PATIENCE};

/// Set for the process that a test starts and kills.
const VICTIM: &str = "FLUMEN_TESTKIT_VICTIM";

fn text(outcome: &Outcome) -> String {
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
}

fn address(cluster: &KubeCluster) -> String {
    cluster.server().trim_start_matches("https://").to_owned()
}

#[test]
fn a_cluster_is_ready_and_has_a_namespace_for_each_test() {
    let Some(cluster) = KubeCluster::shared() else { return };
    assert_eq!(text(&cluster.kubectl(&["get", "--raw", "/readyz"])), "ok");
    let version = text(&cluster.kubectl(&["version", "--output=json"]));
    assert_eq!(version.matches(r#""gitVersion": "v1."#).count(), 2, "{version}");

    let [first, second] = [cluster.fresh_namespace(), cluster.fresh_namespace()];
    assert_ne!(first, second);
    text(&cluster.kubectl(&["get", "namespace", &first, &second]));
}

#[test]
fn users_have_the_rights_that_they_are_given() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let within = ["--namespace", &*namespace];
    text(&cluster.kubectl(&[&["create", "serviceaccount", "robot"], &within[..]].concat()));
    let reader = ["create", "role", "reader", "--verb=list", "--resource=configmaps"];
    text(&cluster.kubectl(&[&reader[..], &within[..]].concat()));

    let robot = format!("--serviceaccount={namespace}:robot");
    let cases = [
        ("jane", "--user=jane", cluster.user_kubeconfig("jane")),
        ("robot", &*robot, cluster.service_account_kubeconfig(&namespace, "robot")),
    ];
    for (name, subject, file) in cases {
        let file = format!("--kubeconfig={}", file.display());
        let list = [&[&*file, "get", "configmaps"], &within[..]].concat();
        let refused = cluster.kubectl(&list);
        assert!(refused.stderr.contains("Forbidden"), "{name}: {}", refused.stderr);
        let grant = ["create", "rolebinding", name, "--role=reader", subject];
        text(&cluster.kubectl(&[&grant[..], &within[..]].concat()));
        wait_until(|| cluster.kubectl(&list).succeeded(), name);
    }
}

#[test]
fn controllers_work_where_they_are_asked_for() {
    let Some(cluster) = KubeCluster::start_with_controllers() else { return };
    let namespace = cluster.fresh_namespace();
    let within = ["--namespace", &*namespace];
    let deployment = ["create", "deployment", "web", "--image=registry.example.com/web:1"];
    text(&cluster.kubectl(&[&deployment[..], &within[..]].concat()));
    let wait = ["wait", "--for=create", "pod", "--selector=app=web", "--timeout=4m"];
    wait_until(|| cluster.kubectl(&[&wait[..], &within[..]].concat()).succeeded(), "a pod");
    text(&cluster.kubectl(&["delete", "namespace", &*namespace, "--timeout=4m"]));
}

#[test]
fn two_clusters_are_two_and_each_survives_a_restart() {
    let Some(first) = KubeCluster::shared() else { return };
    let Some(second) = KubeCluster::start() else { return };
    let namespace = first.fresh_namespace();
    text(&second.kubectl(&["create", "namespace", "only-there"]));
    let server = second.server().to_owned();
    second.restart_apiserver();
    assert_eq!(second.server(), server);
    text(&second.kubectl(&["get", "namespace", "only-there"]));
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
    let name = "kube_cluster::a_killed_test_process_leaves_no_cluster_behind";
    let mut victim = Command::new(env::current_exe().expect("a path"))
        .args(["--exact", name, "--nocapture"])
        .env(VICTIM, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test starts itself");
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
    let Some(cluster) = KubeCluster::shared() else { return };
    let file = cluster.kubeconfig();
    writeln!(io::stdout(), "cluster: {} {}", address(cluster), file.display()).expect("told");
    let _ = io::stdin().read(&mut [0]);
}

/// For what another program does in its own time.
fn wait_until(done: impl Fn() -> bool, what: &str) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
