//! Other people's clients.

use std::{fs, path::Path};

use flumen_testkit::{Outcome, PATIENCE, run, skip, tool};

use crate::client::{Fixture, assert_refused, sha256};

/// Runs a judge beside the registry, which must not be held up by it.
async fn judge(program: &Path, arguments: &[&str], directory: &Path) -> Outcome {
    let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    let (program, directory) = (program.to_owned(), directory.to_owned());
    let work = move || run(&program, &arguments, &directory, PATIENCE);
    let outcome = tokio::task::spawn_blocking(work).await.expect("no panic").expect("starts");
    assert!(outcome.succeeded(), "{outcome:?}");
    outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crane_pushes_lists_copies_and_deletes() {
    let Some(crane) = tool("crane") else { return skip("pushing with crane", "crane is missing") };
    let registry = Fixture::start().await;
    let scratch = tempfile::tempdir().expect("a directory");
    let crane = async |arguments: &[&str]| {
        let outcome = judge(&crane, arguments, scratch.path()).await;
        String::from_utf8(outcome.stdout).expect("text")
    };
    fs::write(scratch.path().join("layer.tar"), vec![0; 1 << 20]).expect("writes");
    let image = format!("{}/org/app:v1", registry.server.address());
    crane(&["append", "--oci-empty-base", "-f", "layer.tar", "-t", &image]).await;
    let digest = crane(&["digest", &image]).await;
    crane(&["tag", &image, "v2"]).await;
    let repository = format!("{}/org/app", registry.server.address());
    assert_eq!(crane(&["ls", &repository]).await, "v1\nv2\n");
    assert_eq!(crane(&["catalog", &registry.server.address().to_string()]).await, "org/app\n");

    let copy = format!("{}/other/app:v1", registry.server.address());
    crane(&["copy", &image, &copy]).await;
    assert_eq!(crane(&["digest", &copy]).await, digest);
    crane(&["pull", "--format=oci", &copy, "pulled"]).await;
    crane(&["validate", "--remote", &copy]).await;

    crane(&["delete", &format!("{repository}@{}", digest.trim())]).await;
    let gone = registry.get("/v2/org/app/manifests/v1").await;
    assert_refused(gone, 404, "MANIFEST_UNKNOWN").await;
    assert_eq!(crane(&["digest", &copy]).await, digest);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skopeo_copies_in_and_out() {
    let Some(skopeo) = tool("skopeo") else {
        return skip("copying with skopeo", "skopeo is missing");
    };
    let registry = Fixture::start().await;
    let digest = registry.push("org/app", "v1", &vec![1; 1 << 20]).await;
    let scratch = tempfile::tempdir().expect("a directory");
    let policy = scratch.path().join("policy.json");
    fs::write(&policy, r#"{"default": [{"type": "insecureAcceptAnything"}]}"#).expect("writes");
    let policy = policy.to_str().expect("text");
    let skopeo = async |arguments: &[&str]| {
        let arguments = [&["--policy", policy], arguments].concat();
        judge(&skopeo, &arguments, scratch.path()).await
    };
    let source = format!("docker://{}/org/app:v1", registry.server.address());
    skopeo(&["copy", "--preserve-digests", "--src-tls-verify=false", &source, "oci:layout:v1"])
        .await;
    let target = format!("docker://{}/other/app:v1", registry.server.address());
    skopeo(&["copy", "--preserve-digests", "--dest-tls-verify=false", "oci:layout:v1", &target])
        .await;
    let inspected = skopeo(&["inspect", "--no-tags", "--raw", "--tls-verify=false", &target]).await;
    assert_eq!(sha256(&inspected.stdout), digest);
}
