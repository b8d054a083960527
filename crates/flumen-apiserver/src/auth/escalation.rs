//! Nobody grants more than they have.

use serde::Deserialize;
use serde_json::Value;

use super::{
    rbac::{GROUP, Rbac, RoleRef},
    rules::{Rule, missing},
};
use crate::{
    ApiError, Resource, User,
    http::{RequestInfo, ResourceInfo},
    meta,
};

impl Rbac {
    /// Refuses roles that hold more than their author, and bindings to such roles. Other resources
    /// are none of its business.
    pub(crate) fn check_grant(
        &self,
        user: &User,
        resource: &Resource,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), ApiError> {
        if resource.group != GROUP || user.is_master() {
            return Ok(());
        }
        let (namespace, name) = (meta::namespace(new), meta::name(new));
        let forbidden = |why: String| ApiError::forbidden(GROUP, &resource.plural, name, &why);
        match resource.plural.as_str() {
            "roles" | "clusterroles" => {
                let unchanged = old.is_some_and(|old| {
                    old["rules"] == new["rules"] && old["aggregationRule"] == new["aggregationRule"]
                });
                let escalates = || self.may(user, "escalate", &resource.plural, namespace, name);
                if unchanged || escalates() {
                    return Ok(());
                }
                let aggregates = [Some(new), old]
                    .iter()
                    .flatten()
                    .any(|role| role.get("aggregationRule").is_some_and(|rule| !rule.is_null()));
                let wanted = if aggregates { everything() } else { rules(new) };
                self.confirm(user, namespace, &wanted).map_err(|why| {
                    let what = "must have cluster-admin privileges to use an aggregationRule";
                    forbidden(if aggregates { format!("{what}: {why}") } else { why })
                })
            }
            "rolebindings" | "clusterrolebindings" => {
                let role = RoleRef::deserialize(&new["roleRef"]).unwrap_or_default();
                let unchanged = old.is_some_and(|old| {
                    old["roleRef"] == new["roleRef"] && old["subjects"] == new["subjects"]
                });
                let plural = if role.kind == "ClusterRole" { "clusterroles" } else { "roles" };
                if unchanged || self.may(user, "bind", plural, namespace, &role.name) {
                    return Ok(());
                }
                let wanted = self.rules_of(&role, namespace)?;
                self.confirm(user, namespace, &wanted).map_err(forbidden)
            }
            _ => Ok(()),
        }
    }

    fn may(&self, user: &User, verb: &str, plural: &str, namespace: &str, name: &str) -> bool {
        let resource = ResourceInfo {
            group: GROUP.to_owned(),
            version: "v1".to_owned(),
            namespace: namespace.to_owned(),
            resource: plural.to_owned(),
            name: name.to_owned(),
            ..ResourceInfo::default()
        };
        let verb = verb.to_owned();
        let request = RequestInfo { path: String::new(), resource: Some(resource), verb };
        self.allows(user, &request).is_ok()
    }

    fn confirm(&self, user: &User, namespace: &str, wanted: &[Rule]) -> Result<(), String> {
        let missing = missing(&self.rules(user, namespace), wanted);
        if missing.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> = missing.iter().map(describe).collect();
        lines.sort();
        lines.dedup();
        Err(format!(
            "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            user.name,
            quoted(&user.groups),
            lines.join("\n"),
        ))
    }
}

fn rules(role: &Value) -> Vec<Rule> {
    Option::<Vec<Rule>>::deserialize(&role["rules"]).ok().flatten().unwrap_or_default()
}

fn everything() -> Vec<Rule> {
    let all = || vec!["*".to_owned()];
    vec![
        Rule { verbs: all(), api_groups: all(), resources: all(), ..Rule::default() },
        Rule { verbs: all(), paths: all(), ..Rule::default() },
    ]
}

fn describe(rule: &Rule) -> String {
    let parts = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.paths),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let parts = parts.iter().filter(|(_, words)| !words.is_empty());
    let parts: Vec<String> =
        parts.map(|(name, words)| format!("{name}:{}", quoted(words))).collect();
    format!("{{{}}}", parts.join(", "))
}

/// A list as Go prints it.
fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", words.join(" "))
}
