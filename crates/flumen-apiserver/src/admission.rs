//! Rules about requests that depend on more than the object: on its namespace, on other objects, on
//! what the cluster wants.
//!
//! All are compiled in, in one order; a server can be told to do without some. A plugin may change
//! objects, and refuse them after all have changed them.

mod certificates;
mod claim_resize;
mod default_ingress_class;
mod default_storage_class;
mod default_tolerations;
mod described;
mod expressions;
mod limit_ranger;
mod matching;
mod namespace_lifecycle;
mod permissions;
mod pod_security;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_protection;
mod taint_nodes;
mod topology_labels;
mod validating_policy;
mod webhooks;

use std::str::FromStr;

use flumen_store::Range;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

pub(crate) use self::{certificates::name_requester, resource_quota::Charges};

use crate::{ApiError, Resource, meta, storage, verbs::Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    /// As rules name it.
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A request that is to be admitted. Objects are in the version that is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt<'a> {
    pub request: &'a Request<'a>,
    pub operation: Operation,
    /// What is there; of a deletion, what is deleted.
    pub old: Option<&'a Value>,
    pub dry_run: bool,
}

type Result<T = ()> = std::result::Result<T, ApiError>;

/// One rule, under the name that the real server has for it.
struct Plugin {
    name: &'static str,
    mutate: fn(&Attempt<'_>, &mut Value) -> Result,
    validate: fn(&Attempt<'_>, &Value) -> Result,
}

const fn changes(name: &'static str, mutate: fn(&Attempt<'_>, &mut Value) -> Result) -> Plugin {
    Plugin { name, mutate, validate: |_, _| Ok(()) }
}

const fn refuses(name: &'static str, validate: fn(&Attempt<'_>, &Value) -> Result) -> Plugin {
    Plugin { name, mutate: |_, _| Ok(()), validate }
}

/// In the order of the real server.
const PLUGINS: &[Plugin] = &[
    changes("NamespaceLifecycle", namespace_lifecycle::mutate),
    Plugin { name: "LimitRanger", mutate: limit_ranger::mutate, validate: limit_ranger::validate },
    changes("ServiceAccount", service_account::mutate),
    changes("TaintNodesByCondition", taint_nodes::mutate),
    refuses("PodSecurity", pod_security::validate),
    Plugin { name: "Priority", mutate: priority::mutate, validate: priority::validate },
    changes("DefaultTolerationSeconds", default_tolerations::mutate),
    changes("DefaultStorageClass", default_storage_class::mutate),
    changes("StorageObjectInUseProtection", storage_protection::mutate),
    refuses("PersistentVolumeClaimResize", claim_resize::validate),
    Plugin {
        name: "RuntimeClass",
        mutate: runtime_class::mutate,
        validate: runtime_class::validate,
    },
    refuses("CertificateApproval", certificates::approve),
    refuses("CertificateSigning", certificates::sign),
    refuses("CertificateSubjectRestriction", certificates::restrict_subject),
    changes("DefaultIngressClass", default_ingress_class::mutate),
    changes("PodTopologyLabels", topology_labels::mutate),
    refuses("ValidatingAdmissionPolicy", validating_policy::validate),
];

// These wait for programs, or count what is stored; each has its place below.
const MUTATING_WEBHOOKS: AdmissionPlugin = AdmissionPlugin("MutatingAdmissionWebhook");
const VALIDATING_WEBHOOKS: AdmissionPlugin = AdmissionPlugin("ValidatingAdmissionWebhook");
const QUOTAS: AdmissionPlugin = AdmissionPlugin("ResourceQuota");

/// A rule that a server can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionPlugin(&'static str);

/// There is no rule of this name.
#[derive(Debug, Error)]
#[error("no admission plugin has this name; there are {}", names().collect::<Vec<_>>().join(", "))]
pub struct UnknownPlugin;

impl FromStr for AdmissionPlugin {
    type Err = UnknownPlugin;

