//! Ids as inventories keep them: `namespace_name_group_kind`, without the version.

use std::borrow::Cow;

use flumen_yaml::Text;

use crate::{Gvk, ObjectId};

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// Kinds whose names may hold colons, which the key of a `ConfigMap` may not.
const COLON_KINDS: [&str; 4] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
const COLON: &str = "__";

impl ObjectId {
    /// What an inventory calls the object. It stays the same when only the version changes.
    pub fn inventory_id(&self) -> String {
        let Gvk { group, kind, .. } = &self.gvk;
        let has_colons = group == RBAC_GROUP && COLON_KINDS.contains(&kind.as_str());
        let name = if has_colons {
            Cow::Owned(self.name.replace(':', COLON))
        } else {
            Cow::Borrowed(self.name.as_str())
        };
        format!("{}_{name}_{group}_{kind}", self.namespace)
    }

    /// Reads what an inventory holds: an id and the version beside it.
    ///
    /// Names may hold single underscores; two of them stand for a colon in names of any kind.
    pub fn from_inventory(id: &str, version: &str) -> Result<Self, InventoryIdError> {
        let (namespace, rest) = id.split_once('_').ok_or_else(|| InventoryIdError::new(id))?;
        let (rest, kind) = rest.rsplit_once('_').ok_or_else(|| InventoryIdError::new(rest))?;
        let (name, group) = rest.rsplit_once('_').ok_or_else(|| InventoryIdError::new(rest))?;
        Ok(Self {
            gvk: Gvk { group: group.into(), version: version.into(), kind: kind.into() },
            namespace: namespace.into(),
            name: Text::from(name.replace(COLON, ":")),
        })
    }
}

/// An inventory holds something that is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse stored object metadata: {rest}")]
pub struct InventoryIdError {
    rest: String,
}

impl InventoryIdError {
    fn new(rest: &str) -> Self {
        Self { rest: rest.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an id, compares its parts and writes it again.
    #[track_caller]
    fn check(id: &str, parts: [&str; 4], written: &str) {
        let object = ObjectId::from_inventory(id, "v1").expect("an id");
        let found = [&object.namespace, &object.name, &object.gvk.group, &object.gvk.kind];
        assert_eq!(found.map(Text::as_str), parts);
        assert_eq!(object.gvk.version, "v1");
        assert_eq!(object.inventory_id(), written);
    }

    #[track_caller]
    fn check_error(id: &str, rest: &str) {
        let error = ObjectId::from_inventory(id, "v1").expect_err("no id");
        let expected = format!("unable to parse stored object metadata: {rest}");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn ids_have_four_parts_and_any_may_be_empty() {
        check(
            "web_app_apps_Deployment",
            ["web", "app", "apps", "Deployment"],
            "web_app_apps_Deployment",
        );
        check("_web__Namespace", ["", "web", "", "Namespace"], "_web__Namespace");
        check("___", ["", "", "", ""], "___");
        check("a_b_c_d_e", ["a", "b_c", "d", "e"], "a_b_c_d_e");
    }

    #[test]
    fn colons_are_read_in_every_name_and_written_only_in_those_of_roles() {
        let role = "_system__a____b_rbac.authorization.k8s.io_ClusterRole";
        check(role, ["", "system:a::b", "rbac.authorization.k8s.io", "ClusterRole"], role);
        check(
            "n_a__b_example.com_Role",
            ["n", "a:b", "example.com", "Role"],
            "n_a:b_example.com_Role",
        );
        check("n_a__b__ConfigMap", ["n", "a:b", "", "ConfigMap"], "n_a:b__ConfigMap");
        let leading = "n___a_rbac.authorization.k8s.io_RoleBinding";
        check(leading, ["n", ":a", "rbac.authorization.k8s.io", "RoleBinding"], leading);
    }

    #[test]
    fn the_error_names_what_is_left_when_a_part_is_missing() {
        check_error("", "");
        check_error("abc", "abc");
        check_error("_", "");
        check_error("a_b", "b");
        check_error("_name_apps", "name");
        check_error("a_b_c", "b");
    }
}
