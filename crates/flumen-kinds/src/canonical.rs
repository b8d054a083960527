//! The form that Go prints: which fields are there although nothing was given, and which are not
//! although something was.

use flumen_schema::api::{Api, ApiKind, Field, Form, Presence, Type, TypeId};
use serde_json::{Map, Value};

use crate::decode::{Keeps, Names, decode_value_with};

/// Brings an object that fits its type into the form that Go prints. What does not fit is left as it
/// is.
pub(crate) fn canonical(object: &mut Value, of: TypeId) {
    if let Ok(decoded) = decode_value_with(object, of, Keeps::Stored, Names::All) {
        *object = decoded.object;
    }
}

/// Brings an object that was read loosely into the form that is stored.
pub fn tighten(object: &mut Value, kind: &ApiKind) {
    canonical(object, kind.object);
}

/// An object of which nothing was given, without its kind.
pub fn zero(of: TypeId) -> Value {
    let mut object = Map::new();
    fill(&mut object, Api::get().type_of(of));
    Value::Object(object)
}

/// Adds what is printed in any case.
pub(crate) fn fill(object: &mut Map<String, Value>, of: &Type) {
    for field in &of.fields {
        if let Presence::Always | Presence::Nullable = field.presence
            && !object.contains_key(field.name)
        {
            object.insert(field.name.to_owned(), absent(field));
        }
    }
}

fn absent(field: &Field) -> Value {
    match field.presence {
        Presence::Always => zero_form(&field.form),
        _ => Value::Null,
    }
}

/// The zero value of a form.
pub(crate) fn zero_form(form: &Form) -> Value {
    match form {
        Form::String(_) | Form::Duration => Value::String(String::new()),
        Form::Bool | Form::SchemaOrBool => Value::Bool(false),
        Form::Int32(_) | Form::Int64(_) | Form::Float64 | Form::Uint8 | Form::IntOrString => {
            0.into()
        }
        Form::Quantity => Value::String("0".to_owned()),
        Form::Struct(of) => zero(*of),
        Form::Bytes
        | Form::Time
        | Form::MicroTime
        | Form::Raw
        | Form::Fields
        | Form::Json
        | Form::SchemaOrArray
        | Form::SchemaOrStrings
        | Form::List(_)
        | Form::Map(_) => Value::Null,
    }
}

/// Whether a value is left out of a field that is printed only when it is filled.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
