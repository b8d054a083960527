//! How Go programs print the built-in kinds.
//!
//! Tools that read a manifest into the Go types of client-go and print it again drop what the types
//! do not know, and add what they always print. This table says which fields a type has, what they
//! hold, and when they are printed, for every kind of client-go, also those that no server has any
//! more.

use crate::generated::{
    Form,
    typed::{FIELDS, KINDS, NAMES, SHAPES, STRUCTS},
};

/// A Go struct, with the fields of the structs that are inlined into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struct(u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub presence: Presence,
    pub shape: Shape,
}

/// When a field is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always; its zero value if nothing was given.
    Always,
    /// Unless it is empty: zero, false, or a text or collection with nothing in it.
    Filled,
    /// If it was given, even if it is empty. It is a pointer.
    Given,
    /// Always, as null if nothing was given. It is a pointer.
    Nullable,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Str,
    Bool,
    Int32,
    Int64,
    /// Bytes, printed in base 64.
    Bytes,
    /// A time in seconds.
    Time,
    /// A time in microseconds.
    MicroTime,
    Quantity,
    IntOrString,
    /// Any JSON.
    Raw,
    List(Element),
    /// A mapping from strings.
    Map(Element),
    Struct(Struct),
}

/// What a list or a mapping holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(u16);

/// The struct of a built-in kind.
pub fn kind(api_version: &str, kind: &str) -> Option<Struct> {
    let compare = |name: &str, version: &str| name.cmp(kind).then_with(|| version.cmp(api_version));
    let index = KINDS.binary_search_by(|row| compare(row.0.of(NAMES), row.1.of(NAMES))).ok()?;
    KINDS.get(index).map(|row| Struct(row.2))
}

type Row = (crate::generated::Name, Presence, u16);

impl Struct {
    pub fn field(self, name: &str) -> Option<Field> {
        let rows = self.rows();
        let index = rows.binary_search_by(|row| row.0.of(NAMES).cmp(name)).ok()?;
        rows.get(index).copied().map(Field::of)
    }

    /// The fields that are printed even if nothing was given.
    pub fn unconditional(self) -> impl Iterator<Item = Field> {
        let rows = self.rows().iter().copied();
        rows.filter(|row| matches!(row.1, Presence::Always | Presence::Nullable)).map(Field::of)
    }

    fn rows(self) -> &'static [Row] {
        let number = usize::from(self.0);
        let start = STRUCTS.get(number).map_or(0, |start| usize::from(*start));
        let end = STRUCTS.get(number + 1).map_or(FIELDS.len(), |end| usize::from(*end));
        FIELDS.get(start..end).unwrap_or_default()
    }
}

impl Field {
    fn of(row: Row) -> Self {
        Self { name: row.0.of(NAMES), presence: row.1, shape: Element(row.2).shape() }
    }
}

impl Element {
    pub fn shape(self) -> Shape {
        let Some(&(form, number)) = SHAPES.get(usize::from(self.0)) else { return Shape::Raw };
        match form {
            Form::Str => Shape::Str,
            Form::Bool => Shape::Bool,
            Form::Int32 => Shape::Int32,
            Form::Int64 => Shape::Int64,
            Form::Bytes => Shape::Bytes,
            Form::Time => Shape::Time,
            Form::MicroTime => Shape::MicroTime,
            Form::Quantity => Shape::Quantity,
            Form::IntOrString => Shape::IntOrString,
            Form::Raw => Shape::Raw,
            Form::List => Shape::List(Self(number)),
            Form::Map => Shape::Map(Self(number)),
            Form::Struct => Shape::Struct(Struct(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Presence, Shape, kind};
    use crate::generated::server;

    #[test]
    fn fields_have_shape_and_presence() {
        let pod = kind("v1", "Pod").expect("a kind of client-go");
        let Some(Shape::Struct(spec)) = pod.field("spec").map(|field| field.shape) else {
            panic!("a pod has a specification");
        };
        let Some(Shape::List(containers)) = spec.field("containers").map(|field| field.shape)
        else {
            panic!("a pod has containers");
        };
        let Shape::Struct(container) = containers.shape() else {
            panic!("a container is a struct");
        };
        let presence = |name| container.field(name).map(|field| field.presence);
        assert_eq!(presence("resources"), Some(Presence::Always));
        assert_eq!(presence("image"), Some(Presence::Filled));
        assert_eq!(presence("lifecycle"), Some(Presence::Given));
        assert_eq!(presence("Image"), None);
        let always: Vec<&str> = container.unconditional().map(|field| field.name).collect();
        assert_eq!(always, ["name", "resources"]);
    }

    #[test]
    fn kinds_that_are_no_longer_served_are_known() {
        assert!(kind("extensions/v1beta1", "Deployment").is_some());
        assert!(kind("policy/v1beta1", "PodDisruptionBudget").is_some());
        assert_eq!(kind("v1", "Deployment"), None);
    }

    /// Two kinds of servers are no part of client-go: definitions and aggregated services.
    #[test]
    fn every_served_kind_is_known() {
        let unknown: Vec<&str> = server::KINDS
            .iter()
            .map(|row| (row.1.of(server::NAMES), row.0.of(server::NAMES)))
            .filter(|(version, name)| kind(version, name).is_none())
            .map(|(_, name)| name)
            .collect();
        assert_eq!(unknown, ["APIService", "CustomResourceDefinition"]);
    }
}
