//! What a field holds, and when it is printed.

use super::TypeId;

/// What a field holds. Types of strings and numbers that have a name of their own in Go carry it,
/// because messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    String(Option<&'static str>),
    Bool,
    Int32(Option<&'static str>),
    Int64(Option<&'static str>),
    Float64,
    Uint8,
    /// base64 in JSON.
    Bytes,
    /// RFC 3339 to the second.
    Time,
    /// RFC 3339 with six decimals.
    MicroTime,
    /// A duration as Go prints it.
    Duration,
    Quantity,
    IntOrString,
    /// An object of any kind.
    Raw,
    /// The field sets of managed fields.
    Fields,
    /// Any JSON value.
    Json,
    SchemaOrBool,
    SchemaOrArray,
    SchemaOrStrings,
    Struct(TypeId),
    List(Box<Self>),
    Map(Box<Self>),
}

/// When Go prints a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always, with the zero value if nothing was given.
    Always,
    /// A pointer: what was given, also if it is zero.
    Given,
    /// A pointer that is printed as null.
    Nullable,
    /// Unless it is zero or empty.
    Filled,
}
