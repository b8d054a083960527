//! A plain HTTP client, and a registry for it to talk to.

use std::{fs, path::Path};

use flumen_registry::{Options, Server};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A registry in a directory of its own, until the test ends.
pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) data: TempDir,
    options: Options,
    client: Client,
}

fn files(directory: &Path) -> usize {
    fs::read_dir(directory).expect("a directory").count()
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let mut options = Options::new(data.path());
        change(&mut options);
        let server = Server::start(options.clone()).await.expect("starts");
        Self { server, data, options, client: Client::new() }
    }

    /// Stops the server, does something to its directory, and starts it with the same options.
    pub(crate) async fn restart(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let Self { server, data, options, client } = self;
        server.shutdown().await;
        meanwhile(data.path());
        let server = Server::start(options.clone()).await.expect("starts again");
        Self { server, data, options, client }
    }

    /// How many files there are of uploads that are not finished.
    pub(crate) fn files_of_uploads(&self) -> usize {
        files(&self.data.path().join("uploads"))
    }

    pub(crate) fn files_of_blobs(&self) -> usize {
        files(&self.data.path().join("blobs/sha256"))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        if path.starts_with("http") {
            return path.to_owned();
        }
        format!("http://{}{path}", self.server.address())
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.expect("an answer")
    }

    pub(crate) async fn head(&self, path: &str) -> Response {
        self.request(Method::HEAD, path).send().await.expect("an answer")
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.request(Method::DELETE, path).send().await.expect("an answer")
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Response {
        self.request(Method::POST, path).body(body).send().await.expect("an answer")
    }

    /// Begins an upload and returns where it goes on.
    pub(crate) async fn begin_upload(&self, repository: &str) -> String {
        let begun = self.post(&format!("/v2/{repository}/blobs/uploads/"), "").await;
        assert_eq!(begun.status(), StatusCode::ACCEPTED);
        header(&begun, "location")
    }

    /// Pushes a blob in one request and returns its digest.
    pub(crate) async fn push_blob(&self, repository: &str, content: &[u8]) -> String {
        let digest = sha256(content);
        let path = format!("/v2/{repository}/blobs/uploads/?digest={digest}");
        let response = self.post(&path, content.to_vec()).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(header(&response, "docker-content-digest"), digest);
        digest
    }

    pub(crate) async fn put_manifest(
        &self,
        repository: &str,
        reference: &str,
        media_type: &str,
        manifest: &Value,
    ) -> Response {
        self.request(Method::PUT, &format!("/v2/{repository}/manifests/{reference}"))
            .header("content-type", media_type)
            .body(manifest.to_string())
            .send()
            .await
            .expect("an answer")
    }

    /// Pushes an artifact of one layer and returns the digest of its manifest.
    pub(crate) async fn push(&self, repository: &str, tag: &str, layer: &[u8]) -> String {
        let config = self.push_blob(repository, b"{}").await;
        let digest = self.push_blob(repository, layer).await;
        let manifest = image((&config, 2), &[(&digest, layer.len())]);
        let response = self.put_manifest(repository, tag, MANIFEST, &manifest).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        header(&response, "docker-content-digest")
    }
}

pub(crate) fn sha256(content: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(content))
}

pub(crate) fn header(response: &Response, name: &str) -> String {
    let value = response.headers().get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_else(|| panic!("no header {name} in {response:?}")).to_owned()
}

pub(crate) fn image(config: (&str, usize), layers: &[(&str, usize)]) -> Value {
    let describe = |media_type: &str, (digest, size): (&str, usize)| json!({"mediaType": media_type, "digest": digest, "size": size});
    let layers: Vec<Value> = layers
        .iter()
        .map(|layer| describe("application/vnd.oci.image.layer.v1.tar+gzip", *layer))
        .collect();
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": describe("application/vnd.oci.image.config.v1+json", config),
        "layers": layers,
    })
}

/// Checks that a request was refused in the way that the specification has for it.
pub(crate) async fn assert_refused(response: Response, status: u16, code: &str) {
    let (url, actual) = (response.url().clone(), response.status().as_u16());
    let body = json_of(response).await;
    let error = &body["errors"][0];
    assert_eq!((actual, error["code"].as_str()), (status, Some(code)), "{url}: {body}");
    assert!(error["message"].is_string(), "{url}: {body}");
}

pub(crate) async fn json_of(response: Response) -> Value {
    let text = response.text().await.expect("a body");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}
