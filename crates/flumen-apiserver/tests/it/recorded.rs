//! Documents of the real server, where they were recorded.

use serde_json::Value;

use crate::fixture::Fixture;

fn read(name: &str) -> Option<Value> {
    let Some(dir) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip(name, "there is no recording");
        return None;
    };
    let path = dir.join("corpus/kubernetes/openapi").join(name);
    let text = std::fs::read_to_string(path).expect("it works");
    Some(serde_json::from_str(&text).expect("it works"))
}

#[tokio::test]
async fn discovery_is_that_of_the_real_server() {
    let Some(documents) = read("discovery-legacy.json") else { return };
    let server = Fixture::start().await;
    for (path, expected) in documents.as_object().expect("it works") {
        let mut found = server.get(path).await.json();
        if path == "/api" {
            // The address is that of the recorded server.
            found["serverAddressByClientCIDRs"] = expected["serverAddressByClientCIDRs"].clone();
        }
        assert_eq!(&found, expected, "{path}");
    }
    let accept = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for (path, name) in
        [("/api", "discovery-aggregated-api.json"), ("/apis", "discovery-aggregated-apis.json")]
    {
        let mut found = server.ask("GET", path, &[accept], "").await.json();
        let expected = read(name).expect("it works");
        found["metadata"] = expected["metadata"].clone();
        assert_eq!(found, expected, "{path}");
    }
}

/// Fields whose rules are known to be said otherwise.
const OTHERWISE: [(&str, &str); 3] = [
    // Whether a map is granular is what it is without saying so.
    ("io.k8s.api.core.v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"),
    ("io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef"),
    // To be replaced is what happens anyway.
    ("io.k8s.api.policy.v1.PodDisruptionBudgetSpec", "selector"),
];

#[tokio::test]
async fn schemas_merge_as_those_of_the_real_server() {
    let Some(recorded) = read("merge-keys.json") else { return };
    let server = Fixture::start().await;
    let definitions = server.get("/openapi/v2").await.json()["definitions"].clone();
    let mut compared = 0;
    for (definition, rules) in recorded.as_object().expect("it works") {
        // Documents of discovery are described by nobody who merges.
        if definitions.get(definition).is_none() {
            continue;
        }
        for (field, rules) in rules["fields"].as_object().into_iter().flatten() {
            if OTHERWISE.contains(&(definition.as_str(), field.as_str())) {
                continue;
            }
            let schema = &definitions[definition]["properties"][field];
            for key in
                ["list-type", "list-map-keys", "map-type", "patch-strategy", "patch-merge-key"]
            {
                let found = &schema[format!("x-kubernetes-{key}")];
                assert_eq!(found, &rules[key], "{definition} {field} {key}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "only {compared} rules were compared");
}
