//! The end of namespaces: everything in one is deleted, then the namespace itself goes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use flumen_apiserver::{
    Api, ApiError, Change, Client, Deletion, Reason, Resource, ResourceName, Select,
};
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Clock,
    clock::later,
    follow::Follower,
    kind::Kind,
    object::{self, items, text},
    plan::Writer,
};

/// How long to wait before a namespace that is not empty is looked at again, if nothing in it changes.
const RETRY: Duration = Duration::from_secs(2);

/// Objects that are deleted at the same time. Writes that arrive together share a flush.
const AT_ONCE: usize = 32;

/// The finalizer that stands for this controller.
const FINALIZER: &str = "kubernetes";

pub(crate) struct Namespaces {
    client: Client,
    clock: Clock,
    /// Namespaces that are ending.
    ending: BTreeSet<String>,
    waiting: BTreeSet<String>,
    timers: BTreeMap<String, Timestamp>,
}

/// What is left in a namespace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Left {
    /// By `configmaps.` or `deployments.apps`.
    objects: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
    failures: BTreeSet<String>,
}

impl Follower for Namespaces {
    fn forget(&mut self) {
        self.ending.clear();
    }

    fn next_time(&self) -> Option<Timestamp> {
        self.timers.values().min().copied()
    }

    fn take_in(&mut self, change: &Change) {
        if change.group().is_empty() && change.plural() == "namespaces" {
            let name = change.name().to_owned();
            let ends = !change.is_deletion
                && change.object().is_ok_and(|namespace| object::is_ending(&namespace));
            if ends {
                self.ending.insert(name.clone());
                self.waiting.insert(name);
            } else {
                self.ending.remove(&name);
                self.timers.remove(&name);
            }
        } else if self.ending.contains(change.namespace()) {
            self.waiting.insert(change.namespace().to_owned());
        }
    }

    async fn work(&mut self) {
        let now = self.clock.now();
        let due =
            self.timers.iter().filter(|(_, time)| **time <= now).map(|(name, _)| name.clone());
        self.waiting.extend(due.collect::<Vec<_>>());
        for name in std::mem::take(&mut self.waiting) {
            self.timers.remove(&name);
            if self.end(&name).await.unwrap_or_default() {
                self.ending.remove(&name);
            } else {
                self.timers.insert(name, later(now, RETRY));
            }
        }
    }
}

impl Namespaces {
    pub(crate) fn new(api: Api, clock: Clock) -> Self {
        Self {
            client: Client::new(api, Writer::Manager.name()),
            clock,
            ending: BTreeSet::new(),
            waiting: BTreeSet::new(),
            timers: BTreeMap::new(),
        }
    }

    /// Deletes what is in a namespace, and lets it go if nothing is left; whether it is gone.
    async fn end(&self, name: &str) -> Result<bool, ApiError> {
        let of = Kind::Namespace.resource();
        let mut namespace = match self.client.get(of, "", name).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => return Ok(true),
            namespace => namespace?,
        };
        if !object::is_ending(&namespace) {
            return Ok(true);
        }
        let left = self.empty(name).await;
        let conditions = conditions(&namespace, &left, self.clock.now());
        if namespace.pointer("/status/conditions") != Some(&conditions) {
            object::set(&mut namespace, "/status/conditions", conditions);
            namespace = self.client.update_status(of, &namespace).await?;
        }
        if left != Left::default() {
            return Ok(false);
        }
        let finalizers = namespace.pointer_mut("/spec/finalizers").and_then(Value::as_array_mut);
        if let Some(finalizers) = finalizers {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        self.client.update_part(of, &namespace, "finalize").await?;
        Ok(true)
    }

    async fn empty(&self, namespace: &str) -> Left {
        let catalog = self.client.api().catalog();
        let mut places: BTreeMap<_, &Resource> = BTreeMap::new();
        for resource in catalog.resources() {
            let has = |verb: &str| resource.verbs.iter().any(|given| given == verb);
            if !resource.is_namespaced() || !has("list") || !has("delete") {
                continue;
            }
            let place = (&resource.location.group, &resource.location.plural);
            let chosen = places.entry(place).or_insert(resource);
            // Nobody who converts between versions can be in the way of this one.
            if resource.is_stored_version() {
                *chosen = resource;
            }
        }
        let mut left = Left::default();
        for resource in places.into_values() {
            if let Err(error) = self.empty_of(resource, namespace, &mut left).await {
                left.failures.insert(error.message().to_owned());
            }
        }
        left
    }

