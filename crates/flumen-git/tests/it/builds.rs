//! Kustomizations that refer to repositories and files on a server, compared with what the real
//! kustomize prints for them.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use flumen_fs::DiskTree;
use flumen_git::{Limits, Remotes};
use flumen_kustomize::{Build, Error, Options, Session};
use flumen_testkit::{GitRepository, GitServer, PATIENCE, difference, run, skip, tool};
use tempfile::TempDir;

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";

/// A server with the repository `org/app`: tag `v1`, and a later commit on `main`.
struct Fixture {
    server: GitServer,
    repository: GitRepository,
    first: String,
    directory: TempDir,
}

impl Fixture {
    fn new() -> Option<Self> {
        let server = GitServer::start("builds with remote bases")?;
        let repository = server.create_repository("org/app");
        let first = repository.commit(&[
            ("kustomization.yaml", "resources: [base]\nnameSuffix: -top\n"),
            ("base/kustomization.yaml", "resources: [a.yaml]\nnamePrefix: base-\n"),
            ("base/a.yaml", CONFIG_MAP),
            (
                "overlay/kustomization.yaml",
                "resources: [../base]\ncommonLabels: {from: overlay}\n\
                 configMapGenerator: [{name: g, files: [f.txt]}]\n",
            ),
            ("overlay/f.txt", "text\n"),
            (
                "component/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: ns\n",
            ),
        ]);
        repository.git(&["tag", "v1"]);
        repository.commit(&[("overlay/f.txt", "changed\n")]);
        server.put_file("a.yaml", CONFIG_MAP);
        server.put_file("b.yaml", CONFIG_MAP.replace("name: a", "name: b"));
        server.put_file("patch.yaml", CONFIG_MAP.replace("k: v", "k: patched"));
        let directory = tempfile::tempdir().expect("scratch directory");
        Some(Self { server, repository, first, directory })
    }

    /// Replaces `SERVER`, `REPOSITORY` and `COMMIT` in a text.
    fn filled(&self, text: &str) -> String {
        let repository = self.repository.path().display().to_string();
        text.replace("SERVER", self.server.url("").trim_end_matches('/'))
            .replace("REPOSITORY", &repository)
            .replace("COMMIT", &self.first)
    }

    /// Makes `kustomization` the one that is built.
    fn write(&self, kustomization: &str) -> &Path {
        let text = self.filled(kustomization);
        fs::write(self.directory.path().join("kustomization.yaml"), text).expect("a file");
        self.directory.path()
    }

    /// Builds a path and compares with the real kustomize, where there is one.
    fn compare(&self, path: &str) {
        let ours = printed(&build(Path::new(path)).expect(path));
        let Some(kustomize) = tool("kustomize") else {
            skip("comparison of remote builds", "kustomize is not installed");
            return;
        };
        let theirs = run(&kustomize, &["build", path], self.directory.path(), PATIENCE);
        let theirs = theirs.expect("kustomize starts");
        assert!(theirs.succeeded(), "{path}: {}", theirs.stderr);
        if let Some(difference) = difference(&theirs.stdout, ours.as_bytes()) {
            let kustomization =
                fs::read_to_string(self.directory.path().join("kustomization.yaml"));
            panic!("{path}: {kustomization:?}\n{difference}");
        }
    }

    fn error(&self, kustomization: &str) -> Error {
        let path = self.write(kustomization);
        build(path).map(|built| printed(&built)).expect_err(kustomization)
    }
}

fn build(path: &Path) -> Result<Build, Error> {
    let remotes = Remotes::new(Limits::default(), Arc::new(AtomicBool::new(false)));
    let options = Options { remotes: Some(Arc::new(remotes)), ..Options::default() };
    Session::new(Arc::new(DiskTree)).build(path, &options)
}

fn printed(build: &Build) -> String {
    let mut text = Vec::new();
    for (index, object) in build.objects.iter().enumerate() {
        if index > 0 {
            text.extend_from_slice(b"---\n");
        }
        flumen_yaml::emit(&object.node, &mut text).expect("printable");
    }
    String::from_utf8(text).expect("text")
}

