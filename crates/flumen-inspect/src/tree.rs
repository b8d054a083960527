//! Objects of Flux and the objects that they manage, as a tree.

mod helm_release;
mod kustomization;

use flumen_yaml::Node;
use serde::Serialize;

use crate::{
    Error, Site,
    kinds::{Kind, by_name},
    object::{name_of, namespace_of, text_at},
};

/// An object and the objects that it manages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    pub resource: Identity,
    #[serde(rename = "resources", skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Self>,
}

/// Kind and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Identity {
    pub namespace: String,
    pub name: String,
    pub group_kind: GroupKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupKind {
    pub group: String,
    pub kind: String,
}

impl Identity {
    fn of_kind(kind: &Kind, namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            group_kind: GroupKind { group: kind.group.to_owned(), kind: kind.kind.to_owned() },
        }
    }

    /// Parses `namespace_name_group_kind`. Colons in names of RBAC are written as two underscores.
    fn parse(id: &str) -> Option<Self> {
        let (namespace, rest) = id.split_once('_')?;
        let (rest, kind) = rest.rsplit_once('_')?;
        let (name, group) = rest.rsplit_once('_')?;
        Some(Self {
            namespace: namespace.to_owned(),
            name: name.replace("__", ":"),
            group_kind: GroupKind { group: group.to_owned(), kind: kind.to_owned() },
        })
    }

    fn is_of(&self, kind: &Kind) -> bool {
        self.group_kind.group == kind.group && self.group_kind.kind == kind.kind
    }
}

impl Branch {
    const fn new(resource: Identity) -> Self {
        Self { resource, branches: Vec::new() }
    }
}

impl Site {
    /// Returns the tree of a Kustomization. A compact one has only objects of Flux.
    pub async fn kustomization_tree(&self, name: &str, is_compact: bool) -> Result<Branch, Error> {
        kustomization::tree(self, name, is_compact).await
    }

    /// Returns an `ArtifactGenerator` with its artifacts.
    pub async fn generator_tree(&self, name: &str) -> Result<Branch, Error> {
        let (generator, artifact) = (kind("ArtifactGenerator")?, kind("ExternalArtifact")?);
        let object = self.find(generator, self.namespace(), name).await?;
        let mut tree =
            Branch::new(Identity::of_kind(generator, namespace_of(&object), name_of(&object)));
        let made = object.at(&["status", "inventory"]).and_then(Node::as_seq);
        tree.branches.extend(made.into_iter().flatten().map(|made| {
            let (namespace, name) = (text_at(made, &["namespace"]), text_at(made, &["name"]));
            Branch::new(Identity::of_kind(artifact, namespace, name))
        }));
        Ok(tree)
    }
}

fn kind(name: &str) -> Result<&'static Kind, Error> {
    by_name(name).ok_or_else(|| Error::UnknownKind(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_both_ends() {
        let check = |id: &str, [namespace, name, group, kind]: [&str; 4]| {
            let group_kind = GroupKind { group: group.to_owned(), kind: kind.to_owned() };
            let (namespace, name) = (namespace.to_owned(), name.to_owned());
            assert_eq!(Identity::parse(id), Some(Identity { namespace, name, group_kind }));
        };
        let rbac = "rbac.authorization.k8s.io";
        check(
            "_system__reader_rbac.authorization.k8s.io_ClusterRole",
            ["", "system:reader", rbac, "ClusterRole"],
        );
        check("apps_web__ConfigMap", ["apps", "web", "", "ConfigMap"]);
        assert_eq!(Identity::parse("web"), None);
    }
}
