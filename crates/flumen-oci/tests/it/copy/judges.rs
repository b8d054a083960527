//! What skopeo and crane make of our layouts, and we of theirs.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use flumen_oci::{
    Repository, Target,
    copy::{CopyOptions, copy},
    layout::Layout,
};
use flumen_testkit::{EmbeddedRegistry, skip, tool};
use tokio::runtime::Runtime;

use super::{repository, sample::Sample, with_each};

/// The program, or nothing where it is missing, which is said.
fn judge(name: &str) -> Option<PathBuf> {
    let program = tool(name);
    if program.is_none() {
        skip(&format!("layouts judged by `{name}`"), "`cargo xtask tools` provides it");
    }
    program
}

fn run(program: &Path, args: &[&str]) -> Vec<u8> {
    // The key of the test has no password; without this, cosign would ask for one.
    let output = Command::new(program).args(args).env("COSIGN_PASSWORD", "").output();
    let output = output.expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {args:?}: {stderr}", program.display());
    output.stdout
}

async fn sample_in(dir: &Path) -> (Repository, Sample) {
    let ours = Repository::Layout(Layout::create(dir).expect("a layout"));
    let sample = Sample::put(&ours).await;
    (ours, sample)
}

/// Fails unless the place has the same index and both its manifests.
async fn check_index(place: &Repository, sample: &Sample, target: Target) {
    assert_eq!(place.manifest(&target).await.expect("an index").bytes, sample.root.bytes);
    for child in &sample.manifests[..2] {
        let target = Target::Digest(child.digest().clone());
        assert_eq!(place.manifest(&target).await.expect("a manifest").bytes, child.bytes);
    }
}

#[tokio::test]
async fn skopeo_reads_and_writes_the_same_layouts() {
    let Some(skopeo) = judge("skopeo") else { return };
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let (ours, sample) = sample_in(&scratch.path().join("ours")).await;
    let archive = Layout::create_archive(path("ours.tar")).expect("an archive");
    let to = Repository::Layout(archive.clone());
    let tag = Target::Tag("v1".to_owned());
    copy(&ours, &tag, &to, Some("v1"), &CopyOptions::default()).await.expect("a copy");
    archive.finish().await.expect("complete");

    for (source, name) in [("oci:", "ours"), ("oci-archive:", "ours.tar")] {
        let source = format!("{source}{}:v1", path(name));
        assert_eq!(run(&skopeo, &["inspect", "--raw", &source]), sample.root.bytes);
        for (form, name) in [("oci:", "theirs"), ("oci-archive:", "theirs.tar")] {
            let file = path(&format!("{name}-{}", source.len()));
            run(
                &skopeo,
                &["--insecure-policy", "copy", "--all", &source, &format!("{form}{file}:v2")],
            );
            let theirs = Repository::Layout(Layout::open(&file).expect("their layout"));
            check_index(&theirs, &sample, Target::Tag("v2".to_owned())).await;
            let back = scratch.path().join(format!("back-{name}-{}", source.len()));
            let back = Repository::Layout(Layout::create(back).expect("a layout"));
            let target = Target::Tag("v2".to_owned());
            let copied = copy(&theirs, &target, &back, None, &CopyOptions::default()).await;
            let digest = copied.expect("a copy").descriptor.digest;
            assert_eq!(digest, *sample.root.digest());
            check_index(&back, &sample, Target::Digest(digest)).await;
        }
    }
}

#[test]
fn crane_reads_and_writes_the_same_layouts() {
    let Some(crane) = judge("crane") else { return };
    with_each(async |registry| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let (ours, sample) = sample_in(&scratch.path().join("ours")).await;
        let to = repository(registry.host(), "org/app");
        let tag = Target::Tag("v1".to_owned());
        copy(&ours, &tag, &to, Some("v1"), &CopyOptions::default()).await.expect("a copy");
        let name = format!("{}/org/app:v1", registry.host());
        let digest = run(&crane, &["digest", "--insecure", &name]);
        assert_eq!(String::from_utf8_lossy(&digest).trim(), sample.root.digest().to_string());
        let file = scratch.path().join("theirs");
        run(&crane, &["pull", "--insecure", "--format=oci", &name, &file.display().to_string()]);
        let theirs = Layout::open(&file).expect("their layout");
        let target = theirs.sole_target().await.expect("one artifact");
        assert_eq!(target, Target::Digest(sample.root.digest().clone()));
        check_index(&Repository::Layout(theirs), &sample, target).await;
    });
}

#[test]
fn acceptance_13_signatures_verify_where_the_artifact_was_mirrored_to() {
    let Some(cosign) = judge("cosign") else { return };
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    run(&cosign, &["generate-key-pair", "--output-key-prefix", &path("key")]);
    let (private, public) = (path("key.key"), path("key.pub"));
    let a = EmbeddedRegistry::start();
    let from = repository(a.host(), "org/app");
    let sample = Runtime::new().expect("a runtime").block_on(Sample::put(&from));
    // One of the manifests of the index: its signatures must be found on the way.
    let digest = sample.manifests[1].digest();
    let forms = ["--new-bundle-format=true", "--new-bundle-format=false"];
    let sign =
        ["--yes", "--allow-http-registry", "--tlog-upload=false", "--use-signing-config=false"];
    for form in forms {
        let name = format!("{}/org/app@{digest}", a.host());
        run(&cosign, &[&["sign", "--key", &private, form], &sign[..], &[&name]].concat());
    }
    with_each(async |b| {
        // Connections belong to the runtime that made them.
        let from = repository(a.host(), "org/app");
        let to = repository(b.host(), "other/app");
        let tag = Target::Tag("v1".to_owned());
        copy(&from, &tag, &to, Some("v1"), &CopyOptions::default()).await.expect("a mirror");
        let name = format!("{}/other/app@{digest}", b.host());
        let verify = ["--allow-http-registry", "--insecure-ignore-tlog"];
        for form in forms {
            run(&cosign, &[&["verify", "--key", &public, form], &verify[..], &[&name]].concat());
        }
    });
}
