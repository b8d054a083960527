//! Which object a name stands for.
//!
//! Only objects that were renamed or moved at least once can be meant: references are looked up by
//! former names alone. What is left is sieved by kind, namespace, and the prefixes and suffixes that
//! referrer and object have in common.

use flumen_schema::Schema;
use flumen_yaml::{Node, Scalar, Tag, Text};
use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::Rule;
use crate::{
    error::{Error, Result},
    id::{NOT_A_NAMESPACE, ResId},
    resource::{PreviousId, Resource},
};

/// Objects by their former names and namespaces.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    by_name: FxHashMap<Text, Vec<usize>>,
    /// For each namespace that an object came from, the scopes such objects are in now.
    origins: FxHashMap<Text, FxHashSet<Scope>>,
}

/// Where an object is now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Scope {
    is_cluster_scoped: bool,
    effective: Text,
    written: Text,
}

/// What a reference says.
#[derive(Debug)]
pub(super) enum Reference<'a> {
    Name,
    /// A mapping that also takes over the namespace of the object, and may name one.
    Mapping(Option<InNamespace<'a>>),
}

/// How the namespace in a reference is to be understood.
#[derive(Debug)]
pub(super) struct InNamespace<'a> {
    namespace: &'a str,
    /// Whether it is the one that objects came from rather than the one they are in.
    is_original: bool,
}

impl Candidates {
    pub(super) fn new(resources: &[Resource], schema: &Schema) -> Self {
        let mut candidates = Self::default();
        if resources.iter().all(|resource| resource.previous().is_empty()) {
            // Nothing was renamed, and nobody will ask for namespaces.
            return candidates;
        }
        for (position, resource) in resources.iter().enumerate() {
            for previous in resource.previous() {
                let places = candidates.by_name.entry(previous.name.clone()).or_default();
                if places.last() != Some(&position) {
                    places.push(position);
                }
            }
            let origin = resource.original_namespace(schema);
            let scope = Scope::of(resource.id(schema));
            match candidates.origins.get_mut(origin) {
                Some(scopes) => {
                    scopes.insert(scope);
                }
                None => {
                    candidates.origins.insert(Text::from(origin), FxHashSet::from_iter([scope]));
                }
            }
        }
        candidates
    }

    pub(super) fn by_former_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// A namespace in a reference means where objects were at first, if any that the referrer could
    /// name was there, and otherwise where they are.
    pub(super) fn in_namespace<'a>(
        &self,
        namespace: &'a str,
        referrer: &Referrer<'_>,
    ) -> InNamespace<'a> {
        let is_original = namespace != NOT_A_NAMESPACE
            && self
                .origins
                .get(namespace)
                .is_some_and(|scopes| scopes.iter().any(|scope| referrer.can_name(scope)));
        InNamespace { namespace, is_original }
    }
}

impl Scope {
    fn of(id: &ResId) -> Self {
        let effective = match id.effective_namespace() {
            effective if effective == id.namespace.as_str() => id.namespace.clone(),
            effective => Text::from(effective),
        };
        Self { is_cluster_scoped: id.cluster_scoped, effective, written: id.namespace.clone() }
    }
}

impl InNamespace<'_> {
    fn has(&self, resource: &Resource, schema: &Schema) -> bool {
        let namespace = if self.is_original {
            resource.original_namespace(schema)
        } else {
            resource.id(schema).effective_namespace()
        };
        namespace == self.namespace && namespace != NOT_A_NAMESPACE
    }
}

/// The resource whose references are looked at.
pub(super) struct Referrer<'a> {
    resource: &'a Resource,
    pub(super) id: &'a ResId,
    /// Namespaces of the service accounts that a role binding names.
    subject_namespaces: Vec<&'a str>,
}

impl<'a> Referrer<'a> {
    pub(super) fn new(resource: &'a Resource, schema: &'a Schema) -> Result<Self> {
        let id = resource.id(schema);
        let subject_namespaces = if resource.kind() == "RoleBinding" && !id.cluster_scoped {
            subject_namespaces(resource, id)?
        } else {
            Vec::new()
        };
        Ok(Self { resource, id, subject_namespaces })
    }

    /// Whether an object in the scope can be named at all.
    fn can_name(&self, scope: &Scope) -> bool {
        self.id.cluster_scoped
            || scope.is_cluster_scoped
            || scope.effective == *self.id.effective_namespace()
            || self.subject_namespaces.contains(&scope.written.as_str())
    }

