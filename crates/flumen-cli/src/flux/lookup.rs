//! Finding objects on a cluster.

use flumen_kube::{Cluster as _, ListOptions, ObjectName, Resource};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};

use super::{Kind, Site, words::words};
use crate::error::CommandError;

impl Site {
    /// How the cluster serves a kind, if it does.
    pub(crate) async fn served(&self, kind: &Kind) -> Result<Option<Resource>, CommandError> {
        let found = self.client.preferred_resource(kind.group, kind.kind).await;
        found.map_err(|error| discovery_failed(&error))
    }

    /// How the cluster serves a kind.
    pub(crate) async fn resource(&self, kind: &Kind) -> Result<Resource, CommandError> {
        self.served(kind).await?.ok_or_else(|| {
            let (kind, version) = (kind.kind, kind.api_version());
            CommandError::brief(format!("no matches for kind \"{kind}\" in version \"{version}\""))
        })
    }

    /// How the cluster serves a kind of the core group.
    pub(crate) async fn core_resource(&self, kind: &'static str) -> Result<Resource, CommandError> {
        let gvk = Gvk::new(&Text::literal("v1"), Text::literal(kind));
        let found = self.client.resource(&gvk).await.map_err(|error| discovery_failed(&error))?;
        found.ok_or_else(|| {
            CommandError::brief(format!("no matches for kind \"{kind}\" in version \"v1\""))
        })
    }

    /// One object; that there is none is an error.
    pub(crate) async fn find(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Node, CommandError> {
        let resource = self.resource(kind).await?;
        let object = ObjectName { resource: &resource, namespace, name };
        let found = self.client.get(object).await.map_err(CommandError::request)?;
        found.ok_or_else(|| missing(kind, name))
    }

    /// All objects that match.
    pub(crate) async fn list(
        &self,
        resource: &Resource,
        options: ListOptions<'_>,
    ) -> Result<Vec<Node>, CommandError> {
        let list = self.client.list(resource, options).await.map_err(CommandError::request)?;
        Ok(list.items)
    }

    /// The objects of this kind in the namespace: one by its name, or all.
    pub(crate) async fn in_namespace(
        &self,
        resource: &Resource,
        name: Option<&str>,
    ) -> Result<Vec<Node>, CommandError> {
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

/// What the server says of an object that is not there.
pub(crate) fn missing(kind: &Kind, name: &str) -> CommandError {
    CommandError::brief(format!("{} \"{name}\" not found", kind.resource()))
}

fn discovery_failed(error: &flumen_kube::Error) -> CommandError {
    CommandError::brief(format!("failed to get server groups: {}", words(error)))
}