    /// Deletes the objects of a resource. What cannot be listed may be there.
    async fn empty_of(
        &self,
        resource: &Resource,
        namespace: &str,
        left: &mut Left,
    ) -> Result<(), ApiError> {
        let of = ResourceName::new(&resource.group, &resource.version, &resource.plural);
        let select = Select { namespace, ..Select::default() };
        let found = self.client.list(of, select).await?;
        let living = found.iter().filter(|item| !object::is_ending(item));
        let names: Vec<String> = living.map(|item| object::name(item).to_owned()).collect();
        let failures = stream::iter(names)
            .map(|name| async move { self.delete(of, namespace, &name).await })
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready)
            .collect::<BTreeSet<String>>();
        left.failures.append(&mut failures.await);
        if found.is_empty() {
            return Ok(());
        }
        let found = self.client.list(of, select).await?;
        if !found.is_empty() {
            let name = format!("{}.{}", resource.plural, resource.group);
            left.objects.insert(name, found.len());
        }
        for finalizer in found.iter().flat_map(|item| items(item, "/metadata/finalizers")) {
            let finalizer = finalizer.as_str().unwrap_or_default().to_owned();
            *left.finalizers.entry(finalizer).or_default() += 1;
        }
        Ok(())
    }

    /// Deletes an object; why it could not.
    async fn delete(&self, of: ResourceName<'_>, namespace: &str, name: &str) -> Option<String> {
        let deletion = Deletion { propagation: Some("Background"), ..Deletion::default() };
        let error = self.client.delete(of, namespace, name, deletion).await.err()?;
        (error.reason() != Some(Reason::NotFound)).then(|| error.message().to_owned())
    }
}

/// The conditions of a namespace that ends, each with the time of its last turn.
fn conditions(namespace: &Value, left: &Left, now: Timestamp) -> Value {
    let counted = |counts: &BTreeMap<String, usize>, word: &str| {
        let parts =
            counts.iter().map(|(name, count)| format!("{name} {word} {count} resource instances"));
        parts.collect::<Vec<_>>().join(", ")
    };
    let failures = left.failures.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let wanted = [
        (
            "NamespaceDeletionDiscoveryFailure",
            None,
            ("ResourcesDiscovered", "All resources successfully discovered"),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
        ),
        (
            "NamespaceDeletionContentFailure",
            (!left.failures.is_empty()).then(|| {
                let count = left.failures.len();
                let all =
                    format!("Failed to delete all resource types, {count} remaining: {failures}");
                ("ContentDeletionFailed", all)
            }),
            ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        ),
        (
            "NamespaceContentRemaining",
            (!left.objects.is_empty()).then(|| {
                let all =
                    format!("Some resources are remaining: {}", counted(&left.objects, "has"));
                ("SomeResourcesRemain", all)
            }),
            ("ContentRemoved", "All content successfully removed"),
        ),
        (
            "NamespaceFinalizersRemaining",
            (!left.finalizers.is_empty()).then(|| {
                let all = counted(&left.finalizers, "in");
                let all = format!("Some content in the namespace has finalizers remaining: {all}");
                ("SomeFinalizersRemain", all)
            }),
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        ),
    ];
    let conditions = wanted.into_iter().map(|(type_name, trouble, (reason, message))| {
        let (status, reason, message) = match trouble {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", reason, message.to_owned()),
        };
        let old = object::condition(namespace, type_name);
        let turned = old
            .filter(|old| text(old, "/status") == status)
            .map_or_else(|| object::stamp(now), |old| text(old, "/lastTransitionTime").to_owned());
        json!({
            "type": type_name,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": turned,
        })
    });
    conditions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_named() {
        let mut left = Left::default();
        left.objects.insert("configmaps.".to_owned(), 1);
        left.finalizers.insert("example.com/hold".to_owned(), 1);
        let conditions = conditions(&json!({}), &left, Timestamp::UNIX_EPOCH);
        let messages: Vec<&str> =
            items(&conditions, "").iter().map(|condition| text(condition, "/message")).collect();
        assert_eq!(
            messages[3],
            "Some resources are remaining: configmaps. has 1 resource instances"
        );
        let finalizers = "Some content in the namespace has finalizers remaining: \
                          example.com/hold in 1 resource instances";
        assert_eq!(messages[4], finalizers);
    }

    #[test]
    fn a_condition_that_does_not_turn_keeps_its_time() {
        let first = conditions(&json!({}), &Left::default(), Timestamp::UNIX_EPOCH);
        let namespace = json!({"status": {"conditions": first}});
        let later = "2026-01-01T00:00:00Z".parse().expect("a time");
        assert_eq!(conditions(&namespace, &Left::default(), later), first);
    }
}
