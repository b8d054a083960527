//! Makes the definitions from the types.

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::{
    ExternalArtifact, ExternalArtifactSpec, ExternalArtifactStatus, GitRepository,
    GitRepositorySpec, GitRepositoryStatus, Kind, Kustomization, KustomizationSpec,
    KustomizationStatus, OciRepository, OciRepositorySpec, OciRepositoryStatus, schema,
};

type Column = (&'static str, &'static str, &'static str);

const AGE: Column = ("Age", "date", ".metadata.creationTimestamp");
const READY: Column = ("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#);
const STATUS: Column = ("Status", "string", r#".status.conditions[?(@.type=="Ready")].message"#);
const URL: Column = ("URL", "string", ".spec.url");
const SOURCE: Column = ("Source", "string", ".spec.sourceRef.name");

/// What a definition says beside its schema.
struct Facts {
    description: &'static str,
    short_name: &'static str,
    category: &'static str,
    columns: [Option<Column>; 4],
    /// The status of an object that nobody has looked at.
    first_status: Option<Value>,
}

/// The definitions as texts, each with the name of its file.
pub fn generate_definitions() -> Result<Vec<(String, String)>, serde_json::Error> {
    let unseen = || Some(json!({"observedGeneration": -1}));
    [
        definition::<Kustomization, KustomizationSpec, KustomizationStatus>(Facts {
            description: "Manifests of a source, built and kept applied.",
            short_name: "ks",
            category: "fluxcd-appliers",
            columns: [Some(AGE), Some(READY), Some(STATUS), None],
            first_status: unseen(),
        }),
        definition::<GitRepository, GitRepositorySpec, GitRepositoryStatus>(Facts {
            description: "A Git repository that is followed.",
            short_name: "gitrepo",
            category: "fluxcd-sources",
            columns: [Some(URL), Some(AGE), Some(READY), Some(STATUS)],
            first_status: unseen(),
        }),
        definition::<OciRepository, OciRepositorySpec, OciRepositoryStatus>(Facts {
            description: "A repository of a registry that is followed.",
            short_name: "ocirepo",
            category: "fluxcd-sources",
            columns: [Some(URL), Some(READY), Some(STATUS), Some(AGE)],
            first_status: unseen(),
        }),
        definition::<ExternalArtifact, ExternalArtifactSpec, ExternalArtifactStatus>(Facts {
            description: "An artifact that somebody else makes and serves.",
            short_name: "ea",
            category: "fluxcd-sources",
            columns: [Some(AGE), Some(READY), Some(STATUS), Some(SOURCE)],
            first_status: None,
        }),
    ]
    .into_iter()
    .map(|(name, definition)| {
        let text = serde_json::to_string_pretty(&definition)?;
        Ok((format!("{name}.json"), format!("{text}\n")))
    })
    .collect()
}

fn definition<K: Kind, Spec: JsonSchema, Status: JsonSchema>(facts: Facts) -> (String, Value) {
    let mut status = schema::of::<Status>();
    if let Some(first) = facts.first_status {
        status["default"] = first;
    }
    let columns: Vec<Value> = facts
        .columns
        .into_iter()
        .flatten()
        .map(|(name, r#type, path)| json!({"name": name, "type": r#type, "jsonPath": path}))
        .collect();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{}.{}", K::PLURAL, K::GROUP),
            // Patterns in the schema look like variables to a Kustomization that applies it.
            "annotations": {"kustomize.toolkit.fluxcd.io/substitute": "disabled"},
        },
        "spec": {
            "group": K::GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": K::KIND,
                "listKind": format!("{}List", K::KIND),
                "plural": K::PLURAL,
                "singular": K::KIND.to_lowercase(),
                "shortNames": [facts.short_name],
                "categories": ["all", "fluxcd", facts.category],
            },
            "versions": [{
                "name": K::VERSION,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": columns,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": facts.description,
                    "properties": {
                        "apiVersion": {"type": "string", "description": "API version of the object."},
                        "kind": {"type": "string", "description": "Kind of the object."},
                        "metadata": {"type": "object"},
                        "spec": schema::of::<Spec>(),
                        "status": status,
                    },
                }},
            }],
        },
    });
    (format!("{}_{}", K::GROUP, K::PLURAL), definition)
}
