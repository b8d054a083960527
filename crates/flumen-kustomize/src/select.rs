//! Choosing resources by id, labels and annotations.
//!
//! A [`Selector`] is compiled once into a [`Matcher`] and then tried on each resource, cheapest
//! tests first. A resource is chosen by the name and the namespace it has or had at the beginning.

mod pattern;

use flumen_expr::LabelSelector;
use flumen_object::Gvk;
use flumen_schema::Schema;

pub(crate) use self::pattern::{Pattern, Search};
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
    labels: Result<LabelSelector, String>,
    annotations: Result<LabelSelector, String>,
}

impl Matcher {
    pub(crate) fn new(selector: &Selector) -> Result<Self> {
        Ok(Self {
            group: Pattern::whole(&selector.group)?,
            version: Pattern::whole(&selector.version)?,
            kind: Pattern::whole(&selector.kind)?,
            name: Pattern::whole(&selector.name)?,
            namespace: Pattern::whole(&selector.namespace)?,
            labels: LabelSelector::parse(&selector.label_selector),
            annotations: LabelSelector::parse(&selector.annotation_selector),
        })
    }

    /// Whether the resource is chosen, by its original or its current name and namespace.
    pub(crate) fn selects(&self, resource: &Resource, schema: &Schema) -> Result<bool> {
        let id = resource.id(schema);
        // The cheap tests first: most selectors name a kind, and most resources are of another.
        if !self.matches_gvk(&id.gvk) || !either(&self.name, resource.original_name(), &id.name) {
            return Ok(false);
        }
        let is_in_namespace = match &self.namespace {
            Pattern::Any => true,
            namespace => {
                let original = resource.original_namespace(schema);
                either(namespace, original, id.effective_namespace())
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

    /// The only name that is chosen, if the selector names one.
    pub(crate) fn exact_name(&self) -> Option<&str> {
        match &self.name {
            Pattern::Literal(name) => Some(name),
            _ => None,
        }
    }
}

/// Whether one of two texts matches, which are often the same.
fn either(pattern: &Pattern, first: &str, second: &str) -> bool {
    pattern.matches(first) || (first != second && pattern.matches(second))
}

fn usable(requirements: &Result<LabelSelector, String>) -> Result<&LabelSelector> {
    requirements.as_ref().map_err(|problem| {
        Error::new(problem.clone())
            .hint("a selector reads like `app=web,tier in (front,back),!legacy`")
    })
}

/// The places of the chosen resources, in order.
pub(crate) fn select(resources: &ResMap, matcher: &Matcher, schema: &Schema) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    let mut try_at = |position: usize, resource: &Resource| {
        if matcher.selects(resource, schema)? {
            chosen.push(position);
        }
        Ok(())
    };
    match matcher.exact_name() {
        Some(name) => {
            for &position in resources.by_name(name, schema) {
                if let Some(resource) = resources.resources().get(position) {
                    try_at(position, resource)?;
                }
            }
        }
        None => {
            for (position, resource) in resources.iter().enumerate() {
                try_at(position, resource)?;
            }
        }
    }
    Ok(chosen)
}
