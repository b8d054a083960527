//! Tables made by `cargo xtask generate`, and the types of their cells.

#[rustfmt::skip]
pub(crate) mod kustomize;
#[rustfmt::skip]
pub(crate) mod server;
#[rustfmt::skip]
pub(crate) mod typed;

/// A name: where it begins in the string of all names, and its length.
///
/// A `&str` would be twice as large and would have to be relocated at every start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name(pub(crate) u16, pub(crate) u8);

impl Name {
    pub(crate) fn of(self, names: &'static str) -> &'static str {
        let start = usize::from(self.0);
        names.get(start..start + usize::from(self.1)).unwrap_or_default()
    }
}

/// How a field holds the definition that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    List,
    Map,
}

/// The shape of a Go value; for lists and maps a number follows, of the shape inside, for structs the
/// number of the struct.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Str,
    Bool,
    Int32,
    Int64,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    Raw,
    List,
    Map,
    Struct,
}
