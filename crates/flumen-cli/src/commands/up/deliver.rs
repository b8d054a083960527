//! From a directory to a healthy cluster on this machine, on one screen.

use std::{path::Path, time::Duration};

use flumen_apply::{Options, Owner, Prune, plan};
use flumen_local::{Place, build_directory, directory_name};
use flumen_object::{Object, ObjectId};

use crate::{
    args::{
        inventory::{Site, now},
        kustomizer_config::FieldManager,
        source::Delivery,
    },
    deliver::carry_out,
    error::CommandError,
    ui::Ui,
    view::plan_text,
};

/// Builds a directory, pushes the artifact, and applies it. Returns what was applied.
pub(super) async fn deliver_locally(
    directory: &Path,
    place: &Place,
    timeout: Duration,
    ui: &Ui,
) -> Result<Vec<ObjectId>, CommandError> {
    let name = directory_name(directory);
    let built = build_directory(directory)?;
    ui.warnings(&built.warnings);
    let pushed = place.push(built.to_yaml()?, &name).await?;
    ui.success(&format!("pushed {}", pushed.artifact));
    let pulled = pushed.pull().await?;
    let delivery = Delivery::new(pushed.artifact, pulled)?;
    let site = site(place, &name).await?;
    let options = Options {
        default_namespace: Some(site.owner.namespace.clone()),
        timeout,
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

async fn site(place: &Place, name: &str) -> Result<Site, CommandError> {
    let manager = FieldManager::configured()?;
    let client = place.client().await?;
    let owner = Owner {
        manager: manager.name,
        group: manager.group,
        name: name.to_owned(),
        namespace: Place::NAMESPACE.to_owned(),
    };
    Ok(Site { client, owner, now: now() })
}
