//! Stages: groups of objects that are applied one after the other.
//!
//! ```text
//! definitions ─▶ classes ─▶ custom ─▶ rest
//! ```
//!
//! Within a stage the order of applying holds. The apply waits for the first two stages, because later
//! objects are refused or misread without them.

use std::collections::BTreeSet;

use crate::{GroupKind, Gvk, ObjectId};

/// Stages compare in the order of applying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Definitions of kinds, namespaces and the roles that other roles aggregate.
    Definitions,
    /// Every kind whose name ends in `Class`.
    Classes,
    /// Kinds that the user wants before the rest.
    Custom,
    Rest,
}

impl Stage {
    /// Returns the stage of an object; `custom` are the kinds of [`Stage::Custom`].
    pub fn of(id: &ObjectId, custom: &BTreeSet<GroupKind>) -> Self {
        let Gvk { group, kind, .. } = &id.gvk;
        match (group.as_str(), kind.as_str()) {
            ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("", "Namespace")
            | ("rbac.authorization.k8s.io", "ClusterRole") => Self::Definitions,
            (_, kind) if kind.ends_with("Class") => Self::Classes,
            _ if custom.contains(&GroupKind::of(&id.gvk)) => Self::Custom,
            _ => Self::Rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Text;

    use super::*;

    fn id(api_version: &str, kind: &str) -> ObjectId {
        let gvk = Gvk::new(&Text::from(api_version), Text::from(kind));
        ObjectId { gvk, namespace: Text::default(), name: Text::literal("a") }
    }

    #[test]
    fn the_kind_and_its_group_decide() {
        let check = |api_version: &str, kind: &str, stage: Stage| {
            let custom = ["example.com/Tenant", "Pod", "example.com/MyClass"];
            let custom = custom.into_iter().map(|kind| kind.parse().expect("a kind")).collect();
            assert_eq!(Stage::of(&id(api_version, kind), &custom), stage, "{api_version} {kind}");
        };
        check("apiextensions.k8s.io/v1", "CustomResourceDefinition", Stage::Definitions);
        check("example.com/v1", "CustomResourceDefinition", Stage::Rest);
        check("v1", "Namespace", Stage::Definitions);
        check("example.com/v1", "Namespace", Stage::Rest);
        check("rbac.authorization.k8s.io/v1beta1", "ClusterRole", Stage::Definitions);
        check("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", Stage::Rest);
        check("storage.k8s.io/v1", "StorageClass", Stage::Classes);
        check("example.com/v1", "MyClass", Stage::Classes);
        check("example.com/v1", "Subclass", Stage::Rest);
        check("example.com/v2", "Tenant", Stage::Custom);
        check("other.example.com/v1", "Tenant", Stage::Rest);
        check("v1", "Pod", Stage::Custom);
    }
}
