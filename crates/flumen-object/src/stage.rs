//! Stages: what has to be there before the rest can be applied.
//!
//! ```text
//! definitions ─▶ classes ─▶ custom ─▶ rest
//! ```
//!
//! Within a stage the order of applying holds. The first two stages are waited for, because what
//! follows is refused or misread without them.

use std::{collections::BTreeSet, str::FromStr};

use flumen_yaml::Text;

use crate::{Gvk, ObjectId};

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

/// A kind in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    pub group: Text,
    pub kind: Text,
}

impl Stage {
    /// The stage of an object; `custom` are the kinds of [`Stage::Custom`].
    pub fn of(id: &ObjectId, custom: &BTreeSet<GroupKind>) -> Self {
        let Gvk { group, kind, .. } = &id.gvk;
        match (group.as_str(), kind.as_str()) {
            ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("", "Namespace")
            | ("rbac.authorization.k8s.io", "ClusterRole") => Self::Definitions,
            (_, kind) if kind.ends_with("Class") => Self::Classes,
            _ if custom.contains(&id.gvk.group_kind()) => Self::Custom,
            _ => Self::Rest,
        }
    }
}

impl Gvk {
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }
}

/// `group/Kind`, or `Kind` of the core group.
impl FromStr for GroupKind {
    type Err = GroupKindError;

    fn from_str(text: &str) -> Result<Self, GroupKindError> {
        let (group, kind) = text.rsplit_once('/').unwrap_or(("", text));
        if kind.is_empty() || group.contains('/') {
            return Err(GroupKindError);
        }
        Ok(Self { group: group.into(), kind: kind.into() })
    }
}

/// A text that names no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a kind is written as `group/Kind`")]
pub struct GroupKindError;

#[cfg(test)]
mod tests {
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

    #[test]
    fn kinds_are_written_with_their_group() {
        let kind: GroupKind = "apps/Deployment".parse().expect("a kind");
        assert_eq!(kind, id("apps/v1", "Deployment").gvk.group_kind());
        for wrong in ["", "apps/", "apps/v1/Deployment"] {
            assert_eq!(wrong.parse::<GroupKind>(), Err(GroupKindError), "{wrong}");
        }
    }
}
