//! Flux on the same cluster: two that reconcile the same objects take them from each other.

use std::{collections::BTreeSet, fmt, time::Duration};

use flumen_kube::{Client, Cluster as _, Error, ListOptions, ObjectName, Resource};
use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::{Options, election::lease_names};

/// Flux's own mark on what it is made of.
const PART_OF_FLUX: &str = "app.kubernetes.io/part-of=flux";
const COMPONENT: &str = "app.kubernetes.io/component";
/// Flux's controllers that reconcile what we do.
const COMPONENTS: [&str; 2] = ["source-controller", "kustomize-controller"];
/// Looking is a courtesy; it does not hold up a start for longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Somebody who reconciles the same objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rival {
    Deployment { namespace: String, name: String, ready: u32 },
    Lease { namespace: String, name: String, holder: String },
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deployment { namespace, name, ready } => {
                write!(f, "Deployment {namespace}/{name} has {ready} ready")
            }
            Self::Lease { namespace, name, holder } => {
                write!(f, "Lease {namespace}/{name} is held by {holder}")
            }
        }
    }
}

/// What a user can do about them.
pub(crate) fn hint(rivals: &[Rival]) -> String {
    let scale = rivals.iter().filter_map(|rival| match rival {
        Rival::Deployment { namespace, name, .. } => {
            Some(format!("`kubectl -n {namespace} scale deployment {name} --replicas=0`"))
        }
        Rival::Lease { .. } => None,
    });
    let scale = scale.collect::<Vec<_>>().join(" and ");
    if scale.is_empty() {
        "stop who holds the lease, or wait for it with `--enable-leader-election`; \
         `--takeover` goes on regardless"
            .to_owned()
    } else {
        format!("stop them with {scale}; `--takeover` goes on regardless")
    }
}

/// Looks for them. Who may not look is told so, and goes on.
pub(crate) async fn find(client: &Client, options: &Options) -> Vec<Rival> {
    match timeout(PATIENCE, look(client, options)).await {
        Ok(Ok(rivals)) => rivals.into_iter().collect(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot look for a running Flux");
            Vec::new()
        }
        Err(_) => {
            tracing::warn!("cannot look for a running Flux: the server does not answer");
            Vec::new()
        }
    }
}

async fn look(client: &Client, options: &Options) -> Result<BTreeSet<Rival>, Error> {
    let waits = options.election.is_some();
    let mut rivals = BTreeSet::new();
    for deployment in deployments(client, &options.runtime_namespace).await? {
        // Who takes part in the election is excluded by it.
        if is_component(&deployment) && !(waits && takes_part(&deployment)) {
            rivals.extend(running(&deployment));
        }
    }
    if !waits {
        for name in lease_names(options.selector.as_deref()) {
            let lease = fresh_lease(client, &options.runtime_namespace, &name).await;
            rivals.extend(if_allowed(lease)?);
        }
    }
    Ok(rivals)
}

/// What is marked as Flux's anywhere, and everything in the namespace that Flux usually has, as far as we may look there.
async fn deployments(client: &Client, namespace: &str) -> Result<Vec<Node>, Error> {
    let resource = resource("apps/v1", "Deployment", "deployments");
    let marked = ListOptions { label_selector: Some(PART_OF_FLUX), ..ListOptions::default() };
    let here = ListOptions { namespace: Some(namespace), ..ListOptions::default() };
    let mut found = Vec::new();
    for options in [marked, here] {
        let listed = client.list(&resource, options).await.map(|listed| listed.items);
        found.extend(if_allowed(listed)?);
    }
    Ok(found)
}

/// Nothing, where we may not look; that is said.
fn if_allowed<T: Default>(found: Result<T, Error>) -> Result<T, Error> {
    match found {
        Err(error) if error.is_forbidden() => {
            tracing::warn!(%error, "cannot look everywhere for a running Flux");
            Ok(T::default())
        }
        found => found,
    }
}

/// Whether it is one of the controllers that do what we do. A copy for some of the objects has another name and the same label.
fn is_component(deployment: &Node) -> bool {
    let label = deployment.at(&["metadata", "labels", COMPONENT]).and_then(Node::as_str);
    COMPONENTS.contains(&label.unwrap_or_else(|| text(deployment, &["metadata", "name"])))
}

/// Whether it works only while it holds a Lease.
fn takes_part(deployment: &Node) -> bool {
    let containers = deployment.at(&["spec", "template", "spec", "containers"]);
    let containers = containers.and_then(Node::as_seq).into_iter().flatten();
    let mut arguments =
        containers.filter_map(|one| one.get("args").and_then(Node::as_seq)).flatten();
    arguments.any(|argument| {
        let argument = argument.as_str();
        argument == Some("--enable-leader-election")
            || argument == Some("--enable-leader-election=true")
    })
}

fn running(deployment: &Node) -> Option<Rival> {
    let ready = number(deployment, &["status", "readyReplicas"])?;
    (ready > 0).then(|| Rival::Deployment {
        namespace: text(deployment, &["metadata", "namespace"]).to_owned(),
        name: text(deployment, &["metadata", "name"]).to_owned(),
        ready,
    })
}

/// A Lease that somebody holds and renews. Clocks are compared here, which an election never does: this is only a look.
async fn fresh_lease(client: &Client, namespace: &str, name: &str) -> Result<Option<Rival>, Error> {
    let resource = resource("coordination.k8s.io/v1", "Lease", "leases");
    let object = ObjectName { resource: &resource, namespace, name };
    let Some(lease) = client.get(object).await? else { return Ok(None) };
    let holder = text(&lease, &["spec", "holderIdentity"]);
    let lasts = number(&lease, &["spec", "leaseDurationSeconds"]).unwrap_or_default();
    let renewed: Option<Timestamp> = text(&lease, &["spec", "renewTime"]).parse().ok();
    let is_fresh = renewed
        .and_then(|renewed| renewed.checked_add(SignedDuration::from_secs(lasts.into())).ok())
        .is_some_and(|end| end > Timestamp::now());
    Ok((is_fresh && !holder.is_empty()).then(|| Rival::Lease {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        holder: holder.to_owned(),
    }))
}

fn resource(api_version: &'static str, kind: &'static str, plural: &'static str) -> Resource {
    Resource {
        gvk: Gvk::new(&api_version.into(), kind.into()),
        plural: plural.into(),
        namespaced: true,
        verbs: [].into(),
    }
}

fn text<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    node.at(path).and_then(Node::as_str).unwrap_or_default()
}

fn number(node: &Node, path: &[&str]) -> Option<u32> {
    node.at(path).and_then(Node::text)?.as_str().parse().ok()
}
