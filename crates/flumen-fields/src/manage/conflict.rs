//! Fields that somebody else owns.

use std::fmt;

use super::managers::Id;
use crate::{FieldSet, set::Shown};

/// A field that an applier wants to change and another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The place of the field, as `.data.a`.
    pub field: String,
    /// `conflict with "alpha"`.
    pub message: String,
}

/// All conflicts of an apply.
#[derive(Clone, Debug)]
pub struct Conflicts {
    /// Ordered as they are printed.
    by_manager: Vec<(Id, FieldSet)>,
}

impl Conflicts {
    pub(super) fn new(mut by_manager: Vec<(Id, FieldSet)>) -> Self {
        by_manager.sort_by_cached_key(|(id, _)| id.sort_key());
        Self { by_manager }
    }

    /// The conflicts outside of some fields; none if there are no others.
    pub(super) fn outside(self, allowed: &FieldSet) -> Option<Self> {
        let left = self.by_manager.into_iter().map(|(id, set)| (id, set.difference(allowed)));
        let by_manager: Vec<_> = left.filter(|(_, set)| !set.is_empty()).collect();
        (!by_manager.is_empty()).then_some(Self { by_manager })
    }

    /// One for each field and owner.
    pub fn each(&self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (id, set) in &self.by_manager {
            let message = format!("conflict with {}", id.shown());
            set.each(|path| {
                let field = Shown(path).to_string();
                conflicts.push(Conflict { field, message: message.clone() });
            });
        }
        conflicts
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.each();
        if let [Conflict { field, message }] = each.as_slice() {
            return write!(f, "Apply failed with 1 conflict: {message}: {field}");
        }
        write!(f, "Apply failed with {} conflicts:", each.len())?;
        let mut result = Ok(());
        for (n, (id, set)) in self.by_manager.iter().enumerate() {
            let separator = if n == 0 { ' ' } else { '\n' };
            write!(f, "{separator}conflicts with {}:", id.shown())?;
            set.each(|path| {
                if result.is_ok() {
                    result = write!(f, "\n- {}", Shown(path));
                }
            });
        }
        result
    }
}
