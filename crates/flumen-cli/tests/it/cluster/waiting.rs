//! Health: what is waited for, and why it takes so long.

use std::{
    io::{BufRead as _, BufReader, Lines},
    process::{Child, ChildStderr, Command, Stdio},
};

use super::{Site, definition, deployment, map, widget};

fn ready(site: &Site) {
    let status = r#"{"status": {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}}"#;
    site.kubectl_done(&[
        "patch",
        "deployment/web",
        "--subresource=status",
        "--type=merge",
        "-p",
        status,
    ]);
}

/// Starts the command and hands out what it says, line by line.
fn start(site: &Site, args: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut child = Command::new(crate::binary())
        .args(args)
        .args(["--kubeconfig", &site.kubeconfig, "-n", &site.namespace])
        .current_dir(site.scratch.path())
        .env("HOME", site.scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    (child, said)
}

#[test]
fn what_is_not_healthy_in_time_is_named() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), deployment("web", "replicas: 1")]);
    let args = ["apply", "-f", "app.yaml", "--inventory", "app", "--wait", "--timeout", "15s"];
    let error = site.refusal(&args);
    let subject = format!("Deployment/{}/web", site.namespace);
    assert!(error.contains("timeout waiting for: ["), "{error}");
    assert!(error.contains(&subject), "{error}");
    assert!(error.contains("waiting for 1 object: "), "it says what it waits for: {error}");
    let error = site.refusal(&["wait", "inventory", "app", "--timeout", "1s"]);
    assert!(error.contains(&subject), "{error}");

    ready(&site);
    assert_eq!(site.printed(&["wait", "inventory", "app", "--timeout", "4m"]), "");
    site.apply("app.yaml", &["--wait", "--timeout", "4m"]);
}

#[test]
fn a_run_waits_until_things_are_ready() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[deployment("web", "replicas: 1")]);
    let (mut child, mut lines) = start(
        &site,
        &["apply", "-f", "app.yaml", "--inventory", "app", "--wait", "--timeout", "4m"],
    );
    let waits =
        lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("waiting for 1 object")));
    assert!(waits.is_some(), "it says that it waits");
    ready(&site);
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    let status = child.wait().expect("it ends");
    assert!(status.success(), "{said:?}");
    assert!(said.last().is_some_and(|line| line.ends_with("1 created, all healthy")), "{said:?}");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_ends_and_is_completed_by_the_next() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[deployment("web", "replicas: 1")]);
    let (mut child, mut lines) = start(
        &site,
        &["apply", "-f", "app.yaml", "--inventory", "app", "--wait", "--timeout", "5m"],
    );
    assert!(lines.any(|line| line.is_ok_and(|line| line.starts_with("waiting for 1 object"))));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.expect("kill runs").success());
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "{said:?}");
    assert!(said.iter().any(|line| line.contains("interrupted")), "{said:?}");
    let inventory = site.object("configmap/inv-app").expect("written before the object");
    assert!(inventory["data"]["resources"].as_str().is_some_and(|text| text.contains("web")));
    ready(&site);
    site.apply("app.yaml", &["--wait", "--timeout", "4m"]);
}

#[test]
fn a_kind_that_comes_late_does_not_hold_up_the_rest() {
    let Some(site) = Site::new() else { return };
    let group = format!("late.{}.example.com", site.namespace);
    site.manifests("app.yaml", &[map("a", "1"), widget(&group, "w")]);
    let args = ["apply", "-f", "app.yaml", "--inventory", "app", "--timeout", "2s"];
    let error = site.refusal(&args);
    let subject = format!("Widget/{}/w", site.namespace);
    assert!(error.contains(&subject) || error.contains("Widget/w"), "{error}");
    assert!(error.contains(&format!("{group}/v1")), "{error}");
    assert!(site.object("configmap/a").is_some());

    let (mut child, mut lines) =
        start(&site, &["apply", "-f", "app.yaml", "--inventory", "app", "--timeout", "4m"]);
    assert!(
        lines.any(
            |line| line.is_ok_and(|line| line.starts_with("waiting for the kinds of 1 object"))
        )
    );
    site.scratch.write("definition.yaml", &definition(&group));
    let file = site.scratch.path().join("definition.yaml").display().to_string();
    site.kubectl_done(&["apply", "-f", &file]);
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    assert!(child.wait().expect("it ends").success(), "{said:?}");
    assert!(site.object(&format!("widgets.{group}/w")).is_some());
}
