//! Go structs as JSON and protobuf see them.

use super::{Form, Presence};

/// A type of [`super::Api::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u16);

impl TypeId {
    pub(super) fn new(index: usize) -> Self {
        Self(u16::try_from(index).unwrap_or(u16::MAX))
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[derive(Debug)]
pub struct Type {
    /// As `api.core.v1.Pod`; with `io.k8s.` before it, it is the name in `OpenAPI` documents.
    pub name: &'static str,
    /// Owned as a whole by whoever applies it.
    pub atomic: bool,
    /// In the order of the source, which is that of messages about several fields.
    pub fields: Vec<Field>,
    pub embedded: Vec<Embedded>,
    /// Places in `fields`, ordered by name.
    by_name: Vec<u16>,
}

impl Type {
    pub(super) fn new(
        name: &'static str,
        atomic: bool,
        fields: Vec<Field>,
        embedded: Vec<Embedded>,
    ) -> Self {
        let mut by_name: Vec<u16> =
            (0..fields.len()).filter_map(|n| u16::try_from(n).ok()).collect();
        by_name.sort_by_key(|place| fields[usize::from(*place)].name);
        Self { name, atomic, fields, embedded, by_name }
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        let found = self.by_name.binary_search_by(|n| self.fields[usize::from(*n)].name.cmp(name));
        found.ok().map(|n| &self.fields[usize::from(self.by_name[n])])
    }

    /// The name of the struct alone, as messages of Go's decoder have it.
    pub fn go_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// In protobuf; zero if it has none here, because it is part of an embedded message or of none.
    pub number: u16,
    pub presence: Presence,
    pub form: Form,
    /// Said to be required by the `OpenAPI` document; what that means for empty values is up to validation.
    pub required: bool,
    pub topology: Topology,
    pub patch: Patch,
    /// The values that there are.
    pub values: Vec<&'static str>,
    /// The default that the schema knows, as JSON. Items of lists are told apart with it.
    pub default: Option<&'static str>,
}

/// A message whose fields JSON has in the struct itself.
#[derive(Debug)]
pub struct Embedded {
    pub number: u16,
    pub of: TypeId,
}

/// How a field is merged by server-side apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// As its type has it: maps and structs by field, lists as a whole.
    Natural,
    /// By field, whatever its type has.
    Granular,
    /// As a whole.
    Atomic,
    /// A list of values that are there or not.
    Set,
    /// A list of objects that are told apart by these fields.
    Map(Vec<&'static str>),
}

/// How a field is merged by a strategic merge patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub merge: bool,
    /// A struct is taken as it comes.
    pub replace: bool,
    pub retain_keys: bool,
    pub key: Option<&'static str>,
}
