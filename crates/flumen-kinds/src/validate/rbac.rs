//! Roles and who has them.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{format, selector};
use crate::internal;
use crate::read::Read;

const GROUP: &str = "rbac.authorization.k8s.io";
/// Names of roles may have any form that fits into a path, also before what the server adds.
const NAMING: Naming = Naming::new(format::path_segment, format::path_segment);

fn rules(e: &mut Report, object: &Value, scope: Scope) {
    let at = Path::new("rules");
    for (n, rule) in object.list("rules").iter().enumerate() {
        let at = at.index(n);
        if rule.list("verbs").is_empty() {
            e.required(&at.child("verbs"), "verbs must contain at least one value");
        }
        let urls = rule.list("nonResourceURLs");
        if !urls.is_empty() {
            let at = at.child("nonResourceURLs");
            if scope == Scope::Namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                e.invalid(&at, urls.to_vec(), detail);
            }
            let fields = ["apiGroups", "resources", "resourceNames"];
            if fields.iter().any(|field| !rule.list(field).is_empty()) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                e.invalid(&at, urls.to_vec(), detail);
            }
            continue;
        }
        if rule.list("apiGroups").is_empty() {
            let detail = "resource rules must supply at least one api group";
            e.required(&at.child("apiGroups"), detail);
        }
        if rule.list("resources").is_empty() {
            let detail = "resource rules must supply at least one resource";
            e.required(&at.child("resources"), detail);
        }
    }
}

pub(super) fn role(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, NAMING);
    rules(e, object, Scope::Namespaced);
}

pub(super) fn role_update(e: &mut Report, new: &Value, old: &Value) {
    role(e, new);
    meta::check_update(e, new, old);
}

pub(super) fn cluster_role(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, NAMING);
    rules(e, object, Scope::Cluster);
    let Some(rule) = object.some("aggregationRule") else { return };
    let at = Path::new("aggregationRule");
    let at = at.child("clusterRoleSelectors");
    let selectors = rule.list("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        e.required(&at, detail);
    }
    for (n, labels) in selectors.iter().enumerate() {
        selector::check(e, &at.index(n), labels);
        if selector::matches(labels, &Value::Null).is_none() {
            e.invalid(&at.index(n), Value::Null, "invalid label selector.");
        }
    }
}

pub(super) fn cluster_role_update(e: &mut Report, new: &Value, old: &Value) {
    cluster_role(e, new);
    meta::check_update(e, new, old);
}

fn binding(e: &mut Report, object: &Value, scope: Scope) {
    meta::check(e, object, scope, NAMING);
    let at = Path::new("roleRef");
    let role = object.part("roleRef");
    e.one_of(&at.child("apiGroup"), role.text("apiGroup"), &[GROUP]);
    let kinds: &[&str] = match scope {
        Scope::Namespaced => &["Role", "ClusterRole"],
        Scope::Cluster => &["ClusterRole"],
    };
    e.one_of(&at.child("kind"), role.text("kind"), kinds);
    e.required_form(&at.child("name"), role.text("name"), format::path_segment);
    let at = Path::new("subjects");
    for (n, subject) in object.list("subjects").iter().enumerate() {
        let at = at.index(n);
        let (name, group) = (subject.text("name"), subject.text("apiGroup"));
        e.filled(&at.child("name"), name);
        match subject.text("kind") {
            "ServiceAccount" => {
                e.form_if_filled(&at.child("name"), name, format::dns_subdomain);
                e.one_of(&at.child("apiGroup"), group, &[""]);
                if scope == Scope::Cluster {
                    e.filled(&at.child("namespace"), subject.text("namespace"));
                }
            }
            "User" | "Group" => e.one_of(&at.child("apiGroup"), group, &[GROUP]),
            other => {
                e.not_supported(&at.child("kind"), other, &["ServiceAccount", "User", "Group"]);
            }
        }
    }
}

fn binding_update(e: &mut Report, new: &Value, old: &Value, scope: Scope) {
    binding(e, new, scope);
    meta::check_update(e, new, old);
    let role = new.part("roleRef");
    if role != old.part("roleRef") {
        let shown = internal::shown("rbac.RoleRef", role);
        e.invalid(&Path::new("roleRef"), shown, "cannot change roleRef");
    }
}

pub(super) fn role_binding(e: &mut Report, object: &Value) {
    binding(e, object, Scope::Namespaced);
}

pub(super) fn role_binding_update(e: &mut Report, new: &Value, old: &Value) {
    binding_update(e, new, old, Scope::Namespaced);
}

pub(super) fn cluster_role_binding(e: &mut Report, object: &Value) {
    binding(e, object, Scope::Cluster);
}

pub(super) fn cluster_role_binding_update(e: &mut Report, new: &Value, old: &Value) {
    binding_update(e, new, old, Scope::Cluster);
}
