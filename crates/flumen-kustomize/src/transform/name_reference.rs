//! References by name: when an object was renamed, whoever names it must say the new name.
//!
//! A `Deployment` names a `ConfigMap`, a `RoleBinding` a `ServiceAccount`. Rules say in which fields
//! of which kinds objects of which other kinds are named. For each kind of referrer the rules are
//! laid together once into a tree of paths ([`plan`]), so that a manifest is walked once however
//! many rules there are; objects are found by a former name in a table ([`candidates`]).
//!
//! Nothing was renamed in many builds, but every manifest is walked nonetheless: a field on the way
//! that is neither mapping nor sequence is an error.

mod candidates;
mod plan;
#[cfg(test)]
mod tests;

use flumen_object::Gvk;
use flumen_yaml::{Node, Tag, Text, Value};
use rustc_hash::FxHashMap;

use self::{
    candidates::{Candidates, Reference, Referrer},
    plan::{Plan, Rule, Step},
};
use super::Scene;
use crate::{
    config::NameReference,
    error::{Error, Result},
    fieldspec::check_name,
    resmap::ResMap,
    resource::Resource,
    scalar,
};

/// Updates every reference to an object that was renamed.
pub(crate) fn transform(
    resources: &mut ResMap,
    rules: &[NameReference],
    scene: &Scene<'_>,
) -> Result<()> {
    let mut plans: FxHashMap<Gvk, Plan<'_>> = FxHashMap::default();
    let candidates = Candidates::new(resources.resources(), scene.schema);
    let mut may_rename = false;
    for position in 0..resources.len() {
        let Some(referrer) = resources.resources().get(position) else { break };
        let gvk = original_gvk(referrer, scene);
        let plan = match plans.get(&gvk) {
            Some(plan) => plan,
            None => plans.entry(gvk).or_insert_with_key(|gvk| Plan::new(rules, gvk)),
        };
        for tree in &plan.trees {
            let all = resources.resources();
            let Some(referrer) = all.get(position) else { break };
            let mut walk = Walk {
                referrer: Referrer::new(referrer, scene.schema)?,
                resources: all,
                candidates: &candidates,
                scene,
                place: Vec::new(),
                edits: Vec::new(),
                referrals: Vec::new(),
            };
            walk.step(referrer.node(), tree).map_err(|error| {
                error.hint(format!("the object is defined in {}", referrer.origin))
            })?;
            let Walk { edits, referrals, .. } = walk;
            let all = resources.bodies_mut();
            for referral in referrals {
                if let Some(resource) = all.get_mut(referral) {
                    resource.is_referenced = true;
                }
            }
            if !edits.is_empty()
                && let Some(referrer) = all.get_mut(position)
            {
                let node = if plan.reaches_id { referrer.node_mut() } else { referrer.body_mut() };
                for edit in edits {
                    edit.apply(node);
                }
                referrer.settle_links();
            }
        }
        may_rename |= plan.reaches_id;
    }
    if may_rename {
        resources.resources_mut();
    }
    Ok(())
}

/// What the resource was when it was read; rules are chosen by that.
fn original_gvk(resource: &Resource, scene: &Scene<'_>) -> Gvk {
    let gvk = &resource.id(scene.schema).gvk;
    match resource.previous().first() {
        Some(previous) => Gvk { kind: previous.kind.clone(), ..gvk.clone() },
        None => gvk.clone(),
    }
}

/// A change to the manifest of a referrer, found while all manifests are being read.
struct Edit {
    /// The index of the entry or element on each level.
    place: Vec<usize>,
    change: Change,
}

enum Change {
    Text(Text),
    Mapping {
        name: Text,
        namespace: Option<Text>,
    },
    /// A null where the path speaks of a sequence.
    EmptySequence,
}

impl Edit {
    fn apply(self, root: &mut Node) {
        let Some(node) = self.place.iter().try_fold(root, |node, &index| match &mut node.value {
            Value::Map(map) => Some(&mut map.entries_mut().get_mut(index)?.value),
            Value::Seq(items) => items.get_mut(index),
            Value::Scalar(_) => None,
        }) else {
            return;
        };
        match self.change {
            Change::Text(text) => write(node, text),
            Change::EmptySequence => node.value = Value::Seq(Vec::new()),
            Change::Mapping { name, namespace } => {
                let Some(map) = node.as_map_mut() else { return };
                if let Some(node) = map.get_mut("name") {
                    write(node, name);
                }
                let Some(namespace) = namespace else { return };
                match map.get_mut("namespace") {
                    Some(node) => write(node, namespace),
                    None => map.set(Text::literal("namespace"), Node::string(namespace)),
                }
            }
        }
    }
}

fn write(node: &mut Node, text: Text) {
    // What is not a scalar was never asked for a name.
    let _ = scalar::set_untagged(node, text);
}

