//! `tag`, `list` and `delete` of artifacts, with the embedded registry.

use flumen_oci::{BlobStream, Descriptor, RawManifest, Repository, client, media_type};
use flumen_registry::{Options, Server};
use tokio::runtime::Runtime;

use crate::Scratch;

/// A registry with one repository, and a place to call the command from.
struct Fixture {
    scratch: Scratch,
    runtime: Runtime,
    server: Server,
}

impl Fixture {
    fn new() -> Self {
        let scratch = Scratch::new();
        let runtime = Runtime::new().expect("a runtime");
        let options = Options::new(scratch.path().join("registry"));
        let server = runtime.block_on(Server::start(options)).expect("a registry");
        Self { scratch, runtime, server }
    }

    fn url(&self, rest: &str) -> String {
        format!("oci://{}/org/app{rest}", self.server.address())
    }

    /// Pushes an artifact that differs from others in its revision. Returns its digest.
    fn push(&self, tag: &str, revision: &str) -> String {
        let options = client::ClientOptions { insecure: true, ..client::ClientOptions::default() };
        let host = self.server.address().to_string();
        let registry = client::Registry::new(&host, &options).expect("a client");
        let repository = Repository::Remote(registry.repository("org/app"));
        let empty = Descriptor::of(media_type::OCI_EMPTY, b"{}");
        let manifest = serde_json::json!({
            "schemaVersion": 2,
            "mediaType": media_type::OCI_MANIFEST,
            "config": empty,
            "layers": [empty],
            "annotations": {
                "org.opencontainers.image.source": "https://git.example.com/app",
                "org.opencontainers.image.revision": revision,
            },
        });
        let manifest = RawManifest::new(media_type::OCI_MANIFEST, manifest.to_string());
        self.runtime.block_on(async {
            let content = BlobStream::from_bytes(&b"{}"[..]);
            repository.put_blob(&empty, content).await.expect("a blob");
            repository.put_manifest(&manifest, Some(tag)).await.expect("a manifest");
        });
        manifest.digest().to_string()
    }

    fn names(&self, options: &[&str]) -> Vec<String> {
        let url = self.url("");
        let fixed = ["list", "artifacts", &url, "--insecure-registry", "-o", "name"];
        let outcome = self.scratch.flumen(&[&fixed, options].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
        let prefix = format!("{url}:");
        let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    }
}

#[test]
fn acceptance_47_a_range_lists_its_versions_newest_first() {
    let fixture = Fixture::new();
    for tag in ["1.0.2", "1.0.10", "1.0.0", "1.1.0", "2.0.0", "latest", "1.0.11-rc.1", "1.0.0.sig"]
    {
        fixture.push(tag, tag);
    }
    assert_eq!(fixture.names(&["--semver", "~1.0"]), ["1.0.10", "1.0.2", "1.0.0"]);
    assert_eq!(fixture.names(&["--filter-semver", "~1.0"]), ["1.0.2", "1.0.10", "1.0.0"]);
    assert_eq!(fixture.names(&["--filter-regex", "-rc"]), ["1.0.11-rc.1"]);
    assert_eq!(fixture.names(&["--filter-regex", "^[12]\\.0\\.0$"]), ["2.0.0", "1.0.0"]);
    let all = ["latest", "2.0.0", "1.1.0", "1.0.2", "1.0.11-rc.1", "1.0.10", "1.0.0"];
    assert_eq!(fixture.names(&[]), all);
}

#[test]
fn lists_say_where_artifacts_come_from() {
    let fixture = Fixture::new();
    let digest = fixture.push("v1", "main@sha1:abc");
    let url = fixture.url("");
    let list = ["list", "artifacts", &url, "--insecure-registry"];
    let artifact = format!("{}/org/app:v1", fixture.server.address());
    let table = format!(
        "{:artifact_width$}\t{:digest_width$}\t{:27}\tREVISION      \n\
         {artifact}\t{digest}\thttps://git.example.com/app\tmain@sha1:abc\t\n",
        "ARTIFACT",
        "DIGEST",
        "SOURCE",
        artifact_width = artifact.len(),
        digest_width = digest.len(),
    );
    fixture.scratch.check(&list, &table);
    let outcome = fixture.scratch.flumen(&[&list[..], &["-o", "json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
    assert_eq!(json[0]["digest"], digest.as_str());
    assert_eq!(json[0]["revision"], "main@sha1:abc");
}

#[test]
fn tags_are_added_moved_and_deleted() {
    let fixture = Fixture::new();
    fixture.push("v1", "one");
    fixture.push("stable", "zero");
    let run = |args: &[&str]| {
        let outcome = fixture.scratch.flumen(args);
        assert_eq!(outcome.status, Some(0), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{args:?}");
        outcome.stderr
    };
    let v1 = fixture.url(":v1");
    let said = run(&["tag", "artifact", &v1, "--tag", "stable,latest", "--insecure-registry"]);
    let latest = format!("✔ artifact tagged as {}/org/app:latest\n", fixture.server.address());
    assert!(said.contains(&latest), "{said}");
    assert_eq!(fixture.names(&[]), ["v1", "stable", "latest"]);
    run(&["delete", "artifact", &fixture.url(":stable"), "--insecure-registry"]);
    assert_eq!(fixture.names(&[]), ["v1", "latest"]);
    let digest = fixture.push("v1", "one");
    run(&["delete", "artifact", &fixture.url(&format!("@{digest}")), "--insecure-registry"]);
    assert_eq!(fixture.names(&[]), [""; 0]);
}

#[test]
fn what_is_not_clear_is_refused_before_anything_happens() {
    let fixture = Fixture::new();
    let digest = fixture.push("v1", "one");
    let (url, v1) = (fixture.url(""), fixture.url(":v1"));
    let both = format!("{v1}@{digest}");
    for (args, status, words) in [
        (vec!["delete", "artifact", &url], 1, "either a tag"),
        (vec!["delete", "artifact", &both], 1, "either a tag"),
        (vec!["list", "artifacts", &v1], 1, "repository can only contain"),
        (vec!["list", "artifacts", &url, "--semver", "~~"], 2, "improper constraint"),
        (vec!["list", "artifacts", &url, "--filter-regex", "("], 1, "regex '(' parse error"),
        (vec!["tag", "artifact", &v1, "--tag", "v2,../x"], 1, "../x"),
        (vec!["tag", "artifact", "https://host/app", "--tag", "v2"], 1, "oci://"),
        (vec!["list", "artifacts", &url, "--provider", "aws"], 1, "--provider generic"),
    ] {
        let args = [&args[..], &["--insecure-registry"]].concat();
        fixture.scratch.check_refused(&args, status, &[words]);
    }
    assert_eq!(fixture.names(&[]), ["v1"]);
}

#[test]
fn plain_http_and_missing_things_are_explained() {
    let fixture = Fixture::new();
    fixture.push("v1", "one");
    // This machine is spoken to without certificates, as crane does it.
    let listed = fixture.scratch.flumen(&["list", "artifacts", &fixture.url(""), "-o", "name"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout), format!("{}\n", fixture.url(":v1")));
    let missing = fixture.url(":v2");
    let args = ["delete", "artifact", &missing, "--insecure-registry"];
    fixture.scratch.check_refused(&args, 1, &["not found", "flumen list artifacts"]);
}
