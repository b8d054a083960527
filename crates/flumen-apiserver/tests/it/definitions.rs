//! Custom resources come and go with their definitions.

use flumen_apiserver::{Deletion, ResourceName, Select};
use serde_json::{Value, json};

use crate::{
    fixture::Fixture,
    server::{refusal, start},
};

const DEFINITIONS: ResourceName<'static> =
    ResourceName::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
const WIDGETS: ResourceName<'static> = ResourceName::new("example.com", "v1", "widgets");

fn definition() -> Value {
    json!({
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
                    "properties": { "spec": {
                        "type": "object",
                        "properties": { "size": { "type": "integer", "default": 3, "maximum": 9 } },
                    } },
                } },
            }],
        },
    })
}

fn widget(spec: &Value) -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": { "name": "w", "namespace": "default" },
        "spec": spec,
    })
}

#[tokio::test]
async fn a_definition_is_served_at_once() {
    let client = start().await;
    assert_eq!(refusal(client.list(WIDGETS, Select::default()).await).0, 404);
    client.create(DEFINITIONS, "", &definition()).await.expect("it is valid");
    let created = client.create(WIDGETS, "default", &widget(&json!({ "gone": 1 }))).await;
    assert_eq!(created.expect("it is served")["spec"], json!({ "size": 3 }));
    let mut large = widget(&json!({ "size": 10 }));
    large["metadata"]["name"] = "large".into();
    assert_eq!(refusal(client.create(WIDGETS, "default", &large).await).0, 422);
}

#[tokio::test]
async fn objects_go_before_their_definition() {
    let client = start().await;
    client.create(DEFINITIONS, "", &definition()).await.expect("it is valid");
    client.create(WIDGETS, "default", &widget(&json!({}))).await.expect("it is served");
    let mut changes = client.api().changes().expect("the store is open");
    client
        .delete(DEFINITIONS, "", "widgets.example.com", Deletion::default())
        .await
        .expect("it begins to go");
    loop {
        let change = changes.next().await.expect("the store is open");
        if change.is_deletion && change.name() == "widgets.example.com" {
            break;
        }
    }
    let found = client.get(DEFINITIONS, "", "widgets.example.com").await;
    assert_eq!(refusal(found).0, 404);
}

/// The resource of a request is looked up when its head has come, and its body may come much later.
#[tokio::test]
async fn nothing_is_created_for_a_definition_that_went_meanwhile() {
    let server = Fixture::start().await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(server.create(definitions, &definition()).await.status, 201);
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let body = widget(&json!({})).to_string();
    let mut slow = server.begin("POST", widgets, body.len()).await;
    let own = format!("{definitions}/widgets.example.com");
    assert_eq!(server.ask("DELETE", &own, &[], "").await.status, 200);
    while server.get(&own).await.status != 404 {
        tokio::task::yield_now().await;
    }
    let reply = slow.finish(&body).await;
    assert_eq!(reply.status, 404, "{}", reply.text());
    assert_eq!(server.create(definitions, &definition()).await.status, 201);
    assert_eq!(server.get(widgets).await.json()["items"], json!([]));
}

/// Only bindings of pods are no objects; a custom kind of that name is stored.
#[tokio::test]
async fn a_custom_kind_may_be_called_bindings() {
    let client = start().await;
    let mut definition = definition();
    definition["metadata"]["name"] = "bindings.example.com".into();
    definition["spec"]["names"] = json!({ "plural": "bindings", "kind": "Widget" });
    client.create(DEFINITIONS, "", &definition).await.expect("it is valid");
    let bindings = ResourceName::new("example.com", "v1", "bindings");
    let created = client.create(bindings, "default", &widget(&json!({}))).await;
    assert_eq!(created.expect("it is served")["spec"], json!({ "size": 3 }));
}

#[tokio::test]
async fn a_patch_cannot_make_a_list_of_an_object() {
    let server = Fixture::start().await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(server.create(definitions, &definition()).await.status, 201);
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    assert_eq!(server.create(widgets, &widget(&json!({}))).await.status, 201);
    let path = format!("{widgets}/w?fieldValidation=Ignore");
    let merge = ["Content-Type: application/merge-patch+json"];
    let reply = server.ask("PATCH", &path, &merge, "[1]").await;
    assert_eq!(reply.status, 422, "{}", reply.text());
    assert!(reply.message().contains("\"[1]\": couldn't get version/kind;"), "{}", reply.text());
}
