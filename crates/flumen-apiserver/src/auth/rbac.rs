//! Who may do what: roles and bindings, found by the subjects that they name.
//!
//! The index follows the store. A request looks up the bindings of its user and of each of the user's
//! groups; nothing else is read.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use flumen_store::WatchError;
use parking_lot::{RwLock, RwLockWriteGuard};
use serde::Deserialize;
use tokio::task::JoinHandle;

use super::rules::Rule;
use crate::{Api, ApiError, Change, Changes, User, http::RequestInfo};

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// Cheap to clone; all clones are the same index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rbac {
    index: Arc<RwLock<Index>>,
}

/// The task that keeps an index up to date, as long as someone has this.
#[derive(Debug)]
pub(crate) struct Following(JoinHandle<()>);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A role by its namespace and name; cluster roles have no namespace.
type RoleKey = (String, String);

#[derive(Debug, Default)]
struct Index {
    roles: HashMap<RoleKey, Arc<[Rule]>>,
    /// The bindings that name a subject, by their namespace.
    by_subject: HashMap<String, BTreeMap<String, Vec<Bound>>>,
    /// Which subjects a binding names, for when it goes.
    bindings: HashMap<RoleKey, Vec<String>>,
}

#[derive(Clone, Debug)]
struct Bound {
    binding: String,
    role: RoleKey,
    /// What is said to those who ask why.
    why: String,
}

