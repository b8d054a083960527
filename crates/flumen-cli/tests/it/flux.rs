//! `flumen up` on a repository for Flux.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Command, Stdio},
    thread,
};

use flumen_testkit::{kube_program, repository_root, skip};

use super::{Scratch, binary, copy_tree};

/// A scratch directory with the example in `fleet`.
fn with_example() -> Scratch {
    let scratch = Scratch::new();
    copy_tree(&repository_root().join("examples/flux-repo"), &scratch.path().join("fleet"));
    scratch
}

/// `flumen up` in the foreground, which does not outlive its test.
struct Running {
    process: Child,
    said: BufReader<ChildStderr>,
}

impl Running {
    fn start(scratch: &Scratch, arguments: &[&str]) -> Self {
        let mut process = Command::new(binary())
            .args(["up", "--data", "cluster"])
            .args(arguments)
            .current_dir(scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let said = BufReader::new(process.stderr.take().expect("piped"));
        Self { process, said }
    }

    /// Reads what it says until a line has all these words, and returns the line.
    fn until(&mut self, words: &[&str]) -> String {
        let mut all = String::new();
        loop {
            let begin = all.len();
            let length = self.said.read_line(&mut all).expect("text");
            assert!(length > 0, "it has ended without {words:?}:\n{all}");
            let line = &all[begin..];
            if words.iter().all(|word| line.contains(word)) {
                return line.trim_end().to_owned();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_example_becomes_ready_and_is_shown_as_a_tree() {
    let scratch = with_example();
    let outcome = scratch.flumen(&["up", "fleet", "--ephemeral", "--once"]);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let shown = String::from_utf8_lossy(&outcome.stdout);
    for part in [
        "└─ ● GitRepository/flux-system/flux-system  stored artifact for revision 'local@sha256:",
        "   ├─ ● Kustomization/flux-system/apps  Applied revision: local@sha256:",
        "● Deployment/shop/web  Deployment is available. Replicas: 2",
        "● Cache/shop/sessions  Resource is current",
        "● CustomResourceDefinition/caches.example.com  CRD is established",
    ] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
}

#[test]
fn the_example_comes_with_the_program() {
    let scratch = Scratch::new();
    let outcome = scratch.flumen(&["up", "--example", "flux-repo", "--ephemeral", "--once"]);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let shown = String::from_utf8_lossy(&outcome.stdout);
    assert!(shown.contains("● Cache/shop/sessions  Resource is current"), "{shown}");
}

#[test]
fn a_second_one_on_the_same_cluster_says_what_to_do() {
    let scratch = with_example();
    let mut up = Running::start(&scratch, &["fleet"]);
    up.until(&["everything is ready"]);
    scratch.check_refused(
        &["up", "fleet", "--data", "cluster", "--once"],
        1,
        &[
            "another `flumen up` reconciles on this cluster already",
            "`flumen down`",
            "`--data DIR`",
        ],
    );
    // Manifests that nobody reconciles can go there all the same, into the namespace of the cluster.
    let plain = scratch.flumen(&["up", "a", "--data", "cluster", "--once"]);
    assert!(plain.succeeded(), "{}", plain.stderr);
    let shown = String::from_utf8_lossy(&plain.stdout);
    assert!(shown.contains("ConfigMap/a"), "{shown}");
}

#[test]
fn a_terminal_shows_the_tree_as_it_grows() {
    let scratch = with_example();
    let command = format!("{} up fleet --data cluster", binary().display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--flush", "--command", &command, "/dev/null"]);
    script.current_dir(scratch.path()).stdin(Stdio::null()).stdout(Stdio::piped());
    let Ok(mut script) = script.spawn() else {
        skip("the tree on a terminal", "`script` makes one, and is not there");
        return;
    };
    let mut screen = script.stdout.take().expect("piped");
    let mut drawn = Vec::new();
    let mut piece = [0; 4096];
    let has = |drawn: &[u8], text: &str| String::from_utf8_lossy(drawn).contains(text);
    while !has(&drawn, "Deployment/shop/web  Deployment is available. Replicas: 2") {
        let length = screen.read(&mut piece).expect("text");
        assert!(length > 0, "it has ended:\n{}", String::from_utf8_lossy(&drawn));
        drawn.extend_from_slice(&piece[..length]);
    }
    // Someone must read until the end, or the program waits for its reader.
    let rest = thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = screen.read_to_end(&mut rest);
        rest
    });
    let ended = scratch.flumen(&["down", "--data", "cluster"]);
    assert!(ended.succeeded(), "{}", ended.stderr);
    let _ = script.wait();
    drawn.extend(rest.join().expect("no panic"));
    // It is drawn again over what was there, from the first word on.
    let drawn = String::from_utf8_lossy(&drawn);
    let trees = drawn.matches("GitRepository/flux-system/flux-system").count();
    assert!(trees > 1 && drawn.contains("\u{1b}["), "{drawn}");
}

#[test]
fn what_is_saved_is_delivered() {
    let scratch = with_example();
    let mut up = Running::start(&scratch, &["fleet"]);
    up.until(&["everything is ready"]);
    let cache = scratch.read("fleet/apps/base/cache.yaml");
    scratch.write("fleet/apps/base/cache.yaml", &cache.replace("64Mi", "96Mi"));
    let stored = up.until(&["GitRepository/flux-system/flux-system", "stored artifact"]);
    let (_, revision) = stored.split_once("local@").expect("a local revision");
    up.until(&[
        "Kustomization/flux-system/apps: Applied revision",
        revision.trim_end_matches('\''),
    ]);
    let Some(kubectl) = kube_program("kubectl") else {
        skip("what `kubectl` sees of a change", "`cargo xtask kube` provides it");
        return;
    };
    let seen = Command::new(kubectl)
        .args(["--kubeconfig", "cluster/kubeconfig", "-n", "shop", "get", "cache", "sessions"])
        .args(["-o", "jsonpath={.spec.size}"])
        .current_dir(scratch.path())
        .output()
        .expect("kubectl starts");
    assert_eq!(String::from_utf8_lossy(&seen.stdout), "96Mi");
}

#[test]
fn what_was_saved_meanwhile_is_delivered_by_the_next_start() {
    let scratch = with_example();
    let once = ["up", "fleet", "--data", "cluster", "--once"];
    let first = scratch.flumen(&once);
    assert!(first.succeeded(), "{}", first.stderr);
    let web = scratch.read("fleet/apps/local/kustomization.yaml");
    scratch.write("fleet/apps/local/kustomization.yaml", &web.replace("count: 2", "count: 3"));
    let second = scratch.flumen(&once);
    assert!(second.succeeded(), "{}", second.stderr);
    let shown = String::from_utf8_lossy(&second.stdout);
    assert!(
        shown.contains("● Deployment/shop/web  Deployment is available. Replicas: 3"),
        "{shown}"
    );
}

#[test]
fn a_cluster_is_chosen_among_several() {
    let scratch = with_example();
    let clusters = scratch.path().join("fleet/clusters");
    copy_tree(&clusters.join("local"), &clusters.join("staging"));
    let both = "clusters/local, clusters/staging";
    scratch.check_refused(&["up", "fleet", "--once", "--ephemeral"], 1, &[both, "--path"]);
    let other = ["up", "fleet", "--once", "--ephemeral", "--path", "clusters/other"];
    scratch.check_refused(&other, 1, &["no entry point", both]);
    scratch.check_refused(&["up", "a", "--path", "clusters/a"], 1, &["no repository for Flux"]);

    // A sync that nobody has filled in yet is that of the directory that was chosen.
    fs::write(clusters.join("staging/flux-system/gotk-sync.yaml"), "# by bootstrap\n")
        .expect("written");
    let staging = ["up", "fleet", "--once", "--ephemeral", "--path", "./clusters/staging/"];
    let outcome = scratch.flumen(&staging);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("entry point clusters/staging"), "{}", outcome.stderr);
}

#[test]
fn parts_of_flux_are_not_installed_and_named() {
    let scratch = with_example();
    let components = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: source-controller\n  \
        namespace: flux-system\n  labels:\n    app.kubernetes.io/part-of: flux\n";
    let system = "fleet/clusters/local/flux-system";
    scratch.write(&format!("{system}/gotk-components.yaml"), components);
    scratch.write(
        &format!("{system}/kustomization.yaml"),
        "resources: [gotk-components.yaml, gotk-sync.yaml]\n",
    );
    let outcome = scratch.flumen(&["up", "fleet", "--ephemeral", "--once"]);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let named = "not installed, because Flumen does their work: ServiceAccount/flux-system/source-controller";
    assert!(outcome.stderr.contains(named), "{}", outcome.stderr);
    let shown = String::from_utf8_lossy(&outcome.stdout);
    assert!(!shown.contains("ServiceAccount"), "{shown}");
}

#[test]
fn a_directory_becomes_a_source() {
    let scratch = Scratch::new();
    let outcome = scratch.flumen(&["up", "--source", "a", "--ephemeral", "--once"]);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let shown = String::from_utf8_lossy(&outcome.stdout);
    assert!(shown.contains("● GitRepository/flux-system/a  stored artifact"), "{shown}");
    let with_manifests = ["up", "b", "--source", "a", "--ephemeral", "--once"];
    scratch.check_refused(&with_manifests, 1, &["`b` is no repository for Flux"]);
}

#[test]
fn a_mistake_is_what_the_command_fails_with() {
    let scratch = with_example();
    scratch.write("fleet/apps/base/cache.yaml", "kind: [");
    let once = ["up", "fleet", "--ephemeral", "--once", "--timeout", "20s"];
    let outcome = scratch.flumen(&once);
    assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("Kustomization/flux-system/apps: kustomize build failed"),
        "{}",
        outcome.stderr
    );
}
