//! Whether the dependencies of a Kustomization are ready: other Kustomizations, or objects of any kind.

use std::sync::Arc;

use flumen_api::{
    Artifact, ConditionStatus, Dependency, GoDuration, Kind as _, Kustomization, READY, condition,
};
use flumen_health::ReadyExpression;
use flumen_kube::{Cluster as _, ObjectName};
use flumen_object::{Gvk, ObjectId};
use flumen_runtime::{DependencyState, Failure, Key, Name, Relation, Requeue, Severity};
use flumen_yaml::{Node, Text};

use super::{Kustomize, outcome::INVALID_CEL};
use crate::KUSTOMIZATION;

const REASON: &str = "DependencyNotReady";

/// Whether a Kustomization judges by an expression of its own whether another is ready.
pub(super) fn has_expression_on(object: &Kustomization, (namespace, name): &Name) -> bool {
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

/// Returns the identity of a dependency. Objects in no namespace have that of the Kustomization here: only a server knows
/// their scope.
pub(super) fn id(object: &Kustomization, dependency: &Dependency) -> ObjectId {
    let gvk = if is_kustomization(dependency) {
        KUSTOMIZATION.gvk()
    } else {
        let api_version = Text::from(dependency.api_version.clone().unwrap_or_default());
        Gvk::new(&api_version, Text::from(dependency.kind.clone().unwrap_or_default()))
    };
    let namespace = Text::from(object.namespace_of(dependency));
    ObjectId { gvk, namespace, name: Text::from(dependency.name.as_str()) }
}

/// Fails unless all dependencies are ready, with the first one of the list that is not.
pub(super) async fn check(
    kustomize: &Kustomize,
    key: &Key,
    object: &Kustomization,
    artifact: &Artifact,
) -> Result<(), Failure> {
    let cycle = kustomize.runtime.index().cycle(key);
    if let Some(cycle) = cycle {
        let names = cycle.iter().map(|id| format!("{}/{}", id.namespace, id.name));
        let way = names.collect::<Vec<_>>().join(" -> ");
        return Err(not_ready(kustomize, format!("dependency cycle {way}"), Requeue::Never));
    }
    for dependency in &object.spec.depends_on {
        let met = if is_kustomization(dependency) {
            on_kustomization(kustomize, object, dependency, artifact).await
        } else {
            on_object(kustomize, object, dependency).await
        };
        // A watched dependency wakes its dependents. One that is not watched, or not yet, is read again.
        let is_watched = is_kustomization(dependency)
            || !matches!(
                kustomize.runtime.dependencies.get(&id(object, dependency)),
                DependencyState::Unknown
            );
        let again = Requeue::After(kustomize.runtime.options.requeue_dependency);
        let requeue = if is_watched { Requeue::Never } else { again };
        met.map_err(|unmet| match unmet {
            Unmet::NotReady(message) => not_ready(kustomize, message, requeue),
            Unmet::Invalid(error) => Failure::stalled(
                INVALID_CEL,
                format!("Reconciliation failed terminally due to configuration error: {error}"),
            ),
        })?;
    }
    Ok(())
}

fn not_ready(kustomize: &Kustomize, message: String, requeue: Requeue) -> Failure {
    // The time is that which users of Flux expect; most dependencies wake their dependents earlier.
    let wait = GoDuration(kustomize.runtime.options.requeue_dependency);
    let event = format!("Dependencies do not meet ready condition, retrying in {wait}");
    Failure::waiting(REASON, message)
        .until(Relation::DEPENDENCY)
        .requeued(requeue)
        .with_event(Severity::Info, event)
}

/// Why a dependency is not met.
enum Unmet {
    NotReady(String),
    /// The question itself is wrong.
    Invalid(String),
}

async fn on_kustomization(
    kustomize: &Kustomize,
    object: &Kustomization,
    dependency: &Dependency,
    artifact: &Artifact,
) -> Result<(), Unmet> {
    let namespace = object.namespace_of(dependency);
    let name = format!("{namespace}/{}", dependency.name);
    let not_ready = |what: &str| Unmet::NotReady(format!("dependency '{name}' {what}"));
    let there = match kustomize.kustomizations.get(namespace, &dependency.name) {
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
        by_expression(kustomize, object, dependency, expression).await?;
        if !kustomize.options.additive_dependency_checks {
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
    kustomize: &Kustomize,
    object: &Kustomization,
    dependency: &Dependency,
) -> Result<(), Unmet> {
    if let Some(expression) = &dependency.ready_expr {
        return by_expression(kustomize, object, dependency, expression).await;
    }
    let there = read(kustomize, &id(object, dependency)).await?;
    let now = kustomize.runtime.clock.now();
    let health = flumen_health::HealthRules::default().assess(&there, &[], now);
    if dependency.ready == Some(false) || health.status == flumen_health::Status::Current {
        return Ok(());
    }
    let subject = ObjectId::of(&there);
    Err(Unmet::NotReady(format!("dependency '{subject}' is not ready: {}", health.message)))
}

async fn by_expression(
    kustomize: &Kustomize,
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
        gvk: KUSTOMIZATION.gvk(),
        namespace: Text::from(metadata.namespace.as_str()),
        name: Text::from(metadata.name.as_str()),
    };
    let this = read(kustomize, &this).await?;
    let there = read(kustomize, &id(object, dependency)).await?;
    match compiled.is_ready(&this, &there) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unmet::NotReady(format!(
            "dependency '{}/{name}' is not ready according to readyExpr eval",
            object.namespace_of(dependency)
        ))),
        Err(error) => Err(Unmet::NotReady(error.to_string())),
    }
}

/// Returns an object from the watch, or from the server while it is not watched.
async fn read(kustomize: &Kustomize, id: &ObjectId) -> Result<Arc<Node>, Unmet> {
    let ObjectId { gvk, namespace, name } = id;
    let not_found = |why: &dyn std::fmt::Display| {
        Unmet::NotReady(format!("dependency '{namespace}/{name}' not found: {why}"))
    };
    let client = &kustomize.runtime.client;
    let state = kustomize.runtime.dependencies.get(id);
    if let DependencyState::Present(node) = state {
        return Ok(node);
    }
    let resource = client.resource(gvk).await.map_err(|error| not_found(&error))?;
    let Some(resource) = resource else {
        let (kind, version) = (&gvk.kind, gvk.api_version());
        return Err(not_found(&format!("no matches for kind \"{kind}\" in version \"{version}\"")));
    };
    let found = if matches!(state, DependencyState::Missing) {
        None
    } else {
        let object = ObjectName { resource: &resource, namespace, name };
        client.get(object).await.map_err(|error| not_found(&error))?
    };
    found.map(Arc::new).ok_or_else(|| {
        let dot = if gvk.group.is_empty() { "" } else { "." };
        let plural = format!("{}{dot}{}", resource.plural, gvk.group);
        not_found(&format!("{plural} \"{name}\" not found"))
    })
}
