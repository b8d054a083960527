//! The status of an object that nobody has looked at yet.

use flumen_schema::api::{Api, ApiKind, Form, Presence, TypeId};
use serde_json::{Map, Value};

pub(super) fn status(kind: &ApiKind) -> Value {
    let form = Api::get().type_of(kind.object).field("status").map(|field| &field.form);
    match form {
        Some(Form::Struct(id)) => zero_struct(*id),
        _ => Value::Object(Map::new()),
    }
}

/// A struct with what is printed even when it is empty.
fn zero_struct(id: TypeId) -> Value {
    let fields = Api::get().type_of(id).fields.iter();
    let always = fields.filter(|field| field.presence == Presence::Always);
    Value::Object(always.map(|field| (field.name.to_owned(), zero(&field.form))).collect())
}

fn zero(form: &Form) -> Value {
    match form {
        Form::String(_) | Form::Duration => "".into(),
        Form::Bool => false.into(),
        Form::Int32(_) | Form::Int64(_) | Form::Uint8 | Form::IntOrString => 0.into(),
        Form::Quantity => "0".into(),
        Form::Struct(id) => zero_struct(*id),
        _ => Value::Null,
    }
}