#[test]
fn addresses_mean_what_they_mean_to_kustomize() {
    let Some(fixture) = Fixture::new() else { return };
    let twin = fixture.repository.path().with_file_name("lib.git").display().to_string();
    fixture.repository.git(&["clone", "--quiet", "--bare", ".", &twin]);
    let project = fixture.repository.path().with_file_name("_git").join("lib");
    let project = project.display().to_string();
    fixture.repository.git(&["clone", "--quiet", "--bare", ".", &project]);

    for address in [
        "SERVER/org/app//overlay?ref=v1",
        "SERVER/org/app/overlay?ref=v1",
        "SERVER/org/app?ref=v1",
        "SERVER/org/app",
        "SERVER/org/app//",
        "git::SERVER/org/app//overlay?version=main",
        "SERVER/org/app//overlay?ref=COMMIT",
        "SERVER/org/app//overlay/?ref=main&timeout=240s&submodules=false",
        "SERVER/org/app//component/../base",
        "SERVER/org/lib.git/overlay?ref=v1",
        "SERVER/org/lib.git?ref=v1",
        "SERVER/org/_git/lib/overlay?ref=v1",
        "SERVER/page/org/app//overlay?ref=v1",
        "SERVER/moved/org/app//overlay?ref=v1",
        "file://REPOSITORY//overlay?ref=v1",
        "file://REPOSITORY",
        "SERVER/files/a.yaml",
    ] {
        let path = fixture.write(&format!("resources:\n- {address}\nnamespace: ns2\n"));
        fixture.compare(path.to_str().expect("text"));
    }
    for address in ["SERVER/org/app//overlay?ref=v1", "file://REPOSITORY//base"] {
        fixture.compare(&fixture.filled(address));
    }
}

#[test]
fn everything_that_is_read_may_be_remote() {
    let Some(fixture) = Fixture::new() else { return };
    let path = fixture.write(
        "resources: [SERVER/files/a.yaml, SERVER/files/b.yaml]\n\
         components: ['SERVER/org/app//component?ref=v1']\n\
         patches: [{path: SERVER/files/patch.yaml}]\n\
         configMapGenerator: [{name: g, files: [SERVER/files/b.yaml, k=SERVER/files/a.yaml]}]\n",
    );
    fixture.compare(path.to_str().expect("text"));
}

#[test]
fn origins_name_the_repository() {
    let Some(fixture) = Fixture::new() else { return };
    for address in ["SERVER/org/app//overlay?ref=v1", "SERVER/org/app", "SERVER/files/a.yaml"] {
        let path = fixture.write(&format!(
            "resources: ['{address}']\nnamePrefix: p-\n\
             buildMetadata: [originAnnotations, transformerAnnotations]\n",
        ));
        fixture.compare(path.to_str().expect("text"));
    }
}

#[test]
fn repositories_refer_to_repositories() {
    let Some(fixture) = Fixture::new() else { return };
    let other = fixture.server.create_repository("org/other");
    let base = fixture.filled("SERVER/org/app//overlay?ref=v1");
    other.commit(&[("d/kustomization.yaml", &format!("resources: ['{base}']\nnameSuffix: -o\n"))]);
    let path = fixture.write("resources: ['SERVER/org/other//d', 'SERVER/files/b.yaml']\n");
    fixture.compare(path.to_str().expect("text"));

    let built = build(path).expect("a build");
    let sources: Vec<_> = built
        .remote_sources
        .iter()
        .map(|it| (it.url.clone(), it.reference.clone(), it.revision.len()))
        .collect();
    let url = |path: &str| fixture.server.url(path);
    assert_eq!(
        sources,
        [
            (url("files/b.yaml"), None, "sha256:".len() + 64),
            (url("org/app"), Some("v1".to_owned()), 40),
            (url("org/other"), None, 40),
        ]
    );
}

