//! Whether what a Kustomization depends on is ready: others of its kind, or objects of any kind.

use std::{collections::BTreeSet, sync::Arc};

use flumen_api::{
    Artifact, ConditionStatus, Dependency, Kind as _, Kustomization, READY, condition,
};
use flumen_health::ReadyExpression;
use flumen_kube::{Cluster as _, ObjectName};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};

use super::{
    failure::{Failure, Said},
    outcome::INVALID_CEL,
};
use crate::{
    Controller,
    cache::{depended::Known, reflected::Name},
    queue::Next,
    status::resource,
};

pub(crate) const REASON: &str = "DependencyNotReady";

/// Names of the Kustomizations that one depends on.
pub(crate) fn depends_on(object: &Kustomization) -> impl Iterator<Item = (String, String)> {
    let of_kustomizations = object.spec.depends_on.iter().filter(|one| is_kustomization(one));
    of_kustomizations.map(|one| (object.namespace_of(one).to_owned(), one.name.clone()))
}

/// Objects of other kinds that a Kustomization depends on. Those that are in no namespace have that of the Kustomization
/// here, too: only a server knows better.
pub(crate) fn depends_on_objects(object: &Kustomization) -> impl Iterator<Item = ObjectId> {
    let of_others = object.spec.depends_on.iter().filter(|one| !is_kustomization(one));
    of_others.map(|one| id(object, one))
}

/// Whether a Kustomization asks with an expression of its own whether another is ready.
pub(crate) fn has_expression_on(object: &Kustomization, (namespace, name): &Name) -> bool {
    object.spec.depends_on.iter().any(|one| {
        is_kustomization(one)
            && one.ready_expr.is_some()
            && one.name == *name
            && object.namespace_of(one) == namespace
    })
}

fn is_kustomization(dependency: &Dependency) -> bool {
    let group = |api_version: &str| api_version.split_once('/').map(|(group, _)| group.to_owned());
    dependency.kind.as_deref().is_none_or(|kind| kind == Kustomization::KIND)
        && dependency
            .api_version
            .as_deref()
            .is_none_or(|version| group(version).as_deref() == Some(Kustomization::GROUP))
}

fn id(object: &Kustomization, dependency: &Dependency) -> ObjectId {
    let gvk = if is_kustomization(dependency) {
        resource::<Kustomization>().gvk
    } else {
        let api_version = Text::from(dependency.api_version.clone().unwrap_or_default());
        Gvk::new(&api_version, Text::from(dependency.kind.clone().unwrap_or_default()))
    };
    let namespace = Text::from(object.namespace_of(dependency));
    ObjectId { gvk, namespace, name: Text::from(dependency.name.as_str()) }
}

/// Fails unless everything is ready. What is not is told by the first one in the order of the list.
pub(super) async fn check(
    controller: &Controller,
    object: &Kustomization,
    artifact: &Artifact,
) -> Result<(), Failure> {
    if let Some(cycle) = cycle(controller, object) {
        return Err(not_ready(controller, format!("dependency cycle {cycle}"), Next::Rest));
    }
    for dependency in &object.spec.depends_on {
        let met = if is_kustomization(dependency) {
            on_kustomization(controller, object, dependency, artifact).await
        } else {
            on_object(controller, object, dependency).await
        };
        // What is watched wakes those who wait for it. What is not, or not yet, is looked at again.
        let is_watched = is_kustomization(dependency)
            || !matches!(controller.depended.get(&id(object, dependency)), Known::Nothing);
        let again = Next::After(controller.options.requeue_dependency);
        let next = if is_watched { Next::Rest } else { again };
        met.map_err(|unmet| match unmet {
            Unmet::NotReady(message) => not_ready(controller, message, next),
            Unmet::Invalid(error) => Failure::terminal(
                INVALID_CEL,
                format!("Reconciliation failed terminally due to configuration error: {error}"),
            ),
        })?;
    }
    Ok(())
}

fn not_ready(controller: &Controller, message: String, next: Next) -> Failure {
    // The time is that which users of Flux know; most dependencies wake us earlier.
    let wait = flumen_api::GoDuration(controller.options.requeue_dependency);
    let said = format!("Dependencies do not meet ready condition, retrying in {wait}");
    Failure::waiting(REASON, message, next).saying(Said::Info(said))
}

/// Why a dependency is not met.
enum Unmet {
    NotReady(String),
    /// The question itself is wrong.
    Invalid(String),
}

async fn on_kustomization(
    controller: &Controller,
    object: &Kustomization,
    dependency: &Dependency,
    artifact: &Artifact,
) -> Result<(), Unmet> {
    let namespace = object.namespace_of(dependency);
    let name = format!("{namespace}/{}", dependency.name);
    let not_ready = |what: &str| Unmet::NotReady(format!("dependency '{name}' {what}"));
    let there = match controller.kustomizations.get(namespace, &dependency.name) {
        Some(Ok(there)) => there,
        Some(Err(malformed)) => return Err(not_ready(&format!("not found: {malformed}"))),
        None => {
            let group = "kustomizations.kustomize.toolkit.fluxcd.io";
            let missing = format!("not found: {group} \"{}\" not found", dependency.name);
            return Err(not_ready(&missing));
        }
    };
    if dependency.ready == Some(false) {
        return Ok(());
    }
    if let Some(expression) = &dependency.ready_expr {
        by_expression(controller, object, dependency, expression).await?;
        if !controller.options.additive_dependency_checks {
            return Ok(());
        }
    }
    let status = &there.status;
    let ready = condition(there.as_ref(), READY).map(|ready| ready.status);
    if status.observed_generation != there.metadata.generation
        || ready != Some(ConditionStatus::True)
    {
        return Err(not_ready("is not ready"));
    }
    let same_source = object.spec.source_ref.kind == there.spec.source_ref.kind
        && object.spec.source_ref.name == there.spec.source_ref.name
        && object.source_namespace() == there.source_namespace();
    if same_source && status.last_applied_revision.as_deref() != Some(&artifact.revision) {
        return Err(not_ready("revision is not up to date"));
    }
    Ok(())
}

