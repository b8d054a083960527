//! The rules for one kind of referrer, laid together by path.

use flumen_object::Gvk;
use flumen_yaml::Text;

use crate::{
    config::{FieldSpec, NameReference},
    fieldspec::FieldPath,
};

/// What to look at in a manifest of one kind.
///
/// There is more than one tree only if the path of one rule goes through the field of another: the
/// later one must then see what the earlier one did.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    pub(super) trees: Vec<Step<'a>>,
    /// Whether a rule can change the id of the referrer itself.
    pub(super) reaches_id: bool,
}

/// A field on the way to others, or one that rules speak of.
#[derive(Debug, Default)]
pub(super) struct Step<'a> {
    pub(super) name: Text,
    /// Whether the path marks it with `[]`.
    pub(super) is_sequence: bool,
    pub(super) next: Vec<Self>,
    /// In the order of the configuration.
    pub(super) rules: Vec<Rule<'a>>,
    /// The path of the first rule that goes this way, for messages.
    pub(super) path: &'a str,
}

/// The kind of objects that a field names.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub(super) target: &'a NameReference,
    /// Whether the field is the name in a `roleRef`, which says more about the target.
    pub(super) is_role: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(references: &'a [NameReference], referrer: &Gvk) -> Self {
        let mut plan = Self::default();
        for target in references {
            for spec in target.referrers.iter().filter(|spec| spec.selects(referrer)) {
                plan.add(target, spec);
            }
        }
        plan
    }

    fn add(&mut self, target: &'a NameReference, spec: &'a FieldSpec) {
        let path = FieldPath::parse(&spec.path);
        let names: Vec<(&Text, bool)> = path.names().collect();
        self.reaches_id |= names
            .first()
            .is_some_and(|(name, _)| matches!(name.as_str(), "metadata" | "kind" | "apiVersion"));
        if !self.trees.last().is_some_and(|tree| tree.has_room_for(&names)) {
            self.trees.push(Step { path: &spec.path, ..Step::default() });
        }
        let Some(mut step) = self.trees.last_mut() else { return };
        for (name, is_sequence) in names {
            let index = step.find(name, is_sequence).unwrap_or_else(|| {
                let name = name.clone();
                step.next.push(Step { name, is_sequence, path: &spec.path, ..Step::default() });
                step.next.len() - 1
            });
            let Some(next) = step.next.get_mut(index) else { return };
            step = next;
        }
        let is_role = spec.path.ends_with("roleRef/name");
        step.rules.push(Rule { target, is_role });
    }
}

impl Step<'_> {
    fn find(&self, name: &str, is_sequence: bool) -> Option<usize> {
        self.next.iter().position(|next| next.name == *name && next.is_sequence == is_sequence)
    }

    /// Whether a path can be added so that no field of a rule lies below that of another.
    fn has_room_for(&self, names: &[(&Text, bool)]) -> bool {
        let mut step = self;
        for (name, is_sequence) in names {
            if !step.rules.is_empty() {
                return false;
            }
            // With and without brackets it is the same field.
            if step.find(name, !*is_sequence).is_some() {
                return false;
            }
            match step.find(name, *is_sequence).and_then(|index| step.next.get(index)) {
                Some(next) => step = next,
                None => return true,
            }
        }
        step.next.is_empty()
    }
}
