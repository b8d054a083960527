//! Types as the checker knows them, and when one stands for another.

use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::{
    shape::Shape,
    value::{DURATION, TIMESTAMP},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Whatever there is when the expression is evaluated.
    Dyn,
    /// A mistake that has been reported; nothing that follows from it is.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Timestamp,
    Duration,
    List(Box<Self>),
    Map(Box<Self>, Box<Self>),
    Optional(Box<Self>),
    /// The name of a type, as a value.
    Named(Box<Self>),
    /// With fields that are known.
    Object(ObjectType),
    /// With fields of known types, and a name.
    Record(Arc<Record>),
    /// A type of a library, by its name.
    Library(&'static str),
    /// To be found out: the number of a variable.
    Open(usize),
}

/// Something whose fields are known before it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub name: &'static str,
    pub fields: BTreeMap<String, Type>,
}

/// An object type is no other's equal, whatever its fields.
#[derive(Clone, Debug)]
pub struct ObjectType(pub(crate) Arc<Shape>);

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ObjectType {}

impl Type {
    /// That of the variable `authorizer`.
    pub const AUTHORIZER: Self = Self::Library("kubernetes.authorization.Authorizer");
    /// That of the variable `authorizer.requestResource`.
    pub const RESOURCE_CHECK: Self = Self::Library("kubernetes.authorization.ResourceCheck");

    pub fn record(
        name: &'static str,
        fields: impl IntoIterator<Item = (impl Into<String>, Self)>,
    ) -> Self {
        let fields = fields.into_iter().map(|(field, of)| (field.into(), of)).collect();
        Self::Record(Arc::new(Record { name, fields }))
    }

    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Box::new(key), Box::new(value))
    }

    pub fn optional(inner: Self) -> Self {
        Self::Optional(Box::new(inner))
    }

    pub(crate) const fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(a) | Self::Optional(a) | Self::Named(a) => vec![a],
            Self::Map(a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }

    /// The same type with something else in the place of its parameters.
    pub(crate) fn rebuilt(&self, with: &mut impl FnMut(&Self) -> Self) -> Self {
        match self {
            Self::List(a) => Self::list(with(a)),
            Self::Optional(a) => Self::optional(with(a)),
            Self::Named(a) => Self::Named(Box::new(with(a))),
            Self::Map(a, b) => Self::map(with(a), with(b)),
            other => other.clone(),
        }
    }

    fn has_parameters_of(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The name that the type has in the language, as opposed to the one in messages.
    pub fn declared(&self) -> String {
        match self {
            Self::Null => "null_type".to_owned(),
            Self::Timestamp => TIMESTAMP.to_owned(),
            Self::Duration => DURATION.to_owned(),
            Self::List(a) => format!("list({})", a.declared()),
            Self::Map(a, b) => format!("map({}, {})", a.declared(), b.declared()),
            Self::Optional(a) => format!("optional_type({})", a.declared()),
            Self::Named(a) => format!("type({})", a.declared()),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "dyn",
            Self::Error => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::Object(_) => "object",
            Self::Library(name) => name,
            Self::Record(record) => record.name,
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::List(a) => return write!(f, "list({a})"),
            Self::Map(a, b) => return write!(f, "map({a}, {b})"),
            Self::Optional(a) => return write!(f, "optional_type({a})"),
            Self::Named(a) => return write!(f, "type({a})"),
            Self::Open(number) => return write!(f, "_var{number}"),
        })
    }
}

/// What has been found out about open types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    types: Vec<Option<Type>>,
}

impl Known {
    pub(crate) fn open(&mut self) -> Type {
        self.types.push(None);
        Type::Open(self.types.len() - 1)
    }

    fn get(&self, number: usize) -> Option<&Type> {
        self.types.get(number).and_then(Option::as_ref)
    }

    /// A type with everything in it that is known.
    pub(crate) fn resolved(&self, of: &Type) -> Type {
        match of {
            Type::Open(number) => {
                self.get(*number).map_or_else(|| of.clone(), |it| self.resolved(it))
            }
            other => other.rebuilt(&mut |parameter| self.resolved(parameter)),
        }
    }

    /// The same where what is not known may be anything.
    pub(crate) fn settled(&self, of: &Type) -> Type {
        match self.resolved(of) {
            Type::Open(_) => Type::Dyn,
            other => other.rebuilt(&mut |parameter| self.settled(parameter)),
        }
    }

    /// Whether each of some types can stand for its counterpart. What follows for open types is kept
    /// only if all can.
    pub(crate) fn assign<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'a Type, &'a Type)>,
    ) -> bool {
        let mut trial = self.clone();
        let fits = pairs.into_iter().all(|(a, b)| trial.assignable(a, b));
        if fits {
            *self = trial;
        }
        fits
    }

    fn assignable(&mut self, a: &Type, b: &Type) -> bool {
        if let Type::Open(number) = b {
            let known = self.get(*number).is_some();
            let fits = self.substitutes(a, *number);
            if fits || known {
                return fits;
            }
        }
        if let Type::Open(number) = a {
            return self.substitutes(b, *number);
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, Type::Null) | (Type::Named(_), Type::Named(_)) => true,
            (Type::Null, other) | (other, Type::Null) => matches!(
                other,
                Type::Optional(_)
                    | Type::Timestamp
                    | Type::Duration
                    | Type::Object(_)
                    | Type::Record(_)
                    | Type::Library(_)
            ),
            (Type::Object(_) | Type::Record(_) | Type::Library(_), _) => a == b,
            _ => {
                a.has_parameters_of(b)
                    && a.parameters()
                        .into_iter()
                        .zip(b.parameters())
                        .all(|(a, b)| self.assignable(a, b))
            }
        }
    }

    /// Whether an open type can be a given type, from now on.
    fn substitutes(&mut self, given: &Type, number: usize) -> bool {
        if *given == Type::Open(number) {
            return true;
        }
        if let Some(known) = self.get(number).cloned() {
            if *given == known {
                return true;
            }
            if !self.assignable(given, &known) {
                return false;
            }
            let general = if is_less_specific(given, &known) { given.clone() } else { known };
            if !self.mentions(&general, number) {
                self.types[number] = Some(general);
            }
            return true;
        }
        if self.mentions(given, number) {
            return false;
        }
        self.types[number] = Some(given.clone());
        true
    }

    fn mentions(&self, within: &Type, number: usize) -> bool {
        match within {
            Type::Open(other) if *other == number => true,
            Type::Open(other) => self.get(*other).is_some_and(|known| self.mentions(known, number)),
            other => other.parameters().into_iter().any(|inner| self.mentions(inner, number)),
        }
    }
}

/// Whether the first of two types that go together says no more than the second.
pub(crate) fn is_less_specific(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Open(_), _) | (Type::Named(_), Type::Named(_)) => true,
        (_, Type::Dyn | Type::Open(_)) => false,
        (Type::Object(_) | Type::Library(_), _) => a == b,
        _ => {
            a.has_parameters_of(b)
                && a.parameters()
                    .into_iter()
                    .zip(b.parameters())
                    .all(|(a, b)| is_less_specific(a, b))
        }
    }
}
