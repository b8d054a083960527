//! The commands against every registry, with other tools on the other side.

use flumen_testkit::{Judge, Outcome, TestRegistry, for_each_registry};

use crate::Scratch;

/// A directory to call the command from, and the address of a repository.
struct Fixture<'a> {
    scratch: Scratch,
    registry: &'a TestRegistry,
}

impl Fixture<'_> {
    fn name(&self, rest: &str) -> String {
        format!("{}/team/app{rest}", self.registry.host())
    }

    fn url(&self, rest: &str) -> String {
        format!("oci://{}", self.name(rest))
    }

    /// Runs a command that talks to the registry; it must succeed.
    #[track_caller]
    fn flumen(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.status, Some(0), "{arguments:?}: {}", outcome.stderr);
        String::from_utf8(outcome.stdout).expect("text")
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        self.scratch.flumen(&[arguments, &["--insecure-registry"]].concat())
    }

    /// Pushes the kustomization in `dir` and returns the digest.
    #[track_caller]
    fn push(&self, dir: &str, rest: &str) -> String {
        let printed = self.flumen(&["push", "artifact", &self.url(rest), "-k", dir]);
        let (_, digest) = printed.trim().split_once('@').expect("a digest");
        digest.to_owned()
    }
}

fn on_every_registry(test: impl Fn(&Fixture<'_>)) {
    for_each_registry(|registry| test(&Fixture { scratch: Scratch::new(), registry }));
}

#[test]
fn other_tools_read_what_is_pushed() {
    let (crane, skopeo) = (Judge::find("crane"), Judge::find("skopeo"));
    on_every_registry(|fixture| {
        let digest = fixture.push("both", ":v1");
        let name = fixture.name(":v1");
        if let Some(crane) = &crane {
            assert_eq!(crane.text(&["digest", "--insecure", &name]), digest);
            // The layout is that of an image with one file in it.
            let files = crane.run(&["export", "--insecure", &name, "-"]);
            let text = String::from_utf8_lossy(&files);
            assert!(text.starts_with("all.yaml") && text.contains("kind: ConfigMap"), "{text}");
        }
        if let Some(skopeo) = &skopeo {
            let source = format!("docker://{name}");
            let asked = ["inspect", "--tls-verify=false", "--format", "{{.Digest}}", &source];
            assert_eq!(skopeo.text(&asked), digest);
        }
    });
}

#[test]
fn what_other_tools_copied_is_read() {
    let Some(skopeo) = Judge::find("skopeo") else { return };
    on_every_registry(|fixture| {
        let digest = fixture.push("both", ":v1");
        let manifests = fixture.flumen(&["pull", "artifact", &fixture.url(":v1")]);
        let (source, target) = (fixture.name(":v1"), fixture.name(":copied"));
        skopeo.run(&[
            "--insecure-policy",
            "copy",
            "--src-tls-verify=false",
            "--dest-tls-verify=false",
            &format!("docker://{source}"),
            &format!("docker://{target}"),
        ]);
        let copied = fixture.url(":copied");
        assert_eq!(fixture.flumen(&["pull", "artifact", &copied]), manifests);
        assert!(fixture.flumen(&["inspect", "artifact", &copied]).contains(&digest));
    });
}

#[test]
fn an_artifact_goes_through_a_file_and_back() {
    on_every_registry(|fixture| {
        let digest = fixture.push("a", ":v1");
        fixture.flumen(&["copy", "artifact", &fixture.url(":v1"), "app.tar"]);
        let there = format!("oci://{}/inside/app", fixture.registry.host());
        fixture.flumen(&["copy", "artifact", "app.tar:v1", &there]);
        let back = fixture.flumen(&["inspect", "artifact", &format!("{there}:v1")]);
        assert!(back.contains(&digest), "{back}");
    });
}

#[test]
fn versions_are_listed_tagged_and_deleted() {
    on_every_registry(|fixture| {
        let first = fixture.push("a", ":1.0.0");
        let second = fixture.push("b", ":1.0.1");
        fixture.push("both", ":2.0.0");
        fixture.flumen(&["tag", "artifact", &fixture.url(":1.0.1"), "--tag", "latest"]);
        let range = ["list", "artifacts", &fixture.url(""), "--semver", "~1.0", "-o", "json"];
        let listed: serde_json::Value =
            serde_json::from_str(&fixture.flumen(&range)).expect("JSON");
        let digests: Vec<_> = listed
            .as_array()
            .expect("a list")
            .iter()
            .map(|artifact| artifact["digest"].as_str().expect("a digest"))
            .collect();
        assert_eq!(digests, [&second, &first], "newest first");

        fixture.flumen(&["delete", "artifact", &fixture.url(&format!("@{first}"))]);
        let gone = fixture.run(&["pull", "artifact", &fixture.url(":1.0.0")]);
        assert!(gone.refused(), "{}", gone.stderr);
        assert!(!fixture.flumen(&["pull", "artifact", &fixture.url(":latest")]).is_empty());
    });
}
