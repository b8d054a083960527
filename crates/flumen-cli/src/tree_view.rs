//! What runs, as a tree: applied objects, and below them what controllers made of them.

use std::{collections::BTreeMap, fmt::Write as _};

use anstyle::{AnsiColor, Style};
use flumen_health::{Status, assess};
use flumen_kube::{Client, Cluster as _, ListOptions, ObjectName};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use jiff::Timestamp;

use crate::{
    error::CommandError,
    printable::{Lines, printable},
};

const READY: Style = AnsiColor::Green.on_default();
const BUSY: Style = AnsiColor::Yellow.on_default();
const BROKEN: Style = AnsiColor::Red.on_default();

/// What controllers make, and in which order it is shown.
const MADE: [(&str, &str); 3] = [("apps/v1", "ReplicaSet"), ("batch/v1", "Job"), ("v1", "Pod")];
/// What people run without having applied it with us.
const WORKLOADS: [(&str, &str); 6] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("v1", "Pod"),
];
const MAX_TEXT: usize = 256;

/// Branches by namespace.
pub(crate) type Roots = BTreeMap<String, Vec<Branch>>;
/// Branches by the identity of the one that they hang from.
pub(crate) type Below = BTreeMap<String, Vec<Branch>>;

/// Objects and what they own, as the cluster has them now.
pub(crate) async fn of(client: &Client, applied: &[ObjectId]) -> Result<String, CommandError> {
    let mut roots = Roots::new();
    for id in applied {
        let Some(resource) = client.resource(&id.gvk).await? else { continue };
        // Those that name no namespace were applied to that of the client.
        let namespace = match id.namespace.as_str() {
            _ if !resource.namespaced => "",
            "" => client.namespace(),
            named => named,
        };
        let name = ObjectName { resource: &resource, namespace, name: &id.name };
        if let Some(object) = client.get(name).await? {
            roots.entry(namespace.to_owned()).or_default().push(Branch::of(&object));
        }
    }
    with_owned(client, &roots).await
}

/// All workloads of the cluster that nothing else owns, and what they own.
pub(crate) async fn of_workloads(client: &Client) -> Result<String, CommandError> {
    let mut roots = Roots::new();
    for (api_version, kind) in WORKLOADS {
        for object in list(client, api_version, kind, None).await? {
            if owner(&object).is_none() {
                let namespace = object.at(&["metadata", "namespace"]).and_then(Node::as_str);
                let branches = roots.entry(namespace.unwrap_or_default().to_owned()).or_default();
                branches.push(Branch::of_kind(kind, &object));
            }
        }
    }
    with_owned(client, &roots).await
}

async fn with_owned(client: &Client, roots: &Roots) -> Result<String, CommandError> {
    let mut owned = Below::new();
    for namespace in roots.keys().filter(|namespace| !namespace.is_empty()) {
        add_made(client, namespace, &mut owned).await?;
    }
    Ok(render(roots, &owned))
}

/// Adds what controllers have made in a namespace, below what it was made for.
pub(crate) async fn add_made(
    client: &Client,
    namespace: &str,
    owned: &mut Below,
) -> Result<(), CommandError> {
    for (api_version, kind) in MADE {
        for object in list(client, api_version, kind, Some(namespace)).await? {
            if let Some(owner) = owner(&object) {
                owned.entry(owner.to_owned()).or_default().push(Branch::of_kind(kind, &object));
            }
        }
    }
    Ok(())
}

async fn list(
    client: &Client,
    api_version: &'static str,
    kind: &'static str,
    namespace: Option<&str>,
) -> Result<Vec<Node>, CommandError> {
    let gvk = Gvk::new(&Text::literal(api_version), Text::literal(kind));
    let Some(resource) = client.resource(&gvk).await? else { return Ok(Vec::new()) };
    let options = ListOptions { namespace, ..ListOptions::default() };
    Ok(client.list(&resource, options).await?.items)
}

/// One line of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) uid: String,
    pub(crate) label: String,
    pub(crate) status: Status,
    pub(crate) words: String,
}

impl Branch {
    fn of(object: &Node) -> Self {
        let kind = object.get("kind").and_then(Node::as_str).unwrap_or_default();
        Self::of_kind(kind, object)
    }

    /// Items of lists do not say their kind.
    pub(crate) fn of_kind(kind: &str, object: &Node) -> Self {
        let text = |path: &[&str]| object.at(path).and_then(Node::as_str).unwrap_or_default();
        let (status, words) = match assess(object, Timestamp::now()) {
            Ok(health) => (health.status, health.message),
            Err(error) => (Status::Unknown, error.to_string()),
        };
        let label = format!("{kind}/{}", text(&["metadata", "name"]));
        Self { uid: text(&["metadata", "uid"]).to_owned(), label, status, words }
    }

    const fn style(&self) -> Style {
        match self.status {
            Status::Current => READY,
            Status::Failed | Status::NotFound => BROKEN,
            _ => BUSY,
        }
    }
}

fn owner(object: &Node) -> Option<&str> {
    let flumen_yaml::Value::Seq(owners) = &object.at(&["metadata", "ownerReferences"])?.value
    else {
        return None;
    };
    owners.first()?.get("uid")?.as_str()
}

pub(crate) fn render(roots: &Roots, owned: &Below) -> String {
    let mut text = String::new();
    for (namespace, branches) in roots {
        let heading = if namespace.is_empty() { "cluster" } else { namespace };
        let _ = writeln!(text, "{heading}");
        children(&mut text, "", branches, owned);
    }
    text
}

/// Owners cannot own themselves, so this ends; an object has one place in the tree.
fn children(text: &mut String, indent: &str, branches: &[Branch], owned: &Below) {
    for (place, branch) in branches.iter().enumerate() {
        let is_last = place + 1 == branches.len();
        let (knot, beside) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        let style = branch.style();
        let label = printable(&branch.label, Lines::Escape, MAX_TEXT);
        let words = printable(&branch.words, Lines::Escape, MAX_TEXT);
        let _ = writeln!(text, "{indent}{knot} {style}●{style:#} {label}  {words}");
        if let Some(below) = owned.get(&branch.uid) {
            children(text, &format!("{indent}{beside}"), below, owned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(uid: &str, label: &str) -> Branch {
        let words = "Resource is current".to_owned();
        Branch { uid: uid.to_owned(), label: label.to_owned(), status: Status::Current, words }
    }

    #[test]
    fn what_is_owned_hangs_below_its_owner() {
        let roots = BTreeMap::from([(
            "shop".to_owned(),
            vec![branch("1", "Service/web"), branch("2", "Deployment/web")],
        )]);
        let owned = BTreeMap::from([
            ("2".to_owned(), vec![branch("3", "ReplicaSet/web-1")]),
            ("3".to_owned(), vec![branch("4", "Pod/web-1-a"), branch("5", "Pod/web-1-b")]),
        ]);
        let plain = anstream::adapter::strip_str(&render(&roots, &owned)).to_string();
        assert_eq!(
            plain,
            "shop
├─ ● Service/web  Resource is current
└─ ● Deployment/web  Resource is current
   └─ ● ReplicaSet/web-1  Resource is current
      ├─ ● Pod/web-1-a  Resource is current
      └─ ● Pod/web-1-b  Resource is current
"
        );
    }
}
