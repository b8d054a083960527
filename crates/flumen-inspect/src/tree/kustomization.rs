//! Objects that a Kustomization has applied, and what those have applied in turn.

use std::{future::Future, pin::Pin};

use flumen_yaml::Node;

use super::{Branch, Identity, helm_release, kind};
use crate::{
    Error, Site,
    kinds::Kind,
    object::{name_of, namespace_of, text_at},
};

/// Part of the names of Flux's groups.
const FLUX_GROUPS: &str = "toolkit.fluxcd.io";
/// Kustomizations can apply each other in a cycle.
const MAX_DEPTH: usize = 32;

pub(super) async fn tree(site: &Site, name: &str, is_compact: bool) -> Result<Branch, Error> {
    let kinds = Kinds { kustomization: kind("Kustomization")?, release: kind("HelmRelease")? };
    let walk = Walk { site, kinds, is_compact };
    let object = site.find(walk.kinds.kustomization, site.namespace(), name).await?;
    walk.below(object, 0).await
}

struct Kinds {
    kustomization: &'static Kind,
    release: &'static Kind,
}

struct Walk<'a> {
    site: &'a Site,
    kinds: Kinds,
    is_compact: bool,
}

impl Walk<'_> {
    fn is_shown(&self, identity: &Identity) -> bool {
        !self.is_compact || identity.group_kind.group.contains(FLUX_GROUPS)
    }

    fn below(
        &self,
        object: Node,
        depth: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Branch, Error>> + Send + '_>> {
        Box::pin(async move {
            let kind = self.kinds.kustomization;
            let itself = Identity::of_kind(kind, namespace_of(&object), name_of(&object));
            let mut tree = Branch::new(itself);
            if depth > MAX_DEPTH {
                return Ok(tree);
            }
            let applies_elsewhere = object.at(&["spec", "kubeConfig"]).is_some();
            let entries = object.at(&["status", "inventory", "entries"]).and_then(Node::as_seq);
            for entry in entries.into_iter().flatten() {
                let id = text_at(entry, &["id"]);
                let identity =
                    Identity::parse(id).ok_or_else(|| Error::InventoryId(id.to_owned()))?;
                if identity == tree.resource || !self.is_shown(&identity) {
                    continue;
                }
                tree.branches.push(self.branch(identity, applies_elsewhere, depth).await?);
            }
            Ok(tree)
        })
    }

    async fn branch(
        &self,
        identity: Identity,
        is_elsewhere: bool,
        depth: usize,
    ) -> Result<Branch, Error> {
        let Kinds { kustomization, release } = self.kinds;
        if identity.is_of(kustomization) && !is_elsewhere {
            let found = self.site.find(kustomization, &identity.namespace, &identity.name).await;
            let object = found.map_err(|error| Error::Managed(Box::new(error)))?;
            return self.below(object, depth + 1).await;
        }
        let mut branch = Branch::new(identity);
        if branch.resource.is_of(release) {
            let Identity { namespace, name, .. } = &branch.resource;
            let object = self.site.find(release, namespace, name).await?;
            let made = helm_release::objects(self.site, &object).await?;
            let shown = made.into_iter().filter(|identity| self.is_shown(identity));
            branch.branches = shown.map(Branch::new).collect();
        }
        Ok(branch)
    }
}
