//! The inventories of a cluster at a glance.

use std::collections::BTreeMap;

use flumen_kube::{Cluster, ListOptions};
use flumen_yaml::Node;
use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use crate::{
    Error,
    config_map::{COMPONENT, CREATED_BY, NAME, PART, resource},
};

/// Summary of an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    pub name: String,
    pub namespace: String,
    /// Number of objects.
    pub entries: usize,
    pub source: String,
    pub revision: String,
    /// RFC 3339, UTC.
    pub last_applied: String,
    /// Digest references of the applied artifacts.
    pub artifacts: Vec<String>,
}

/// The inventories that a manager has in a namespace or everywhere, by namespace and name. `group` is what its
/// annotations begin with.
pub async fn inventories<C: Cluster>(
    cluster: &C,
    manager: &str,
    group: &str,
    namespace: Option<&str>,
) -> Result<Vec<Listed>, Error> {
    let selector = format!("{COMPONENT}=inventory,{CREATED_BY}={manager}");
    let options =
        ListOptions { namespace, label_selector: Some(&selector), ..ListOptions::default() };
    let mut found: BTreeMap<(String, String), Listed> = BTreeMap::new();
    let page = |items: Vec<Node>| {
        for item in &items {
            let text =
                |path: &[&str]| item.at(path).and_then(Node::as_str).unwrap_or_default().to_owned();
            let key = (text(&["metadata", "namespace"]), text(&["metadata", "labels", NAME]));
            let listed = found.entry(key.clone()).or_default();
            (listed.namespace, listed.name) = key;
            listed.entries += list::<IgnoredAny>(&text(&["data", "resources"])).len();
            // Only the first part of an inventory tells more than names of objects.
            if item.at(&["metadata", "labels", PART]).is_none() {
                let note =
                    |key: &str| text(&["metadata", "annotations", &format!("{group}/{key}")]);
                listed.source = note("source");
                listed.revision = note("revision");
                listed.last_applied = note("last-applied-time");
                listed.artifacts = list(&text(&["data", "artifacts"]));
            }
        }
    };
    cluster.list_pages(&resource(), options, page).await?;
    Ok(found.into_values().collect())
}

/// What cannot be read counts as nothing: this is a glance, not a run.
fn list<T: DeserializeOwned>(json: &str) -> Vec<T> {
    serde_json::from_str(json).unwrap_or_default()
}
