//! Artifacts of real registries.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use flumen_api::OciRepositorySpec;
use flumen_archive::PathOptions;
use flumen_fs::Bounds;
use flumen_oci::{
    Digest, Repository,
    artifact::{Metadata, pack_path},
    client::{ClientOptions, Registry},
    signature::{Placement, SignOptions, sign},
};
use flumen_sign::PrivateKey;
use flumen_source::{
    Owner, Storage,
    oci::{Ask, ConditionType, Error, Registries, Remote, Request, Resolved, SecretData, Trusted},
};
use flumen_testkit::{
    EmbeddedRegistry, Judge, REGISTRY_PASSWORD, REGISTRY_USER, RealRegistry, RegistryKind,
    RegistryOptions, for_each_registry,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// One source, with a storage of its own.
struct Source {
    _scratch: TempDir,
    storage: Arc<Storage>,
    owner: Owner,
    spec: OciRepositorySpec,
    pull_secrets: Vec<SecretData>,
    certificates: Option<SecretData>,
    keys: Option<SecretData>,
    registries: Registries,
}

impl Source {
    fn new(host: &str, fields: &Value) -> Self {
        let scratch = tempfile::tempdir().expect("scratch");
        let storage = Arc::new(Storage::open(scratch.path()).expect("opened"));
        let mut spec = json!({"url": format!("oci://{host}/org/app"), "interval": "1m"});
        for (name, value) in fields.as_object().expect("fields") {
            spec[name] = value.clone();
        }
        Self {
            _scratch: scratch,
            storage,
            owner: Owner::new("OCIRepository", "default", "app").expect("an owner"),
            spec: serde_json::from_value(spec).expect("a spec"),
            pull_secrets: Vec::new(),
            certificates: None,
            keys: None,
            registries: Registries::default(),
        }
    }

    fn request(&self) -> Request<'_> {
        Request {
            owner: &self.owner,
            spec: &self.spec,
            pull_secrets: &self.pull_secrets,
            certificates: self.certificates.as_ref(),
            proxy: None,
            registries: &self.registries,
        }
    }

    fn remote(&self) -> Result<Remote<'_>, Error> {
        Remote::connect(self.request())
    }

    fn trusted(&self) -> Trusted<'_> {
        Trusted { keys: self.keys.as_ref(), root: None }
    }

    /// Whether a signature was asked for and found.
    async fn verify(&self, resolved: &Resolved) -> Result<bool, Error> {
        let signer = self.remote()?.verify(resolved, self.trusted()).await?;
        Ok(signer.is_some())
    }

    async fn resolve(&self) -> Result<Resolved, Error> {
        self.remote()?.resolve(Ask::Digest).await
    }

    /// The revision and the content of `app.yaml`.
    async fn fetch(&self) -> Result<(String, String), Error> {
        let remote = self.remote()?;
        let resolved = remote.resolve(Ask::Manifest).await?;
        let fetched = remote.fetch(&resolved, &self.storage).await?;
        assert_eq!(
            fetched.stored.path,
            format!("ocirepository/default/app/{}.tar.gz", resolved.digest)
        );
        let latest = "ocirepository/default/app/latest.tar.gz";
        self.storage.verify(latest, &fetched.stored.digest.to_string()).expect("the latest");
        let tree = self.storage.tree(&fetched.stored.digest).expect("unpacked");
        let content = tree.read(Path::new("/app.yaml"), Bounds::Anywhere).expect("a file");
        Ok((resolved.revision, String::from_utf8(content).expect("text")))
    }
}

fn repository(host: &str) -> Repository {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let registry = Registry::new(host, &options).expect("a registry");
    Repository::Remote(registry.repository("org/app"))
}

