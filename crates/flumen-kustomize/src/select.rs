//! Choosing resources by id, labels and annotations.
//!
//! A [`Selector`] is compiled once into a [`Matcher`] and then tried on each resource, cheapest
//! tests first. A resource is chosen by the name and the namespace it has or had at the beginning.

mod pattern;
mod requirements;

use flumen_object::Gvk;
use flumen_schema::Schema;

pub(crate) use self::pattern::{Pattern, Search};
use self::requirements::Requirements;
use crate::{
    build_annotations,
    error::{Error, Result},
    kustomization::fields::Selector,
    resmap::ResMap,
    resource::{Resource, scalar_text},
};

#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    /// What is wrong with them matters only once a resource passes the other tests.
    labels: Result<Requirements, String>,
    annotations: Result<Requirements, String>,
}

impl Matcher {
    pub(crate) fn new(selector: &Selector) -> Result<Self> {
        Ok(Self {
            group: Pattern::whole(&selector.group)?,
            version: Pattern::whole(&selector.version)?,
            kind: Pattern::whole(&selector.kind)?,
            name: Pattern::whole(&selector.name)?,
            namespace: Pattern::whole(&selector.namespace)?,
            labels: Requirements::parse(&selector.label_selector),
            annotations: Requirements::parse(&selector.annotation_selector),
        })
    }

    /// Whether the resource is chosen, by its original or its current name and namespace.
    pub(crate) fn selects(&self, resource: &Resource, schema: &Schema) -> Result<bool> {
        let id = resource.id(schema);
        let is_named = match &self.name {
            Pattern::Any => true,
            name => name.matches(resource.original_name()) || name.matches(&id.name),
        };
        if !is_named || !self.matches_gvk(&id.gvk) {
            return Ok(false);
        }
        let is_in_namespace = match &self.namespace {
            Pattern::Any => true,
            namespace => {
                namespace.matches(resource.original_namespace(schema))
                    || namespace.matches(id.effective_namespace())
            }
        };
        Ok(is_in_namespace
            && self.matches_labels(resource)?
            && self.matches_annotations(resource)?)
    }

    /// Whether an id is chosen. The namespace is compared as written.
    pub(crate) fn matches_id(&self, gvk: &Gvk, name: &str, namespace: &str) -> bool {
        self.name.matches(name) && self.matches_gvk(gvk) && self.namespace.matches(namespace)
    }

    fn matches_gvk(&self, gvk: &Gvk) -> bool {
        self.kind.matches(&gvk.kind)
            && self.group.matches(&gvk.group)
            && self.version.matches(&gvk.version)
    }

    pub(crate) fn matches_labels(&self, resource: &Resource) -> Result<bool> {
        let labels = usable(&self.labels)?;
        Ok(labels.is_empty()
            || labels.match_with(|key| {
                let label = resource.labels().iter().find(|entry| entry.key == *key)?;
                Some(scalar_text(&label.value))
            }))
    }

    pub(crate) fn matches_annotations(&self, resource: &Resource) -> Result<bool> {
        let annotations = usable(&self.annotations)?;
        if annotations.is_empty() {
            return Ok(true);
        }
        let internal = build_annotations::of(resource);
        Ok(annotations.match_with(|key| {
            let internal = || internal.iter().find(|(name, _)| *name == key);
            resource.annotation(key).or_else(|| internal().map(|(_, value)| value.as_str()))
        }))
    }
}

fn usable(requirements: &Result<Requirements, String>) -> Result<&Requirements> {
    requirements.as_ref().map_err(|problem| {
        Error::new(problem.clone())
            .hint("a selector reads like `app=web,tier in (front,back),!legacy`")
    })
}

/// The places of the chosen resources, in order.
pub(crate) fn select(resources: &ResMap, matcher: &Matcher, schema: &Schema) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    for (position, resource) in resources.iter().enumerate() {
        if matcher.selects(resource, schema)? {
            chosen.push(position);
        }
    }
    Ok(chosen)
}
