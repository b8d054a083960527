use serde_json::{Value, json};

use crate::fixture::Fixture;

const AGGREGATED: &str =
    "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": { "type": "object", "properties": {
                        "size": { "type": "integer" },
                    } } },
                } },
            }],
        },
    })
}

#[tokio::test]
async fn discovery_knows_definitions_at_once() {
    let server = Fixture::start().await;
    let before = server.ask("GET", "/apis", &[AGGREGATED], "").await;
    let etag = before.header("etag").expect("it works").to_owned();
    let same = format!("If-None-Match: {etag}");
    assert_eq!(server.ask("GET", "/apis", &[AGGREGATED, &same], "").await.status, 304);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let created = server.create(definitions, &definition()).await;
    assert_eq!(created.status, 201, "{}", created.text());
    let after = server.ask("GET", "/apis", &[AGGREGATED, &same], "").await;
    assert_eq!(after.status, 200);
    let groups = after.json()["items"].as_array().expect("it works").clone();
    let own =
        groups.iter().find(|group| group["metadata"]["name"] == "example.com").expect("it works");
    assert_eq!(own["versions"][0]["resources"][0]["resource"], "widgets");
    let list = server.get("/apis/example.com/v1").await.json();
    assert_eq!(list["resources"][0]["kind"], "Widget");
    let document = server.get("/openapi/v3/apis/example.com/v1").await.json();
    let schema = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(schema["properties"]["spec"]["properties"]["size"]["type"], "integer");
    assert!(document["paths"].get("/apis/example.com/v1/namespaces/{namespace}/widgets").is_some());
}

#[tokio::test]
async fn documents_move_with_their_content() {
    let server = Fixture::start().await;
    let index = server.get("/openapi/v3").await.json();
    let url =
        index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().expect("it works").to_owned();
    let document = server.get(&url).await;
    assert_eq!(document.header("cache-control"), Some("public, immutable"));
    let moved = server.get("/openapi/v3/apis/apps/v1?hash=OLD").await;
    assert_eq!((moved.status, moved.header("location")), (301, Some(url.as_str())));
    assert_eq!(server.get("/openapi/v3/nope").await.status, 404);
}

#[tokio::test]
async fn schemas_say_how_lists_merge() {
    let server = Fixture::start().await;
    let document = server.get("/openapi/v3/api/v1").await.json();
    let service = &document["components"]["schemas"]["io.k8s.api.core.v1.ServiceSpec"];
    let ports = &service["properties"]["ports"];
    assert_eq!(ports["x-kubernetes-list-map-keys"], json!(["port", "protocol"]));
    assert_eq!(ports["x-kubernetes-patch-merge-key"], "port");
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/services/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-action"], "patch");
    let names: Vec<&Value> =
        patch["parameters"].as_array().expect("it works").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
}

#[tokio::test]
async fn the_older_document_comes_as_text_and_as_protobuf() {
    let server = Fixture::start().await;
    let text = server.get("/openapi/v2").await.json();
    assert_eq!(text["definitions"]["io.k8s.api.core.v1.Pod"]["type"], "object");
    let accept = "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let binary = server.ask("GET", "/openapi/v2", &[accept], "").await;
    let kind = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    assert_eq!(binary.header("content-type"), Some(kind));
    let name = b"io.k8s.api.core.v1.PodSpec";
    assert!(binary.body.windows(name.len()).any(|part| part == name));
}

#[tokio::test]
async fn root_and_version() {
    let server = Fixture::start().await;
    let paths = server.get("/").await.json();
    let paths = paths["paths"].as_array().expect("it works").clone();
    for path in ["/api/v1", "/apis/apps/v1", "/healthz/ping", "/openapi/v3", "/version"] {
        assert!(paths.contains(&path.into()), "{path}");
    }
    assert_eq!(server.get("/version").await.json()["minor"], "35");
}