/// A dependency on an object of another kind.
async fn on_object(
    controller: &Controller,
    object: &Kustomization,
    dependency: &Dependency,
) -> Result<(), Unmet> {
    if let Some(expression) = &dependency.ready_expr {
        return by_expression(controller, object, dependency, expression).await;
    }
    let there = read(controller, &id(object, dependency)).await?;
    let health = flumen_health::HealthRules::default().assess(&there, &[], jiff::Timestamp::now());
    if dependency.ready == Some(false) || health.status == flumen_health::Status::Current {
        return Ok(());
    }
    let subject = ObjectId::of(&there);
    Err(Unmet::NotReady(format!("dependency '{subject}' is not ready: {}", health.message)))
}

async fn by_expression(
    controller: &Controller,
    object: &Kustomization,
    dependency: &Dependency,
    expression: &str,
) -> Result<(), Unmet> {
    let name = &dependency.name;
    let compiled = ReadyExpression::new(expression).map_err(|error| {
        Unmet::Invalid(format!("terminal error: failed to evaluate dependency {name}: {error}"))
    })?;
    let metadata = &object.metadata;
    let this = ObjectId {
        gvk: resource::<Kustomization>().gvk,
        namespace: Text::from(metadata.namespace.as_str()),
        name: Text::from(metadata.name.as_str()),
    };
    let this = read(controller, &this).await?;
    let there = read(controller, &id(object, dependency)).await?;
    match compiled.is_ready(&this, &there) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unmet::NotReady(format!(
            "dependency '{}/{name}' is not ready according to readyExpr eval",
            object.namespace_of(dependency)
        ))),
        Err(error) => Err(Unmet::NotReady(error.to_string())),
    }
}

/// An object as it is: from the watch, or from the server while that has told nothing.
async fn read(controller: &Controller, id: &ObjectId) -> Result<Arc<Node>, Unmet> {
    let ObjectId { gvk, namespace, name } = id;
    let not_found = |why: &dyn std::fmt::Display| {
        Unmet::NotReady(format!("dependency '{namespace}/{name}' not found: {why}"))
    };
    let known = controller.depended.get(id);
    if let Known::There(node) = known {
        return Ok(node);
    }
    let resource = controller.client.resource(gvk).await.map_err(|error| not_found(&error))?;
    let Some(resource) = resource else {
        let (kind, version) = (&gvk.kind, gvk.api_version());
        return Err(not_found(&format!("no matches for kind \"{kind}\" in version \"{version}\"")));
    };
    let found = if matches!(known, Known::Missing) {
        None
    } else {
        let object = ObjectName { resource: &resource, namespace, name };
        controller.client.get(object).await.map_err(|error| not_found(&error))?
    };
    found.map(Arc::new).ok_or_else(|| {
        let dot = if gvk.group.is_empty() { "" } else { "." };
        let plural = format!("{}{dot}{}", resource.plural, gvk.group);
        not_found(&format!("{plural} \"{name}\" not found"))
    })
}

/// All Kustomizations that one depends on, also through others. It may be among them.
pub(super) fn ahead(controller: &Controller, object: &Kustomization) -> BTreeSet<Name> {
    let mut ahead = BTreeSet::new();
    let mut next: Vec<Name> = depends_on(object).collect();
    while let Some(name) = next.pop() {
        if ahead.contains(&name) {
            continue;
        }
        if let Some(Ok(there)) = controller.kustomizations.get(&name.0, &name.1) {
            next.extend(depends_on(&there));
        }
        ahead.insert(name);
    }
    ahead
}

/// The way from an object back to itself along its dependencies, if there is one.
fn cycle(controller: &Controller, object: &Kustomization) -> Option<String> {
    let start = (object.metadata.namespace.clone(), object.metadata.name.clone());
    // Most stand at the end of a chain.
    controller.index().dependants(&start).next()?;
    let mut visited = BTreeSet::new();
    let mut way = vec![(start.clone(), depends_on(object).collect::<Vec<_>>())];
    while let Some((_, rest)) = way.last_mut() {
        let Some(next) = rest.pop() else {
            way.pop();
            continue;
        };
        if next == start {
            let names = way.iter().map(|((namespace, name), _)| format!("{namespace}/{name}"));
            let end = format!("{}/{}", start.0, start.1);
            return Some(names.chain([end]).collect::<Vec<_>>().join(" -> "));
        }
        if !visited.insert(next.clone()) {
            continue;
        }
        if let Some(Ok(there)) = controller.kustomizations.get(&next.0, &next.1) {
            way.push((next, depends_on(&there).collect()));
        }
    }
    None
}
