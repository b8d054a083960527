//! Which checks a kind has.

use flumen_schema::api::ApiKind;
use serde_json::Value;

use super::core;
use super::report::Report;

pub(super) type Create = fn(&mut Report, &Value);
pub(super) type Update = fn(&mut Report, &Value, &Value);

pub(super) struct Rules {
    group: &'static str,
    kind: &'static str,
    pub(super) create: Create,
    pub(super) update: Update,
    subresources: &'static [(&'static str, Update)],
}

impl Rules {
    pub(super) fn subresource(&self, name: &str) -> Option<Update> {
        self.subresources.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
    }
}

pub(super) fn of(kind: &ApiKind) -> Option<&'static Rules> {
    RULES.iter().find(|rules| rules.kind == kind.kind && rules.group == kind.group)
}

const fn rule(group: &'static str, kind: &'static str, create: Create, update: Update) -> Rules {
    Rules { group, kind, create, update, subresources: &[] }
}

const fn with(rules: Rules, subresources: &'static [(&'static str, Update)]) -> Rules {
    Rules { subresources, ..rules }
}

static RULES: &[Rules] = &[
    rule("", "ConfigMap", core::config_map, core::config_map_update),
    rule("", "Secret", core::secret, core::secret_update),
    rule("", "ServiceAccount", core::service_account, core::service_account_update),
    with(
        rule("", "Namespace", core::namespace, core::namespace_update),
        &[("status", core::namespace_status), ("finalize", core::namespace_finalize)],
    ),
];
