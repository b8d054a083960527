//! From a directory to a healthy cluster on this machine, on one screen.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use flumen_apply::{Options, Owner, Prune, plan};
use flumen_build::{Built, Inputs};
use flumen_fs::DiskTree;
use flumen_kube::{Client, ConnectOptions};
use flumen_kustomize::FILE_NAMES;
use flumen_object::{Object, ObjectId};
use flumen_oci::{
    Reference, Repository, Target,
    artifact::{Format, Metadata, PullOptions, pack_yaml, pull},
    client::{ClientOptions, Registry},
};
use jiff::Timestamp;

use crate::{
    deliver::carry_out,
    delivery_source::Delivery,
    error::CommandError,
    inventory_args::{Site, now, parse_name},
    kustomizer_config::FieldManager,
    plan_text,
    ui::Ui,
};

/// The namespace of the inventory.
const NAMESPACE: &str = "default";

/// A cluster on this machine.
pub(crate) struct Place {
    pub(crate) registry: String,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) timeout: Duration,
}

/// Builds a directory, pushes the artifact, and applies what is in it. Returns what was applied.
pub(crate) async fn deliver_locally(
    directory: &Path,
    place: &Place,
    ui: &Ui,
) -> Result<Vec<ObjectId>, CommandError> {
    let name = name_of(directory);
    let yaml = build(directory, ui)?.to_yaml()?;
    let delivery = through_registry(&yaml, &name, place, ui).await?;
    let site = place.site(&name).await?;
    let options = Options {
        default_namespace: Some(site.owner.namespace.clone()),
        timeout: place.timeout,
        wait: true,
        prune: Prune::Unguarded,
        ..Options::new(site.owner.clone())
    };
    let planned = plan(&site.client, delivery.objects.clone(), &site.store(), &options).await?;
    ui.step(&format!("plan: {}", plan_text::summary(&planned)));
    let ids: Vec<_> = delivery.objects.iter().map(Object::id).collect();
    carry_out(delivery, &site, options, None, ui).await?;
    Ok(ids)
}

/// All objects. What is remote is not fetched: a cluster on a laptop needs no network.
pub(crate) fn build(directory: &Path, ui: &Ui) -> Result<Built, CommandError> {
    let has_kustomization = FILE_NAMES.iter().any(|name| directory.join(name).is_file());
    let here = vec![directory.to_owned()];
    let (kustomizations, files) =
        if has_kustomization { (here, Vec::new()) } else { (Vec::new(), here) };
    let inputs = Inputs { kustomizations, files, ..Inputs::default() };
    let built =
        flumen_build::build(Arc::new(DiskTree), &inputs, &flumen_build::Options::default())?;
    ui.warnings(&built.warnings);
    Ok(built)
}

/// Pushes the objects and reads them back: what is applied is what the registry holds.
async fn through_registry(
    yaml: &[u8],
    name: &str,
    place: &Place,
    ui: &Ui,
) -> Result<Delivery, CommandError> {
    let reference = Reference::from_name(&format!("{}/{name}:latest", place.registry))?;
    let registry = Registry::new(
        &reference.host,
        &ClientOptions { insecure: true, ..ClientOptions::default() },
    )?;
    let repository = Repository::Remote(registry.repository(&reference.repository));
    let metadata = Metadata {
        source: String::new(),
        revision: String::new(),
        created: Timestamp::UNIX_EPOCH,
        annotations: BTreeMap::new(),
    };
    let packed = pack_yaml(yaml, Format::Kustomizer, &metadata)?;
    let digest = packed.push(&repository, Some("latest")).await?;
    let artifact = format!("oci://{}", reference.pinned(&digest));
    ui.success(&format!("pushed {artifact}"));
    let pulled = pull(&repository, &Target::Digest(digest), &PullOptions::default()).await?;
    Delivery::new(artifact, pulled)
}

impl Place {
    pub(crate) async fn client(&self) -> Result<Client, CommandError> {
        let options = ConnectOptions {
            kubeconfig: Some(self.kubeconfig.clone()),
            namespace: Some(NAMESPACE.to_owned()),
            ..ConnectOptions::default()
        };
        Ok(Client::connect(&options).await?)
    }

    async fn site(&self, name: &str) -> Result<Site, CommandError> {
        let manager = FieldManager::configured()?;
        let client = self.client().await?;
        let owner = Owner {
            manager: manager.name,
            group: manager.group,
            name: name.to_owned(),
            namespace: NAMESPACE.to_owned(),
        };
        Ok(Site { client, owner, now: now() })
    }
}

/// The name of a directory, as far as an inventory can bear it.
pub(crate) fn name_of(directory: &Path) -> String {
    let full = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let name = full.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let fitting = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.unwrap_or_default().chars().map(fitting).take(63).collect();
    let name = name.trim_matches(|c| c == '-' || c == '.');
    parse_name(name).unwrap_or_else(|_| "local".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_directory_has_a_name() {
        for (directory, name) in
            [("/a/shop", "shop"), ("/a/My App", "my-app"), ("/", "local"), ("/a/_x_", "x")]
        {
            assert_eq!(name_of(Path::new(directory)), name);
        }
    }
}
