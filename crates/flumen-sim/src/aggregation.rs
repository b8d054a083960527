//! Cluster roles whose rules are those of others.

use serde_json::Value;

use crate::{
    engine::Context,
    kind::Kind,
    object::{self, items, map},
    plan::{Action, Plan},
    selector,
};

/// Gathers the rules of the roles that an aggregated role selects, each once, role by role by name.
pub(crate) fn decide(context: Context<'_>, role: &Value) -> Plan {
    let mut plan = Plan::none();
    let selectors = items(role, "/aggregationRule/clusterRoleSelectors");
    if selectors.is_empty() {
        return plan;
    }
    let mut rules: Vec<&Value> = Vec::new();
    for selector in selectors {
        let others = context.world.all(Kind::ClusterRole);
        let selected = others.filter(|other| {
            object::name(other) != object::name(role)
                && selector::matches(Some(selector), map(other, "/metadata/labels"))
        });
        for rule in selected.flat_map(|other| items(other, "/rules")) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    if !items(role, "/rules").iter().eq(rules.iter().copied()) {
        let role = object::name(role).to_owned();
        let rules = rules.into_iter().cloned().collect();
        plan.actions.push(Action::ApplyRules { role, rules });
    }
    plan
}