#[derive(Debug, Deserialize)]
struct Role {
    #[serde(default)]
    rules: Option<Vec<Rule>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Binding {
    role_ref: RoleRef,
    #[serde(default)]
    subjects: Option<Vec<Subject>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RoleRef {
    pub kind: String,
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl Subject {
    fn describe(&self, binding_namespace: &str) -> String {
        if self.kind != "ServiceAccount" {
            return format!("{} {:?}", self.kind, self.name);
        }
        let namespace = if self.namespace.is_empty() { binding_namespace } else { &self.namespace };
        format!("{} {:?}", self.kind, format!("{}/{namespace}", self.name))
    }

    fn key(&self, binding_namespace: &str) -> String {
        match self.kind.as_str() {
            "Group" => group_key(&self.name),
            "ServiceAccount" => {
                let namespace =
                    if self.namespace.is_empty() { binding_namespace } else { &self.namespace };
                user_key(&super::service_account_name(namespace, &self.name))
            }
            _ => user_key(&self.name),
        }
    }
}

fn user_key(name: &str) -> String {
    format!("user {name}")
}

fn group_key(name: &str) -> String {
    format!("group {name}")
}

impl Rbac {
    /// An index of what is stored, which then follows every change.
    pub(crate) async fn follow(api: &Api) -> Result<(Self, Following), ApiError> {
        let (index, mut changes) = read(api).await?;
        let rbac = Self { index: Arc::new(RwLock::new(index)) };
        let (following, api) = (rbac.clone(), api.clone());
        let task = tokio::spawn(async move {
            loop {
                match changes.next().await {
                    Ok(change) => following.write().take(&change),
                    // The store compacted what was not read yet; what there is now says the rest.
                    Err(WatchError::Lagged) => match read(&api).await {
                        Ok((index, again)) => {
                            *following.write() = index;
                            changes = again;
                        }
                        Err(_) => return,
                    },
                    Err(WatchError::Closed) => return,
                }
            }
        });
        Ok((rbac, Following(task)))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write()
    }

    /// Why a request is allowed; if it is not, what kept the question from being answered fully.
    pub(crate) fn allows(&self, user: &User, request: &RequestInfo) -> Result<String, String> {
        if user.is_master() {
            return Ok(String::new());
        }
        let namespace = request.resource.as_ref().map_or("", |of| &of.namespace);
        let mut problems = Vec::new();
        let why = self.visit(user, namespace, &mut problems, |rule| rule.allows(request));
        if let Some(why) = why {
            return Ok(format!("RBAC: allowed by {why}"));
        }
        Err(match problems.as_slice() {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            several => format!("RBAC: [{}]", several.join(", ")),
        })
    }

    /// All rules that a user has in a namespace, in all namespaces if it is empty.
    pub(crate) fn rules(&self, user: &User, namespace: &str) -> Vec<Rule> {
        let mut rules = Vec::new();
        self.visit(user, namespace, &mut Vec::new(), |rule| {
            rules.push(rule.clone());
            false
        });
        rules
    }

    /// The rules of a role that a binding in a namespace refers to.
    pub(crate) fn rules_of(
        &self,
        role: &RoleRef,
        namespace: &str,
    ) -> Result<Arc<[Rule]>, ApiError> {
        let key = role.key(namespace);
        let index = self.index.read();
        let found = index.roles.get(&key).cloned();
        found.ok_or_else(|| ApiError::not_found(GROUP, resource_of(&key), &key.1))
    }

    /// Shows rules of a user until one is enough, and tells where that comes from.
    fn visit(
        &self,
        user: &User,
        namespace: &str,
        problems: &mut Vec<String>,
        mut enough: impl FnMut(&Rule) -> bool,
    ) -> Option<String> {
        let index = self.index.read();
        let places = if namespace.is_empty() { vec![""] } else { vec!["", namespace] };
        for place in places {
            let subjects = std::iter::once(user_key(&user.name))
                .chain(user.groups.iter().map(|group| group_key(group)));
            for subject in subjects {
                let bound = index.by_subject.get(&subject).and_then(|by| by.get(place));
                for bound in bound.into_iter().flatten() {
                    match index.roles.get(&bound.role) {
                        Some(rules) if rules.iter().any(&mut enough) => {
                            return Some(bound.why.clone());
                        }
                        Some(_) => {}
                        None => problems.push(missing(&bound.role)),
                    }
                }
            }
        }
        None
    }
}

/// An index of what is stored now, and the changes from then on.
async fn read(api: &Api) -> Result<(Index, Changes), ApiError> {
    let mut index = Index::default();
    let mut changes = api.changes()?;
    while !changes.is_current() {
        let Ok(change) = changes.next().await else { break };
        index.take(&change);
    }
    Ok((index, changes))
}

impl Index {
    fn take(&mut self, change: &Change) {
        if change.group() != GROUP {
            return;
        }
        let key = (change.namespace().to_owned(), change.name().to_owned());
        match change.plural() {
            "roles" | "clusterroles" if change.is_deletion => drop(self.roles.remove(&key)),
            "roles" | "clusterroles" => {
                let rules = change.read::<Role>().ok().and_then(|role| role.rules);
                self.roles.insert(key, rules.unwrap_or_default().into());
            }
            "rolebindings" | "clusterrolebindings" => {
                self.unbind(&key);
                if !change.is_deletion
                    && let Ok(binding) = change.read::<Binding>()
                {
                    self.bind(key, binding);
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, key: RoleKey, binding: Binding) {
        let (namespace, name) = &key;
        let role = binding.role_ref.key(namespace);
        let RoleRef { kind: role_kind, name: role_name } = &binding.role_ref;
        let of = if namespace.is_empty() {
            format!("ClusterRoleBinding {name:?} of {role_kind} {role_name:?}")
        } else {
            format!("RoleBinding {:?} of {role_kind} {role_name:?}", format!("{name}/{namespace}"))
        };
        let mut subjects = Vec::new();
        for subject in binding.subjects.into_iter().flatten() {
            let subject_key = subject.key(namespace);
            let why = format!("{of} to {}", subject.describe(namespace));
            let bound = Bound { binding: name.clone(), role: role.clone(), why };
            let places = self.by_subject.entry(subject_key.clone()).or_default();
            places.entry(namespace.clone()).or_default().push(bound);
            subjects.push(subject_key);
        }
        self.bindings.insert(key, subjects);
    }

    fn unbind(&mut self, key: &RoleKey) {
        let (namespace, name) = key;
        for subject in self.bindings.remove(key).unwrap_or_default() {
            let Some(places) = self.by_subject.get_mut(&subject) else { continue };
            if let Some(bound) = places.get_mut(namespace) {
                bound.retain(|bound| bound.binding != *name);
                if bound.is_empty() {
                    places.remove(namespace);
                }
            }
            if places.is_empty() {
                self.by_subject.remove(&subject);
            }
        }
    }
}

impl RoleRef {
    fn key(&self, namespace: &str) -> RoleKey {
        let namespace = if self.kind == "ClusterRole" { "" } else { namespace };
        (namespace.to_owned(), self.name.clone())
    }
}

fn resource_of(key: &RoleKey) -> &'static str {
    if key.0.is_empty() { "clusterroles" } else { "roles" }
}

fn missing(key: &RoleKey) -> String {
    let kind = if key.0.is_empty() { "clusterrole" } else { "role" };
    format!("{kind}.{GROUP} {:?} not found", key.1)
}
