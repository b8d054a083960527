//! Whether the Kustomizations that one depends on are ready.

use std::collections::BTreeSet;

use flumen_api::{Artifact, ConditionStatus, Dependency, Kustomization, READY, condition};
use flumen_health::ReadyExpression;
use flumen_kube::{Cluster as _, ObjectName};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};

use super::{
    failure::{Failure, Said},
    outcome::INVALID_CEL,
};
use crate::{Controller, queue::Next, status::resource};

const REASON: &str = "DependencyNotReady";

/// Names of the Kustomizations that one depends on.
pub(crate) fn depends_on(object: &Kustomization) -> impl Iterator<Item = (String, String)> {
    let of_kustomizations = object.spec.depends_on.iter().filter(|one| is_kustomization(one));
    of_kustomizations.map(|one| (object.namespace_of(one).to_owned(), one.name.clone()))
}

fn is_kustomization(dependency: &Dependency) -> bool {
    dependency.kind.as_deref().is_none_or(|kind| kind == "Kustomization")
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
        // A Kustomization wakes those who wait for it. Objects of other kinds are not watched, so they are looked at again.
        let (met, next) = if is_kustomization(dependency) {
            (on_kustomization(controller, object, dependency, artifact).await, Next::Rest)
        } else {
            let again = Next::After(controller.options.requeue_dependency);
            (on_object(controller, object, dependency).await, again)
        };
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
    if let Some(expression) = &dependency.ready_expr {
        let gvk = resource::<Kustomization>().gvk;
        by_expression(controller, object, dependency, &gvk, namespace, expression).await?;
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

/// A dependency on an object of another kind, which is read from the server.
async fn on_object(
    controller: &Controller,
    object: &Kustomization,
    dependency: &Dependency,
) -> Result<(), Unmet> {
    let api_version = Text::from(dependency.api_version.clone().unwrap_or_default());
    let kind = Text::from(dependency.kind.clone().unwrap_or_default());
    let gvk = Gvk::new(&api_version, kind);
    let namespace = object.namespace_of(dependency);
    if let Some(expression) = &dependency.ready_expr {
        return by_expression(controller, object, dependency, &gvk, namespace, expression).await;
    }
    let there = read(controller, &gvk, namespace, &dependency.name).await?;
    let health = flumen_health::HealthRules::default().assess(&there, &[], jiff::Timestamp::now());
    if dependency.ready == Some(false) || health.status == flumen_health::Status::Current {
        return Ok(());
    }
    let subject = flumen_object::ObjectId::of(&there);
    Err(Unmet::NotReady(format!("dependency '{subject}' is not ready: {}", health.message)))
}

async fn by_expression(
    controller: &Controller,
    object: &Kustomization,
    dependency: &Dependency,
    gvk: &Gvk,
    namespace: &str,
    expression: &str,
) -> Result<(), Unmet> {
    let name = &dependency.name;
    let compiled = ReadyExpression::new(expression).map_err(|error| {
        Unmet::Invalid(format!("terminal error: failed to evaluate dependency {name}: {error}"))
    })?;
    let this_gvk = resource::<Kustomization>().gvk;
    let metadata = &object.metadata;
    let this = read(controller, &this_gvk, &metadata.namespace, &metadata.name).await?;
    let there = read(controller, gvk, namespace, name).await?;
    match compiled.is_ready(&this, &there) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unmet::NotReady(format!(
            "dependency '{namespace}/{name}' is not ready according to readyExpr eval"
        ))),
        Err(error) => Err(Unmet::NotReady(error.to_string())),
    }
}

async fn read(
    controller: &Controller,
    gvk: &Gvk,
    namespace: &str,
    name: &str,
) -> Result<Node, Unmet> {
    let not_found = |why: &dyn std::fmt::Display| {
        Unmet::NotReady(format!("dependency '{namespace}/{name}' not found: {why}"))
    };
    let resource = controller.client.resource(gvk).await.map_err(|error| not_found(&error))?;
    let Some(resource) = resource else {
        let (kind, version) = (&gvk.kind, gvk.api_version());
        return Err(not_found(&format!("no matches for kind \"{kind}\" in version \"{version}\"")));
    };
    let object = ObjectName { resource: &resource, namespace, name };
    match controller.client.get(object).await {
        Ok(Some(node)) => Ok(node),
        Ok(None) => {
            let plural = format!("{}.{}", resource.plural, gvk.group);
            Err(not_found(&format!("{plural} \"{name}\" not found")))
        }
        Err(error) => Err(not_found(&error)),
    }
}

/// The way from an object back to itself along its dependencies, if there is one.
fn cycle(controller: &Controller, object: &Kustomization) -> Option<String> {
    let start = (object.metadata.namespace.clone(), object.metadata.name.clone());
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
