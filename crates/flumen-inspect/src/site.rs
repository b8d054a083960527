//! A namespace of a cluster, and objects in it.

use flumen_kube::{Client, Cluster as _, ListOptions, ObjectName, Resource};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};
use tokio::time::Instant;

use crate::{Error, kinds::Kind};

/// A namespace of a cluster, with a deadline for all requests together.
#[derive(Clone, Debug)]
pub struct Site {
    client: Client,
    namespace: String,
    deadline: Instant,
}

impl Site {
    pub fn new(client: &Client, namespace: String, deadline: Instant) -> Self {
        Self { client: client.with_deadline(deadline), namespace, deadline }
    }

    pub const fn client(&self) -> &Client {
        &self.client
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns how the cluster serves a kind, or `None` if the kind is not installed.
    pub(crate) async fn served(&self, kind: &Kind) -> Result<Option<Resource>, Error> {
        self.client.preferred_resource(kind.group, kind.kind).await.map_err(Error::Discovery)
    }

    /// Returns how the cluster serves a kind, which has to be installed.
    pub async fn resource(&self, kind: &Kind) -> Result<Resource, Error> {
        self.served(kind).await?.ok_or_else(|| Error::KindNotInstalled {
            kind: kind.kind.to_owned(),
            version: kind.api_version(),
        })
    }

    /// Returns how the cluster serves a kind of the core group.
    pub async fn core_resource(&self, kind: &'static str) -> Result<Resource, Error> {
        let gvk = Gvk::new(&Text::literal("v1"), Text::literal(kind));
        let found = self.client.resource(&gvk).await.map_err(Error::Discovery)?;
        found.ok_or_else(|| Error::KindNotInstalled {
            kind: kind.to_owned(),
            version: "v1".to_owned(),
        })
    }

    /// Returns an object, which has to exist.
    pub async fn find(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Node, Error> {
        let resource = self.resource(kind).await?;
        let object = ObjectName { resource: &resource, namespace, name };
        self.client.get(object).await?.ok_or_else(|| Error::not_found(kind, name))
    }

    /// Returns all objects that match.
    pub async fn list(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
    ) -> Result<Vec<Node>, Error> {
        Ok(self.client.list(resource, options).await?.items)
    }

    /// Returns the objects of a kind in the namespace: one by its name, or all.
    pub async fn in_namespace(
        &self,
        resource: &Resource,
        name: Option<&str>,
    ) -> Result<Vec<Node>, Error> {
        let field_selector = name.map(named);
        let options = ListOptions {
            namespace: Some(&self.namespace),
            field_selector: field_selector.as_deref(),
            ..ListOptions::default()
        };
        self.list(resource, options).await
    }
}

/// The field selector of objects with this name.
pub(crate) fn named(name: &str) -> String {
    format!("metadata.name={name}")
}
