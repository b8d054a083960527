use std::io::Read as _;

use serde_json::json;

use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn with_map() -> Fixture {
    let server = Fixture::start().await;
    let map = json!({ "metadata": { "name": "a", "labels": { "on": "y" } }, "data": { "k": "1" } });
    assert_eq!(server.create(MAPS, &map).await.status, 201);
    server
}

#[tokio::test]
async fn objects_in_every_type() {
    let server = with_map().await;
    let one = format!("{MAPS}/a");
    let yaml = server.ask("GET", &one, &["Accept: application/yaml"], "").await;
    assert_eq!(yaml.header("content-type"), Some("application/yaml"));
    assert!(yaml.text().contains("  labels:\n    \"on\": \"y\"\n"), "{}", yaml.text());
    let accept = "Accept: application/vnd.kubernetes.protobuf, application/json";
    let protobuf = server.ask("GET", &one, &[accept], "").await;
    assert_eq!(protobuf.header("content-type"), Some("application/vnd.kubernetes.protobuf"));
    assert!(protobuf.body.starts_with(b"k8s\0"));
    let html = server.ask("GET", &one, &["Accept: text/html"], "").await;
    assert_eq!(html.status, 406);
    assert!(html.message().starts_with("406: Not Acceptable\n\nAvailable representations: "));
    let pretty = server.get(&format!("{one}?pretty=true")).await;
    assert!(pretty.text().contains("\n  \"data\": {\n"), "{}", pretty.text());
}

#[tokio::test]
async fn errors_in_the_type_that_was_asked_for() {
    let server = Fixture::start().await;
    let yaml = server.ask("GET", &format!("{MAPS}/no"), &["Accept: application/yaml"], "").await;
    assert_eq!((yaml.status, yaml.header("content-type")), (404, Some("application/yaml")));
    assert!(yaml.text().contains("\nmessage: configmaps \"no\" not found\n"));
}

#[tokio::test]
async fn tables_and_metadata() {
    let server = with_map().await;
    let table = ["Accept: application/json;as=Table;g=meta.k8s.io;v=v1"];
    let list = server.ask("GET", MAPS, &table, "").await.json();
    assert_eq!(list["kind"], "Table");
    assert_eq!(list["rows"][0]["cells"][0], "a");
    assert_eq!(list["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let bare = server.ask("GET", &format!("{MAPS}?includeObject=None"), &table, "").await.json();
    assert!(bare["rows"][0]["object"].is_null());
    let wrong = server.ask("GET", &format!("{MAPS}?includeObject=No"), &table, "").await;
    assert_eq!(wrong.status, 400);
    let partial = ["Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"];
    let list = server.ask("GET", MAPS, &partial, "").await.json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert!(list["items"][0].get("data").is_none());
    let one = server.ask("GET", &format!("{MAPS}/a"), &partial, "").await;
    assert_eq!(one.status, 406);
    assert!(one.message().ends_with("is not a list (*core.ConfigMap)"), "{}", one.message());
}

#[tokio::test]
async fn only_large_answers_are_compressed() {
    let server = Fixture::start().await;
    let map = json!({ "metadata": { "name": "big" }, "data": { "k": "abcdefgh".repeat(20_000) } });
    assert_eq!(server.create(MAPS, &map).await.status, 201);
    let gzip = ["Accept-Encoding: gzip"];
    let big = server.ask("GET", &format!("{MAPS}/big"), &gzip, "").await;
    assert_eq!(big.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(big.body.as_slice()).read_to_string(&mut text).expect("it works");
    assert!(text.contains("abcdefgh"));
    let small = server.ask("GET", "/api/v1/namespaces/default", &gzip, "").await;
    assert_eq!(small.header("content-encoding"), None);
}

#[tokio::test]
async fn bodies_of_types_that_nobody_reads() {
    let server = Fixture::start().await;
    let xml = server.ask("POST", MAPS, &["Content-Type: application/xml"], "<a/>").await;
    assert_eq!(xml.status, 415);
    assert!(xml.message().starts_with("the body of the request was in an unknown format - "));
    let patch = server.ask("PATCH", &format!("{MAPS}/a"), &["Content-Type: text/css"], "{}").await;
    assert_eq!((patch.status, patch.message().as_str()), (415, "415: Unsupported Media Type"));
}
