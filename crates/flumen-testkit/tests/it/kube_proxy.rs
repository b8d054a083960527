//! The proxy hands on faithfully, counts, and fails as it is told.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
    time::Duration,
};

use flumen_testkit::{Fault, FaultPlan, KubeCluster, KubeProxy, KubeRequest, kube_program};

fn kubectl(proxy: &KubeProxy, arguments: &[&str]) -> Command {
    let mut command = Command::new(kube_program("kubectl").expect("it is there"));
    command.arg("--kubeconfig").arg(proxy.kubeconfig()).args(arguments);
    // Its cache of discovery would make the number of requests depend on earlier runs.
    command.env("KUBECACHEDIR", proxy.kubeconfig().with_file_name("cache"));
    command
}

/// Runs `kubectl`; its output when it succeeded, else what it said.
fn ask(proxy: &KubeProxy, arguments: &[&str]) -> Result<String, String> {
    let output = kubectl(proxy, arguments).output().expect("`kubectl` starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

fn config_map_written(request: &KubeRequest) -> bool {
    request.is_write() && request.resource().as_deref() == Some("configmaps")
}

/// A plan under which every matching request meets the one fault.
fn always(fault: Fault) -> FaultPlan {
    FaultPlan { seed: 1, percent: 100, faults: vec![fault] }
}

fn create<'a>(name: &'a str, namespace: &'a str) -> [&'a str; 6] {
    ["create", "configmap", name, "--from-literal=a=b", "--namespace", namespace]
}

#[test]
fn requests_are_forwarded_and_counted() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    let made = create("settings", &namespace);
    ask(&proxy, &made).expect("created");
    ask(&proxy, &[&["--dry-run=server"], &made[..]].concat()).expect_err("it exists");
    let stored = ["get", "configmap", "settings", "--output=jsonpath={.data.a}", "--namespace"];
    assert_eq!(ask(&proxy, &[&stored[..], &[&namespace]].concat()).expect("read"), "b");

    assert_eq!(proxy.count(config_map_written), 1);
    assert_eq!(proxy.count(KubeRequest::is_dry_run), 1);
    let reads = |request: &KubeRequest| request.verb() == "get" && request.name().is_some();
    assert_eq!(proxy.count(reads), 1);
    proxy.forget();
    assert!(proxy.requests().is_empty());
}

#[test]
fn a_watch_is_a_stream() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    let watch = ["get", "configmaps", "--watch", "--output=name", "--namespace", &*namespace];
    let mut watching =
        kubectl(&proxy, &watch).stdout(Stdio::piped()).spawn().expect("`kubectl` starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("its output")).lines();
    for name in ["first", "second"] {
        // Only after the event of the one does the next come into being.
        assert!(cluster.kubectl(&create(name, &namespace)).succeeded());
        let line = lines.next().expect("a line").expect("it reads");
        assert_eq!(line, format!("configmap/{name}"));
    }
    watching.kill().expect("killed");
    watching.wait().expect("reaped");
    assert_eq!(proxy.count(|request| request.verb() == "watch"), 1);
}

#[test]
fn credentials_of_the_client_are_passed_on() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    let list = ["get", "configmaps", "--namespace", &*namespace];
    ask(&proxy, &list).expect("all rights");
    let refused = ask(&proxy, &[&["--as=jane"], &list[..]].concat()).expect_err("no rights");
    assert!(refused.contains(r#"User "jane" cannot list"#), "{refused}");

    // `kubectl` sends no token without TLS.
    let address = proxy.server().trim_start_matches("http://");
    let mut connection = TcpStream::connect(address).expect("it listens");
    let request = format!(
        "GET /api/v1/namespaces HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         authorization: Bearer wrong\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).expect("written");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("read");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn faults_are_what_they_say() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    let exists = |name: &str| {
        cluster.kubectl(&["get", "configmap", name, "--namespace", &namespace]).succeeded()
    };
    let cases = [
        (Fault::InternalError, "internal", false, false),
        (Fault::Unavailable, "unavailable", false, false),
        (Fault::DropBefore, "before", false, false),
        (Fault::DropAfter, "after", false, true),
        (Fault::Delay(Duration::from_millis(1)), "late", true, true),
    ];
    for (fault, name, succeeds, happens) in cases {
        proxy.inject(always(fault), config_map_written);
        let answer = ask(&proxy, &create(name, &namespace));
        assert_eq!(answer.is_ok(), succeeds, "{fault:?}: {answer:?}");
        assert_eq!(exists(name), happens, "{fault:?}");
        assert!(proxy.count(|request| request.fault == Some(fault)) >= 1, "{fault:?}");
    }
    proxy.heal();
    ask(&proxy, &create("healed", &namespace)).expect("nothing goes wrong");
}

#[test]
fn a_client_is_told_when_to_come_again() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    // The client waits the one second that it is told, tries again, and meets no fault.
    let half =
        FaultPlan { seed: 4, percent: 50, faults: vec![Fault::TooManyRequests { retry_after: 1 }] };
    proxy.inject(half, config_map_written);
    for name in ["one", "two", "three", "four"] {
        ask(&proxy, &create(name, &namespace)).expect("it comes again");
    }
    let refused = proxy.count(|request| request.fault.is_some());
    assert!(refused >= 1);
    assert_eq!(proxy.count(config_map_written), 4 + refused);
}

#[test]
fn a_client_can_be_killed_between_any_two_requests() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (proxy, namespace) = (KubeProxy::start(cluster), cluster.fresh_namespace());
    let manifest = proxy.kubeconfig().with_file_name("three.yaml");
    let three = [1, 2, 3]
        .map(|number| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{number}}}\n"));
    fs::write(&manifest, three.join("---\n")).expect("written");
    let file = manifest.to_string_lossy();
    let apply = ["apply", "--server-side", "--namespace", &*namespace, "--filename", &*file];
    let list = ["get", "configmaps", "--output=name", "--namespace", &*namespace];
    for passes in 0..=3 {
        let mut client = kubectl(&proxy, &apply);
        let outcome = proxy.kill_after(passes, config_map_written, &mut client).expect("runs");
        assert_eq!(outcome.timed_out, passes < 3, "{}", outcome.stderr);
        assert_eq!(proxy.count(|request| request.held) > 0, passes < 3);
        proxy.forget();
        let made = cluster.kubectl(&list);
        let made = String::from_utf8_lossy(&made.stdout).lines().count();
        assert_eq!(made, passes);
    }
}