    /// Chooses the object that a rule means, from those that had the name.
    pub(super) fn choose(
        &self,
        rule: &Rule<'_>,
        named: &[usize],
        resources: &[Resource],
        reference: &Reference<'_>,
        schema: &Schema,
    ) -> Result<Option<usize>> {
        let role = if rule.is_role { role(self.resource.node()) } else { None };
        let is_candidate = |resource: &Resource| {
            had_kind(resource, schema, &rule.target.group, &rule.target.version, &rule.target.kind)
                && role.is_none_or(|(group, kind)| had_kind(resource, schema, group, "", kind))
                && self.reaches(resource, schema)
                && match reference {
                    Reference::Mapping(Some(namespace)) => namespace.has(resource, schema),
                    _ => true,
                }
        };
        let mut found: Vec<(usize, &Resource)> = named
            .iter()
            .filter_map(|&position| Some((position, resources.get(position)?)))
            .filter(|(_, resource)| is_candidate(resource))
            .collect();
        if let [(position, _)] = found[..] {
            return Ok(Some(position));
        }
        found.retain(|(_, resource)| self.shares_affixes(resource, true));
        if found.len() > 1 {
            found.retain(|(_, resource)| self.shares_affixes(resource, false));
        }
        let Some(&(first, example)) = found.first() else { return Ok(None) };
        let is_same = |resource: &Resource| {
            resource.name() == example.name()
                && (matches!(reference, Reference::Name)
                    || resource.namespace() == example.namespace())
        };
        if found.iter().all(|(_, resource)| is_same(resource)) {
            return Ok(Some(first));
        }
        let list = |describe: &dyn Fn(&Resource) -> String| {
            let texts: Vec<String> = found.iter().map(|(_, resource)| describe(resource)).collect();
            texts.join(", ")
        };
        let ids = list(&|resource| resource.id(schema).to_string());
        let places = list(&|resource| resource.origin.to_string());
        Err(Error::new(format!("found multiple possible referrals: {ids}"))
            .hint(format!("too many objects have had that name: {places}")))
    }

    /// Whether the object is close enough to be named: both in one namespace, or either of them in
    /// none. Service accounts may be named from anywhere.
    fn reaches(&self, resource: &Resource, schema: &Schema) -> bool {
        let id = resource.id(schema);
        if self.id.cluster_scoped || id.cluster_scoped {
            return true;
        }
        id.effective_namespace() == self.id.effective_namespace()
            || (id.gvk.kind == *"ServiceAccount"
                && self.subject_namespaces.contains(&id.namespace.as_str()))
    }

    /// Whether both went through the same prefixes and suffixes, the later ones at least.
    fn shares_affixes(&self, other: &Resource, none_will_do: bool) -> bool {
        let agree = |mine: &[Text], theirs: &[Text]| {
            let (short, long) =
                if mine.len() <= theirs.len() { (mine, theirs) } else { (theirs, mine) };
            if short.is_empty() {
                return none_will_do || long.is_empty();
            }
            long.ends_with(short)
        };
        agree(&self.resource.prefixes, &other.prefixes)
            && agree(&self.resource.suffixes, &other.suffixes)
    }
}

/// Whether the object ever was of a kind; empty parts are any.
fn had_kind(resource: &Resource, schema: &Schema, group: &str, version: &str, kind: &str) -> bool {
    let gvk = &resource.id(schema).gvk;
    let is_kind = |previous: &PreviousId| kind.is_empty() || previous.kind == *kind;
    (group.is_empty() || gvk.group == *group)
        && (version.is_empty() || gvk.version == *version)
        && resource.previous().iter().any(is_kind)
}

/// The group and kind that the `roleRef` of a role binding names.
fn role(referrer: &Node) -> Option<(&str, &str)> {
    let role = referrer.get("roleRef")?;
    let text = |key| Some(role.get(key)?.as_str().unwrap_or_default());
    Some((text("apiGroup")?, text("kind")?))
}

fn subject_namespaces<'a>(resource: &'a Resource, id: &ResId) -> Result<Vec<&'a str>> {
    let mut namespaces = Vec::new();
    let Some(subjects) = resource.node().get("subjects").and_then(Node::as_seq) else {
        return Ok(namespaces);
    };
    for subject in subjects {
        if !subject.is_map() {
            return Err(Error::new(format!("a subject of \"{id}\" is not a mapping"))
                .hint(format!("correct it in {}", resource.origin)));
        }
        let is_account = subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount");
        let Some(namespace) = subject.get("namespace").filter(|_| is_account) else { continue };
        match namespace.as_scalar() {
            Some(Scalar { text, tag: Tag::Str | Tag::Merge, .. }) => namespaces.push(text.as_str()),
            _ => {
                return Err(Error::new(format!(
                    "Invalid Input: namespace is blank for resource \"{id}\""
                ))
                .hint(format!("give the subject a namespace in {}", resource.origin)));
            }
        }
    }
    Ok(namespaces)
}