/// Pushes `app.yaml` with this content, as `flux push artifact` does.
async fn push(host: &str, tag: &str, content: &str) -> Digest {
    let tree = tempfile::tempdir().expect("a tree");
    fs::write(tree.path().join("app.yaml"), content).expect("written");
    fs::write(tree.path().join("notes.md"), "notes").expect("written");
    let metadata = Metadata {
        source: "https://example.com/org/app".to_owned(),
        revision: "main@sha1:0000000000000000000000000000000000000000".to_owned(),
        created: jiff::Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_path(tree.path(), &PathOptions::default(), &metadata).expect("packed");
    packed.push(&repository(host), Some(tag)).await.expect("pushed")
}

fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

#[test]
fn every_kind_of_reference_is_resolved() {
    for_each_registry(|registry| {
        let host = registry.host();
        runtime().block_on(async {
            let old = push(host, "1.0.0", "old").await;
            let new = push(host, "1.2.0", "new").await;
            let latest = push(host, "latest", "latest").await;
            push(host, "1.3.0-rc.1", "candidate").await;
            let check = async |fields: Value, revision: String, content: &str| {
                let found = Source::new(host, &fields).fetch().await.expect("fetched");
                assert_eq!(found, (revision, content.to_owned()), "{fields}");
            };
            check(json!({}), format!("latest@{latest}"), "latest").await;
            check(json!({"ref": {"tag": "1.0.0"}}), format!("1.0.0@{old}"), "old").await;
            let range = json!({"ref": {"semver": "1.x", "tag": "1.0.0"}});
            check(range, format!("1.2.0@{new}"), "new").await;
            let filtered = json!({"ref": {"semver": "*", "semverFilter": r"\.0\.0$"}});
            check(filtered, format!("1.0.0@{old}"), "old").await;
            let pinned = json!({"ref": {"digest": old, "tag": "latest"}});
            check(pinned, old.to_string(), "old").await;
        });
    });
}

#[test]
fn failures_are_told_as_flux_tells_them() {
    for_each_registry(|registry| {
        let host = registry.host();
        runtime().block_on(async {
            let check = async |fields: Value, reason: &str, message: &str| {
                let error = Source::new(host, &fields).fetch().await.expect_err(message);
                assert_eq!(error.reason(), reason, "{error}");
                let text = error.to_string();
                assert!(text.starts_with(message), "{text}");
            };
            push(host, "1.0.0", "x").await;
            let prefix = format!("failed to determine artifact digest: GET http://{host}/v2/org/app/manifests/v9: MANIFEST_UNKNOWN: ");
            check(json!({"ref": {"tag": "v9"}}), "OCIArtifactPullFailed", &prefix).await;
            let unknown = Digest::of(b"unknown");
            let prefix = format!("failed to pull artifact from 'oci://{host}/org/app': GET http://{host}/v2/org/app/manifests/{unknown}: MANIFEST_UNKNOWN: ");
            check(json!({"ref": {"digest": unknown}}), "OCIArtifactPullFailed", &prefix).await;
            let url = format!("oci://{host}/org/app");
            check(
                json!({"ref": {"semver": "9.x"}}),
                "ReadOperationFailed",
                &format!("failed to determine the artifact tag for '{url}': no match found for semver: 9.x"),
            )
            .await;
            check(
                json!({"ref": {"tag": "1.0.0"}, "layerSelector": {"mediaType": "application/x-nothing"}}),
                "OCIArtifactLayerOperationFailed",
                "failed to find layer with media type 'application/x-nothing' in artifact",
            )
            .await;
        });
    });
    let source = Source::new("127.0.0.1:1", &json!({}));
    let error = runtime().block_on(source.resolve()).expect_err("nobody listens");
    assert_eq!(
        error.to_string(),
        "failed to determine artifact digest: Get \"https://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: \
         connect: connection refused; Get \"http://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: \
         connection refused"
    );
    let source = Source::new("127.0.0.1:1", &json!({"url": "oci://127.0.0.1:1/org/app:v1"}));
    let error = source.remote().expect_err("no address");
    assert!(error.is_stalling());
    assert_eq!(error.condition(), ConditionType::FetchFailed);
}

#[tokio::test]
async fn what_is_ignored_stays_out_and_annotations_are_told() {
    let registry = EmbeddedRegistry::start();
    let host = registry.host();
    push(host, "latest", "x").await;
    let source = Source::new(host, &json!({"ignore": "*.md"}));
    let remote = source.remote().expect("connected");
    let resolved = remote.resolve(Ask::Digest).await.expect("resolved");
    assert_eq!(resolved.reference, format!("{host}/org/app:latest"));
    let fetched = remote.fetch(&resolved, &source.storage).await.expect("fetched");
    let tree = source.storage.tree(&fetched.stored.digest).expect("unpacked");
    assert_eq!(tree.list(Path::new("/")).expect("names"), ["app.yaml"]);
    assert_eq!(fetched.metadata["org.opencontainers.image.source"], "https://example.com/org/app");
}

#[tokio::test]
async fn a_layer_can_be_kept_as_it_is() {
    let registry = EmbeddedRegistry::start();
    let host = registry.host();
    push(host, "latest", "x").await;
    let media_type = "application/vnd.cncf.flux.content.v1.tar+gzip";
    let selector = json!({"mediaType": media_type, "operation": "copy"});
    let source = Source::new(host, &json!({"layerSelector": selector, "ignore": "*"}));
    let remote = source.remote().expect("connected");
    let resolved = remote.resolve(Ask::Digest).await.expect("resolved");
    let fetched = remote.fetch(&resolved, &source.storage).await.expect("fetched");
    let manifest = repository(host)
        .manifest(&flumen_oci::Target::Tag("latest".to_owned()))
        .await
        .expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest.bytes).expect("JSON");
    assert_eq!(manifest["layers"][0]["digest"], fetched.stored.digest.to_string());
}