    fn from_str(text: &str) -> std::result::Result<Self, UnknownPlugin> {
        names().find(|name| *name == text).map(Self).ok_or(UnknownPlugin)
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    let others = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, QUOTAS].map(|AdmissionPlugin(name)| name);
    PLUGINS.iter().map(|plugin| plugin.name).chain(others)
}

/// Lets all plugins change the object. If a webhook did, they look at it a second time.
pub(crate) async fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    let mut rounds = webhooks::Rounds::default();
    loop {
        enabled(attempt).try_for_each(|plugin| (plugin.mutate)(attempt, object))?;
        if attempt.has(MUTATING_WEBHOOKS) {
            webhooks::mutate(attempt, object, &mut rounds).await?;
        }
        if !rounds.repeat() {
            return Ok(());
        }
    }
}

/// Lets all plugins refuse the object.
pub(crate) async fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    enabled(attempt).try_for_each(|plugin| (plugin.validate)(attempt, object))?;
    if attempt.has(VALIDATING_WEBHOOKS) {
        webhooks::validate(attempt, object).await?;
    }
    Ok(())
}

fn enabled(attempt: &Attempt<'_>) -> impl Iterator<Item = &'static Plugin> {
    PLUGINS.iter().filter(|plugin| attempt.has(AdmissionPlugin(plugin.name)))
}

/// What the object costs, after all plugins have agreed to it.
pub(crate) fn charges(attempt: &Attempt<'_>, object: &Value) -> Result<Charges> {
    if attempt.has(QUOTAS) {
        resource_quota::charges(attempt, object)
    } else {
        Ok(Charges::default())
    }
}

/// Several reasons as one text.
fn joined(reasons: &[String]) -> String {
    match reasons {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

impl Attempt<'_> {
    /// Whether the server has a plugin.
    fn has(&self, plugin: AdmissionPlugin) -> bool {
        !self.request.api.disabled_plugins().contains(&plugin)
    }

    fn resource(&self) -> &Resource {
        &self.request.resource
    }

    /// Whether objects of a resource are created, not a part of them.
    fn creates(&self, group: &str, plural: &str) -> bool {
        self.operation == Operation::Create && self.is_about(group, plural)
    }

    fn is_about(&self, group: &str, plural: &str) -> bool {
        let resource = self.resource();
        self.request.target().subresource.is_empty()
            && (&*resource.group, &*resource.plural) == (group, plural)
    }

    fn namespace(&self) -> &str {
        self.request.namespace()
    }

    /// The name of the object; empty if it is generated later.
    fn name<'b>(&'b self, object: &'b Value) -> &'b str {
        let name = &*self.request.target().name;
        if name.is_empty() { meta::name(object) } else { name }
    }

    /// The refusal of this object.
    fn forbid(&self, object: &Value, why: &str) -> ApiError {
        let resource = self.resource();
        let names = [self.name(object), meta::text(object, "generateName")];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown");
        ApiError::forbidden(&resource.group, &resource.plural, name, why)
    }

    /// Another object of the server.
    fn find(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>> {
        let key = format!("{}{name}", prefix(group, plural, namespace));
        Ok(storage::get(self.request.api.store(), &key)?.map(|stored| stored.object))
    }

    /// The parts of another object that a type names.
    fn read<T: DeserializeOwned>(
        &self,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<T>> {
        let key = format!("{}{name}", prefix(group, plural, namespace));
        storage::read(self.request.api.store(), &key)
    }

    /// Other objects of the server; those of a namespace, or all.
    fn all(&self, group: &str, plural: &str, namespace: &str) -> Result<Vec<Value>> {
        let prefix = prefix(group, plural, namespace);
        let range = Range { prefix: &prefix, ..Range::default() };
        let page = self.request.api.store().range(&range);
        let page = page.map_err(|error| storage::read_error(&error))?;
        page.entries.iter().map(|(_, entry)| storage::decode(entry)).collect()
    }
}

/// Where the built-in objects of a resource are.
fn prefix(group: &str, plural: &str, namespace: &str) -> String {
    let group = if group.is_empty() { "core" } else { group };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{group}/{plural}/{namespace}{slash}")
}
