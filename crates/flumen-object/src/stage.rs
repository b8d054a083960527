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

use crate::{Gvk, ObjectId, ObjectSet};

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
    /// In the order of applying.
    pub const ALL: [Self; 4] = [Self::Definitions, Self::Classes, Self::Custom, Self::Rest];

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

    /// Whether the stages behind this one need its objects to be ready, not only there.
    pub const fn is_waited_for(self) -> bool {
        matches!(self, Self::Definitions | Self::Classes)
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

impl ObjectSet {
    /// The objects stage by stage, each in the order of applying. Stages without objects are left out.
    pub fn into_stages(self, custom: &BTreeSet<GroupKind>) -> Vec<(Stage, Self)> {
        let mut stages = Stage::ALL.map(|stage| (stage, Vec::new()));
        for object in self.in_apply_order() {
            let stage = Stage::of(&object.id(), custom);
            if let Some((_, objects)) = stages.iter_mut().find(|(known, _)| *known == stage) {
                objects.push(object);
            }
        }
        let stages = stages.into_iter().filter(|(_, objects)| !objects.is_empty());
        stages.map(|(stage, objects)| (stage, objects.into_iter().collect())).collect()
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, read};

    use super::*;
    use crate::{Object, Origin};

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

    #[test]
    fn a_set_is_split_in_the_order_of_applying() {
        let documents = "kind: Pod\n---\n{kind: IngressClass, metadata: {name: b}}\n---\n\
                         {kind: IngressClass, metadata: {name: a}}\n---\n\
                         {apiVersion: v1, kind: Namespace}\n---\n{kind: ConfigMap}\n";
        let nodes = read(&documents.into(), 1, &Budget::default()).expect("YAML");
        let set: ObjectSet =
            nodes.into_iter().map(|node| Object { node, origin: Origin::default() }).collect();
        let stages: Vec<(Stage, Vec<String>)> = set
            .into_stages(&BTreeSet::new())
            .into_iter()
            .map(|(stage, set)| (stage, set.iter().map(|object| object.id().to_string()).collect()))
            .collect();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(
            stages,
            [
                (Stage::Definitions, names(&["Namespace/"])),
                (Stage::Classes, names(&["IngressClass/a", "IngressClass/b"])),
                (Stage::Rest, names(&["ConfigMap/", "Pod/"])),
            ]
        );
    }
}