#[test]
fn images_of_others_are_read() {
    let Some(crane) = Judge::find("crane") else { return };
    let registry = EmbeddedRegistry::start();
    let host = registry.host();
    let tree = tempfile::tempdir().expect("a tree");
    fs::write(tree.path().join("app.yaml"), "of crane").expect("written");
    let archive = tree.path().join("layer.tar");
    let file = fs::File::create(&archive).expect("created");
    let mut builder = tar::Builder::new(file);
    builder.append_path_with_name(tree.path().join("app.yaml"), "app.yaml").expect("added");
    builder.finish().expect("finished");
    let image = format!("{host}/org/app:latest");
    let archive = archive.to_str().expect("text");
    crane.run(&["append", "--insecure", "-f", archive, "-t", &image]);
    let digest = crane.text(&["digest", "--insecure", &image]);
    let found = runtime().block_on(Source::new(host, &json!({})).fetch()).expect("fetched");
    assert_eq!(found, (format!("latest@{digest}"), "of crane".to_owned()));
}

#[test]
fn credentials_and_certificates_come_from_secrets() {
    let options = RegistryOptions { tls: true, credentials: true };
    let Some(registry) = RealRegistry::start_with(RegistryKind::Distribution, options) else {
        return;
    };
    let host = registry.host();
    let authority = fs::read(registry.authority().expect("an authority")).expect("read");
    let certificates = SecretData::from([("ca.crt".to_owned(), authority)]);
    let login = |password: &str| {
        let config = json!({"auths": {host: {"username": REGISTRY_USER, "password": password}}});
        SecretData::from([(".dockerconfigjson".to_owned(), config.to_string().into_bytes())])
    };
    let runtime = runtime();
    let ask = |certificates: Option<&SecretData>, secrets: Vec<SecretData>| {
        let mut source = Source::new(host, &json!({}));
        source.certificates = certificates.cloned();
        source.pull_secrets = secrets;
        runtime.block_on(source.resolve()).expect_err("nothing is there").to_string()
    };
    let said = ask(Some(&certificates), vec![login(REGISTRY_PASSWORD)]);
    assert!(said.contains("MANIFEST_UNKNOWN"), "{said}");
    let said = ask(Some(&certificates), vec![login("wrong")]);
    assert!(said.contains("UNAUTHORIZED") && !said.contains("wrong"), "{said}");
    let said = ask(Some(&certificates), Vec::new());
    assert!(said.contains("UNAUTHORIZED"), "{said}");
    let said = ask(None, vec![login(REGISTRY_PASSWORD)]);
    assert!(!said.contains("MANIFEST_UNKNOWN"), "{said}");
    let mut source = Source::new(host, &json!({"insecure": true}));
    source.pull_secrets = vec![login(REGISTRY_PASSWORD)];
    let said = runtime.block_on(source.resolve()).expect_err("nothing is there").to_string();
    assert!(said.contains("MANIFEST_UNKNOWN"), "{said}");
}

#[tokio::test]
async fn signatures_are_asked_for() {
    let registry = EmbeddedRegistry::start();
    let host = registry.host();
    let digest = push(host, "latest", "x").await;
    let (good, other) =
        (PrivateKey::generate().expect("a key"), PrivateKey::generate().expect("a key"));
    let secret = |keys: &[&PrivateKey]| -> SecretData {
        let pem = |key: &PrivateKey| key.public_key().to_pem().into_bytes();
        keys.iter().zip(0..).map(|(key, at)| (format!("{at}.pub"), pem(key))).collect()
    };
    let verify = json!({"verify": {"provider": "cosign", "secretRef": {"name": "keys"}}});
    let mut source = Source::new(host, &verify);
    source.keys = Some(secret(&[&other, &good]));
    let resolved = source.resolve().await.expect("resolved");
    let error = source.verify(&resolved).await.expect_err("unsigned");
    assert_eq!(error.condition(), ConditionType::SourceVerified);
    assert_eq!(
        error.to_string(),
        format!(
            "failed to verify the signature using provider 'cosign': no matching signatures were found for '{host}/org/app@{digest}'"
        )
    );

    let target = flumen_oci::Target::Digest(digest);
    let descriptor = repository(host).resolve(&target).await.expect("there");
    let options = SignOptions { placement: Placement::Tag, ..SignOptions::default() };
    sign(&repository(host), &descriptor, &good, &options).await.expect("signed");
    let verified = source.verify(&resolved).await.expect("signed");
    assert!(verified);
    let before = source.trusted().fingerprint();
    source.keys = Some(secret(&[&other]));
    assert_ne!(source.trusted().fingerprint(), before, "other keys are noticed");
    source.verify(&resolved).await.expect_err("another key");

    let mut keyless = Source::new(host, &json!({"verify": {"provider": "cosign"}}));
    let error = keyless.verify(&resolved).await.expect_err("no root");
    let prefix = "failed to verify the signature using provider 'cosign keyless': the public root of Sigstore is not at hand";
    assert!(error.to_string().starts_with(prefix), "{error}");
    assert!(error.to_string().contains("spec.verify.trustedRootSecretRef"), "{error}");
    keyless.spec.verify = None;
    assert!(!keyless.verify(&resolved).await.expect("no wish"));
}