/// One walk of a tree of paths through the manifest of a referrer.
struct Walk<'a> {
    referrer: Referrer<'a>,
    resources: &'a [Resource],
    candidates: &'a Candidates,
    scene: &'a Scene<'a>,
    place: Vec<usize>,
    edits: Vec<Edit>,
    referrals: Vec<usize>,
}

impl Walk<'_> {
    fn step(&mut self, node: &Node, step: &Step<'_>) -> Result<()> {
        if !step.rules.is_empty() {
            return self.field(node, &step.rules).map_err(|error| self.locate(error, step));
        }
        match &node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null => Ok(()),
            Value::Scalar(_) => {
                let error = Error::new("expected sequence or mapping node");
                Err(self.locate(error, step))
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.place.push(index);
                    self.step(item, step)?;
                    self.place.pop();
                }
                Ok(())
            }
            Value::Map(map) => {
                for next in &step.next {
                    check_name(&next.name).map_err(|error| self.locate(error, next))?;
                    let Some(index) = map.iter().position(|entry| entry.key == next.name) else {
                        continue;
                    };
                    let Some(entry) = map.entries().get(index) else { continue };
                    self.place.push(index);
                    if next.is_sequence && entry.value.is_null() {
                        self.edit(Change::EmptySequence);
                    } else {
                        self.step(&entry.value, next)?;
                    }
                    self.place.pop();
                }
                Ok(())
            }
        }
    }

    fn locate(&self, error: Error, step: &Step<'_>) -> Error {
        let (path, id) = (step.path, self.referrer.id);
        error
            .within(format!("considering field '{path}' of object {id}"))
            .within(format!("updating name reference in '{path}' field of '{id}'"))
    }

    fn edit(&mut self, change: Change) {
        self.edits.push(Edit { place: self.place.clone(), change });
    }

    /// Looks at a field that rules speak of.
    fn field(&mut self, node: &Node, rules: &[Rule<'_>]) -> Result<()> {
        let Value::Seq(items) = &node.value else {
            return self.value(node, rules);
        };
        for (index, item) in items.iter().enumerate() {
            if item.is_seq() {
                return Err(Error::new(
                    "a sequence is expected to be either a string or a map of string",
                ));
            }
            self.place.push(index);
            self.value(item, rules)?;
            self.place.pop();
        }
        Ok(())
    }

    fn value(&mut self, node: &Node, rules: &[Rule<'_>]) -> Result<()> {
        match &node.value {
            Value::Scalar(scalar) if scalar.tag != Tag::Null => self.scalar(&scalar.text, rules),
            Value::Map(_) => self.mapping(node, rules),
            _ => Ok(()),
        }
    }

    /// A scalar is a name.
    fn scalar(&mut self, text: &Text, rules: &[Rule<'_>]) -> Result<()> {
        let mut current: Option<&Text> = None;
        for rule in rules {
            let name = current.unwrap_or(text);
            let found = self.candidates.by_former_name(name);
            if found.is_empty() {
                continue;
            }
            let (all, schema) = (self.resources, self.scene.schema);
            let choice = self.referrer.choose(rule, found, all, &Reference::Name, schema)?;
            let Some(referral) = choice else { continue };
            self.referrals.push(referral);
            if let Some(resource) = self.resources.get(referral) {
                let new = &resource.id(self.scene.schema).name;
                if new != name {
                    current = Some(new);
                }
            }
        }
        if let Some(name) = current.cloned() {
            self.edit(Change::Text(name));
        }
        Ok(())
    }

    /// A mapping has a name and perhaps a namespace.
    fn mapping(&mut self, node: &Node, rules: &[Rule<'_>]) -> Result<()> {
        let text = |key| Some(node.get(key)?.text().cloned().unwrap_or_default());
        let Some(mut name) = text("name") else {
            return Err(Error::new("path config error; no 'name' field in node"));
        };
        let mut namespace = text("namespace");
        let mut is_changed = false;
        let mut new_namespace = None;
        for rule in rules {
            let found = self.candidates.by_former_name(&name);
            if found.is_empty() {
                continue;
            }
            let schema = self.scene.schema;
            let in_namespace = |namespace| self.candidates.in_namespace(namespace, &self.referrer);
            let reference = Reference::Mapping(namespace.as_deref().map(in_namespace));
            let choice = self.referrer.choose(rule, found, self.resources, &reference, schema)?;
            let Some(referral) = choice else { continue };
            self.referrals.push(referral);
            let Some(id) = self.resources.get(referral).map(|resource| resource.id(schema)) else {
                continue;
            };
            if id.name == name && id.namespace.is_empty() {
                continue;
            }
            is_changed = true;
            name = id.name.clone();
            if !id.namespace.is_empty() {
                namespace = Some(id.namespace.clone());
                new_namespace.clone_from(&namespace);
            }
        }
        if is_changed {
            self.edit(Change::Mapping { name, namespace: new_namespace });
        }
        Ok(())
    }
}
