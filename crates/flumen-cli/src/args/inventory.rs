//! Options of every command for an inventory, and the inventory that they select.

use std::time::Duration;

use clap::Args;
use flumen_apply::{
    ConfigMapStore, InventoryStore as _, Listed, MAX_INVENTORY_NAME, Owner, Recorded, inventories,
    is_inventory_name,
};
use flumen_kube::{Client, Cluster as _, ObjectName};
use flumen_object::Gvk;
use flumen_yaml::{Entry, Node, Pos, Text, Value};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    args::{cluster::ClusterArgs, kustomizer_config::FieldManager},
    error::{CommandError, Failure},
};

/// Requests may end this much later than their run, so that its outcome is recorded.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct SiteArgs {
    /// Manager of the fields that are applied
    ///
    /// The default is what kustomizer's configuration (`~/.kustomizer/config`) says, and `kustomizer`
    /// without one, so that inventories made by kustomizer go on.
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    field_manager: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// An inventory on a cluster.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) client: Client,
    pub(crate) owner: Owner,
    /// The time of the run, RFC 3339.
    pub(crate) now: String,
}

impl SiteArgs {
    /// Returns the inventory of this name in the selected namespace.
    ///
    /// With a limit, the deadline of all requests is that of a run of this length.
    pub(crate) async fn open(
        &self,
        name: &str,
        limit: Option<Duration>,
    ) -> Result<Site, CommandError> {
        let manager = self.manager()?;
        let mut client = self.connect().await?;
        if let Some(limit) = limit {
            client = client.with_deadline(Instant::now() + limit + GRACE);
        }
        let owner = Owner {
            manager: manager.name,
            group: manager.group,
            name: name.to_owned(),
            namespace: client.namespace().to_owned(),
        };
        Ok(Site { client, owner, now: now() })
    }

    pub(crate) fn manager(&self) -> Result<FieldManager, CommandError> {
        let configured = FieldManager::configured()?;
        Ok(match &self.field_manager {
            Some(name) => FieldManager { name: name.clone(), ..configured },
            None => configured,
        })
    }

    pub(crate) async fn connect(&self) -> Result<Client, CommandError> {
        self.cluster.connect().await
    }
}

impl Site {
    pub(crate) fn store(&self) -> ConfigMapStore<Client> {
        ConfigMapStore::new(self.client.clone(), self.owner.clone(), self.now.clone())
    }

    /// Returns the content of the inventory, which has to exist.
    pub(crate) async fn recorded(&self) -> Result<Recorded, CommandError> {
        let recorded = self.store().load().await?;
        if recorded.inventory.is_empty() && recorded.history.is_empty() {
            return Err(missing(&self.owner.name, &self.owner.namespace));
        }
        Ok(recorded)
    }

    /// Returns the summary of the inventory.
    pub(crate) async fn summary(&self) -> Result<Listed, CommandError> {
        let Owner { manager, group, name, namespace } = &self.owner;
        let listed = inventories(&self.client, manager, group, Some(namespace)).await?;
        let found = listed.into_iter().find(|inventory| inventory.name == *name);
        found.ok_or_else(|| missing(name, namespace))
    }

    /// Creates the namespace of the inventory, unless it exists.
    pub(crate) async fn create_namespace(&self) -> Result<(), CommandError> {
        let gvk = Gvk::new(&Text::literal("v1"), Text::literal("Namespace"));
        let Some(resource) = self.client.resource(&gvk).await? else {
            return Err(CommandError::failure("the cluster has no namespaces"));
        };
        let name = &self.owner.namespace;
        let object = ObjectName { resource: &resource, namespace: "", name };
        if self.client.get(object).await?.is_some() {
            return Ok(());
        }
        let map = |fields: Vec<Entry>| Node::new(Pos::default(), Value::Map(fields.into()));
        let body = map(vec![
            Entry::new("apiVersion", Node::string("v1")),
            Entry::new("kind", Node::string("Namespace")),
            Entry::new("metadata", map(vec![Entry::new("name", Node::string(name.as_str()))])),
        ]);
        match self.client.create(object, &body, &self.owner.manager).await {
            Err(error) if !error.is_already_exists() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

pub(crate) fn missing(name: &str, namespace: &str) -> CommandError {
    Failure::new(format!("there is no inventory `{name}` in namespace `{namespace}`"))
        .hint("`flumen get inventories -A` lists those of all namespaces")
        .into()
}

/// Returns the present time in the format of inventories.
pub(crate) fn now() -> String {
    Timestamp::now().strftime("%FT%TZ").to_string()
}

/// Parses the name of an inventory.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    if is_inventory_name(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected at most {MAX_INVENTORY_NAME} lower-case letters, digits, `-` and `.`, such as `web` or `shop-2`"
    ))
}
