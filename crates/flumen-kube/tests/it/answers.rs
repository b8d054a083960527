//! Addresses, headers and compression.

use std::time::{Duration, Instant};

use flumen_kube::{Client, Cluster as _, ConnectOptions, Error, ListOptions, WatchOptions};
use futures_util::StreamExt as _;

use crate::support::{Encoding, Scripted, config_maps, text};

/// A client for a cluster with further fields in its kubeconfig.
async fn client(server: &Scripted, path: &str, fields: &str) -> Client {
    let text = format!(
        "current-context: a\ncontexts: [{{name: a, context: {{cluster: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: '{}{path}', {fields}}}}}]",
        server.address()
    );
    let client = Client::from_kubeconfig_text(&text, &ConnectOptions::default()).await;
    client.expect("a client")
}

/// A list with one object that is longer than any buffer.
fn long_list() -> &'static str {
    let value = "0123456789".repeat(100_000);
    let object = format!(r#"{{"metadata":{{"name":"a"}},"data":{{"key":"{value}"}}}}"#);
    format!(r#"{{"metadata":{{}},"items":[{object}]}}"#).leak()
}

async fn list(client: &Client) -> Result<usize, Error> {
    let list = client.list(&config_maps(), ListOptions::default()).await?;
    Ok(list.items.iter().map(|item| text(item, &["data", "key"]).len()).sum())
}

#[tokio::test]
async fn paths_of_an_address_stay() {
    let server = Scripted::start(|_, _| (200, r#"{"metadata":{},"items":[]}"#)).await;
    for path in ["", "/", "/k8s/clusters/c-1", "/k8s/clusters/c-1/"] {
        let client = client(&server, path, "").await;
        let address = format!("{}{path}", server.address());
        assert_eq!(client.address(), address.trim_end_matches('/'));
        list(&client).await.expect("a list");
    }
    let path = |request: &String| request.split('?').next().unwrap_or_default().to_owned();
    let paths: Vec<String> = server.requests().iter().map(path).collect();
    let (plain, prefixed) = ("GET /api/v1/configmaps", "GET /k8s/clusters/c-1/api/v1/configmaps");
    assert_eq!(paths, [plain, plain, prefixed, prefixed]);
}

#[tokio::test]
async fn requests_name_their_sender() {
    let server = Scripted::start(|_, _| (200, r#"{"metadata":{},"items":[]}"#)).await;
    list(&server.client().await).await.expect("a list");
    let head = &server.heads()[0];
    let agent = concat!("flumen/", env!("CARGO_PKG_VERSION"));
    assert_eq!(head.header("user-agent"), Some(agent));
    assert_eq!(head.header("accept-encoding"), Some("gzip"));
    assert_eq!(head.header("accept"), Some("application/json"));
    assert_eq!(head.header("authorization"), None);
}

#[tokio::test]
async fn compressed_answers_are_read() {
    let body = long_list();
    let server = Scripted::start_with(Encoding::Gzip, move |_, _| (200, body)).await;
    assert_eq!(list(&client(&server, "", "").await).await.expect("a list"), 1_000_000);
    let plain = client(&server, "", "disable-compression: true").await;
    assert_eq!(list(&plain).await.expect("a list"), 1_000_000);
    let heads = server.heads();
    let asked: Vec<_> = heads.iter().map(|head| head.header("accept-encoding")).collect();
    assert_eq!(asked, [Some("gzip"), None]);
}

#[tokio::test]
async fn compressed_refusals_are_read() {
    let refusal = r#"{"kind":"Status","code":403,"message":"not you"}"#;
    let server = Scripted::start_with(Encoding::Gzip, move |_, _| (403, refusal)).await;
    let error = list(&server.client().await).await.expect_err("refused");
    assert!(error.is_forbidden() && error.to_string().contains("not you"), "{error:?}");
}

#[tokio::test]
async fn watches_are_not_compressed() {
    let event = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n";
    let server = Scripted::start_with(Encoding::Gzip, move |_, _| (200, event)).await;
    let client = server.client().await;
    // The scripted server keeps the connection; the length of the body ends the watch.
    let watch = client.watch(&config_maps(), WatchOptions::default()).await.expect("a watch");
    let events: Vec<_> = watch.collect().await;
    assert!(matches!(&events[..], [Ok(_)]), "{events:?}");
    assert_eq!(server.heads()[0].header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn a_compressed_answer_without_its_end_is_asked_for_again() {
    let body = long_list();
    let server = Scripted::start_with(Encoding::FirstCut, move |_, _| (200, body)).await;
    let client = server.client().await.with_deadline(Instant::now() + Duration::from_mins(1));
    assert_eq!(list(&client).await.expect("a list"), 1_000_000);
    assert_eq!(client.requests(), 2);
}
