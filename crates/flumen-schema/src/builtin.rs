//! Lookups in the table of what kustomize knows.

use crate::generated::{
    Name, Shape,
    kustomize::{
        DEFINITION_NAMES, FIELDS, KINDS, MERGE_KEYS, NAMES, SCOPE_STARTS, SCOPES, TYPES, VERSION,
    },
};

/// The type of a value: a definition, or a list or map of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    shape: Shape,
    definition: u16,
    merge: u8,
}

pub(crate) fn is_version(version: &str) -> bool {
    version == VERSION
}

/// Whether objects of a kind have a namespace; none if the kind is unknown.
pub(crate) fn is_namespaced(api_version: &str, kind: &str) -> Option<bool> {
    let start = *SCOPE_STARTS.get(kind.len())?;
    let end = *SCOPE_STARTS.get(kind.len() + 1)?;
    let rows = SCOPES.get(usize::from(start)..usize::from(end))?;
    rows.iter()
        .find(|row| row.0.of(NAMES) == kind && row.1.of(NAMES) == api_version)
        .map(|row| row.2)
}

pub(crate) fn root(api_version: &str, kind: &str) -> Option<Type> {
    let compare = |row: &(Name, Name, u16)| {
        row.0.of(NAMES).cmp(kind).then_with(|| row.1.of(NAMES).cmp(api_version))
    };
    let row = KINDS.get(KINDS.binary_search_by(compare).ok()?)?;
    Some(Type::plain(row.2))
}

pub(crate) fn definition(name: &str) -> Option<Type> {
    let index = TYPES.binary_search_by(|row| row.0.of(DEFINITION_NAMES).cmp(name)).ok()?;
    u16::try_from(index).ok().map(Type::plain)
}

impl Type {
    const fn plain(definition: u16) -> Self {
        Self { shape: Shape::Plain, definition, merge: 0 }
    }

    pub(crate) fn field(self, name: &str) -> Option<Self> {
        match self.shape {
            Shape::List => None,
            Shape::Map => Some(Self::plain(self.definition)),
            Shape::Plain => {
                let fields = fields(self.definition)?;
                let index = fields.binary_search_by(|row| row.0.of(NAMES).cmp(name)).ok()?;
                let &(_, shape, definition, merge) = fields.get(index)?;
                Some(Self { shape, definition, merge })
            }
        }
    }

    pub(crate) fn element(self) -> Option<Self> {
        (self.shape == Shape::List).then_some(Self::plain(self.definition))
    }

    /// The keys by which the elements of a merged list are known; empty for a list of scalars.
    pub(crate) fn merge_keys(self) -> Option<&'static [&'static str]> {
        MERGE_KEYS.get(usize::from(self.merge).checked_sub(1)?).copied()
    }

    /// The name of the definition that this is, as opposed to a list or map of it.
    pub(crate) fn definition_name(self) -> Option<&'static str> {
        let row = TYPES.get(usize::from(self.definition))?;
        (self.shape == Shape::Plain).then_some(row.0.of(DEFINITION_NAMES))
    }
}

type FieldRow = (Name, Shape, u16, u8);

/// The fields of a definition, by name.
fn fields(definition: u16) -> Option<&'static [FieldRow]> {
    let index = usize::from(definition);
    let start = usize::from(TYPES.get(index)?.1);
    let end = TYPES.get(index + 1).map_or(FIELDS.len(), |next| usize::from(next.1));
    FIELDS.get(start..end)
}
