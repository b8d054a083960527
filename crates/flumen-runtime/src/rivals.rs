//! Detection of other controllers for the same kinds: two controllers would undo each other's work.

use std::{collections::BTreeSet, fmt, time::Duration};

use flumen_kube::{Client, Cluster as _, Error, ListOptions, ObjectName, Resource};
use flumen_object::Gvk;
use flumen_yaml::Node;
use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::{Clock, election::lease_name};

/// Label of the components of Flux.
const PART_OF_FLUX: &str = "app.kubernetes.io/part-of=flux";
const COMPONENT: &str = "app.kubernetes.io/component";
/// Longest delay of a start: the detection is a courtesy.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A controller that reconciles the same kinds.
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

/// Returns how a user can stop them.
pub fn hint(rivals: &[Rival]) -> String {
    let scale = rivals.iter().filter_map(|rival| match rival {
        Rival::Deployment { namespace, name, .. } => {
            Some(format!("`kubectl -n {namespace} scale deployment {name} --replicas=0`"))
        }
        Rival::Lease { .. } => None,
    });
    let scale = scale.collect::<Vec<_>>().join(" and ");
    if scale.is_empty() {
        "stop the holder of the lease, or wait for it with `--enable-leader-election`; \
         `--takeover` starts regardless"
            .to_owned()
    } else {
        format!("stop them with {scale}; `--takeover` starts regardless")
    }
}

/// A search for rivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) client: &'a Client,
    pub(crate) clock: &'a Clock,
    /// Names of the controllers that this process stands for.
    pub(crate) controllers: &'a [&'static str],
    /// Namespace of the controllers and their Leases.
    pub(crate) namespace: &'a str,
    pub(crate) selector: Option<&'a str>,
    /// This process takes part in the election, which excludes rivals that take part, too.
    pub(crate) is_elected: bool,
}

impl Search<'_> {
    /// Returns the rivals. Without permission to list them, the controller logs a warning and continues.
    pub(crate) async fn run(self) -> Vec<Rival> {
        match timeout(TIMEOUT, self.look()).await {
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

    async fn look(self) -> Result<BTreeSet<Rival>, Error> {
        let mut rivals = BTreeSet::new();
        for deployment in deployments(self.client, self.namespace).await? {
            let is_excluded = self.is_elected && takes_part(&deployment);
            if self.is_component(&deployment) && !is_excluded {
                rivals.extend(running(&deployment));
            }
        }
        if !self.is_elected {
            for controller in self.controllers {
                let name = lease_name(controller, self.selector);
                rivals.extend(if_allowed(self.fresh_lease(&name).await)?);
            }
        }
        Ok(rivals)
    }

    /// Whether a Deployment runs one of our controllers. One for a shard has another name and the same label.
    fn is_component(self, deployment: &Node) -> bool {
        let label = deployment.at(&["metadata", "labels", COMPONENT]).and_then(Node::as_str);
        let name = label.unwrap_or_else(|| text(deployment, &["metadata", "name"]));
        self.controllers.contains(&name)
    }

    /// Returns the holder of a Lease that is renewed. This compares clocks of two machines, which an election never does.
    async fn fresh_lease(self, name: &str) -> Result<Option<Rival>, Error> {
        let Self { client, namespace, .. } = self;
        let resource = resource("coordination.k8s.io/v1", "Lease", "leases");
        let object = ObjectName { resource: &resource, namespace, name };
        let Some(lease) = client.get(object).await? else { return Ok(None) };
        let holder = text(&lease, &["spec", "holderIdentity"]);
        let lasts = number(&lease, &["spec", "leaseDurationSeconds"]).unwrap_or_default();
        let renewed: Option<Timestamp> = text(&lease, &["spec", "renewTime"]).parse().ok();
        let is_fresh = renewed
            .and_then(|renewed| renewed.checked_add(SignedDuration::from_secs(lasts.into())).ok())
            .is_some_and(|end| end > self.clock.now());
        Ok((is_fresh && !holder.is_empty()).then(|| Rival::Lease {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            holder: holder.to_owned(),
        }))
    }
}

/// Returns the Deployments with the label of Flux, and all in the namespace of the controllers, as far as permitted.
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

/// Returns nothing where the permission is missing, and logs that.
fn if_allowed<T: Default>(found: Result<T, Error>) -> Result<T, Error> {
    match found {
        Err(error) if error.is_forbidden() => {
            tracing::warn!(%error, "cannot look everywhere for a running Flux");
            Ok(T::default())
        }
        found => found,
    }
}

/// Whether a Deployment takes part in an election.
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