#[test]
fn a_repository_is_fetched_once() {
    let Some(fixture) = Fixture::new() else { return };
    let path = fixture.write(
        "resources: ['SERVER/org/app//base?ref=v1', 'SERVER/files/b.yaml']\n\
         components: ['SERVER/org/app//component?ref=COMMIT', 'SERVER/org/app//component?ref=v1']\n\
         configMapGenerator: [{name: g, files: [SERVER/files/b.yaml]}]\n",
    );
    build(path).expect("a build");
    let requests = fixture.server.requests();
    let count = |wanted: &str| requests.iter().filter(|request| *request == wanted).count();
    assert_eq!(count("GET files/b.yaml"), 1, "{requests:#?}");
    // One list of references and one pack for the tag; the commit is known by then.
    assert_eq!(count("POST org/app/git-upload-pack"), 2, "{requests:#?}");
}

#[test]
fn cycles_are_found() {
    let Some(fixture) = Fixture::new() else { return };
    let other = fixture.server.create_repository("org/other");
    let again = fixture.server.url("org/other//d");
    other.commit(&[("d/kustomization.yaml", &format!("resources: ['{again}']\n"))]);
    let error = fixture.error("resources: ['SERVER/org/other//d']\n").to_string();
    let expected = format!("cycle detected: URI '{again}' referenced by previous URI '{again}'");
    assert!(error.ends_with(&expected), "{error}");
}

#[test]
fn repositories_do_not_reach_out() {
    let Some(fixture) = Fixture::new() else { return };
    let hostile = fixture.server.create_repository("org/hostile");
    let local = fixture.repository.path().display().to_string();
    let outside = fixture.directory.path().display().to_string();
    fs::write(fixture.directory.path().join("secret.yaml"), CONFIG_MAP).expect("a file");
    let resources = |resource: &str| format!("resources: ['{resource}']\n");
    hostile.commit(&[
        ("up/kustomization.yaml", &resources("../../x")),
        ("component/kustomization.yaml", "components: [../../../x]\n"),
        ("absolute/kustomization.yaml", &resources(&format!("{outside}/secret.yaml"))),
        ("sibling/kustomization.yaml", &resources("../up/kustomization.yaml")),
        ("local/kustomization.yaml", &resources(&format!("file://{local}//base"))),
    ]);
    for (directory, expected) in [
        ("up", "security; file"),
        ("component", "security; bases in kustomizations found in cloned git repos must be within"),
        ("absolute", "security; file"),
        ("sibling", "security; file"),
        ("local", "is on this machine, and a repository that was fetched refers to it"),
    ] {
        let error = fixture.error(&format!("resources: ['SERVER/org/hostile//{directory}']\n"));
        assert!(error.to_string().contains(expected), "{directory}: {error}");
    }
}

#[test]
fn failures_are_explained_without_secrets() {
    let Some(fixture) = Fixture::new() else { return };
    let user = fixture.server.url_as("me:h1dden", "private/org/app");
    for (resource, expected) in [
        ("SERVER/files/none.yaml", "answered with status 404"),
        ("SERVER/org/none//x", "answered with status 404"),
        ("SERVER/org/app//none", "no such file or directory"),
        ("SERVER/org/app//base?ref=none", "has no branch, tag or commit `none`"),
        ("SERVER/org/app//base/a.yaml", "file is not directory"),
        ("git@127.0.0.1:org/app", "is reached over ssh, and there is no key for it"),
        (&format!("{user}//base?ref=v1"), "asks for credentials"),
        (&fixture.server.url_as("me:h1dden", "files/bad.yaml"), "bad.yaml"),
    ] {
        fixture.server.put_file("bad.yaml", "a: [\n");
        let error = fixture.error(&format!("resources: ['{resource}']\n"));
        let all = format!("{error} {error:?}");
        assert!(all.contains(expected), "{resource}: {all}");
        assert!(!all.contains("h1dden"), "{all}");
    }
}

#[test]
fn credentials_in_addresses_are_used() {
    let Some(fixture) = Fixture::new() else { return };
    let address = fixture.server.url_as("me:secret", "private/org/app//overlay?ref=v1");
    let path = fixture.write(&format!("resources: ['{address}']\n"));
    fixture.compare(path.to_str().expect("text"));
}
