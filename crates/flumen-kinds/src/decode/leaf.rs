//! Values that are no structs, and how Go names their types.

use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use flumen_object::{Precision, Quantity, QuantityError, canonical_time};
use flumen_schema::api::{Api, Form, Type};
use serde_json::{Number, Value};

use crate::json::{Node, Token};

/// Go does not look at the bits of the last digit that belong to no byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The largest whole number that every float around it can be told apart from.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

pub(super) fn time(text: &str, form: &Form) -> Result<Value, String> {
    let precision = match form {
        Form::MicroTime => Precision::Microseconds,
        _ => Precision::Seconds,
    };
    canonical_time(text, precision)
        .map(|time| time.map_or(Value::Null, Value::String))
        .map_err(|error| error.to_string())
}

pub(super) fn quantity(node: Node<'_, '_>) -> Result<Value, String> {
    let text = match node.token() {
        Token::String(text) => text.trim(),
        Token::Number(text) => text.as_ref(),
        _ => return Err(QuantityError::Format.to_string()),
    };
    Quantity::canonical(text)
        .map(|text| Value::String(text.into_owned()))
        .map_err(|error| error.to_string())
}

/// The same bytes as Go spells them.
pub(super) fn bytes(text: &str) -> Result<String, String> {
    let digits: Cow<'_, str> = if text.contains(['\r', '\n']) {
        text.replace(['\r', '\n'], "").into()
    } else {
        text.into()
    };
    match BASE64.decode(digits.as_bytes()) {
        Ok(bytes) => Ok(BASE64.encode(bytes)),
        Err(_) => Err(format!("illegal base64 data at input byte {}", first_fault(text))),
    }
}

pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Where Go sees the fault of a text that is no base64.
fn first_fault(text: &str) -> usize {
    let bytes = text.as_bytes();
    let skip_lines = |mut place: usize| {
        while let Some(b'\r' | b'\n') = bytes.get(place) {
            place += 1;
        }
        place
    };
    let mut in_quantum = 0;
    for (place, byte) in text.bytes().enumerate() {
        match (byte, in_quantum) {
            (b'\r' | b'\n', _) => {}
            (b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'/', _) => {
                in_quantum = (in_quantum + 1) % 4;
            }
            (b'=', 2) => {
                let second = skip_lines(place + 1);
                return match bytes.get(second) {
                    Some(b'=') => skip_lines(second + 1),
                    Some(_) => second - 1,
                    None => second,
                };
            }
            (b'=', 3) => return skip_lines(place + 1),
            _ => return place,
        }
    }
    bytes.len() - in_quantum
}

/// A float; whole ones have no point, as Go prints them.
pub(crate) fn float(text: &str) -> Option<Value> {
    let value: f64 = text.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
    if value.fract() == 0.0 && value.abs() < MAX_WHOLE {
        return Some((value as i64).into());
    }
    Number::from_f64(value).map(Value::Number)
}

/// The name of a type in messages.
pub(super) fn go_type(api: &'static Api, form: &Form) -> Cow<'static, str> {
    match form {
        // The one name that is that of the list.
        Form::String(_) if is_extra_value(form) => "string".into(),
        Form::String(name) => name.unwrap_or("string").into(),
        Form::Duration => "string".into(),
        Form::Bool => "bool".into(),
        Form::Int32(name) => name.unwrap_or("int32").into(),
        Form::Int64(name) => name.unwrap_or("int64").into(),
        Form::Float64 => "float64".into(),
        Form::Uint8 => "uint8".into(),
        Form::Bytes => "[]uint8".into(),
        Form::Time => "v1.Time".into(),
        Form::MicroTime => "v1.MicroTime".into(),
        Form::Quantity => "resource.Quantity".into(),
        Form::IntOrString => "intstr.IntOrString".into(),
        Form::Raw => "runtime.RawExtension".into(),
        Form::Fields => "v1.FieldsV1".into(),
        Form::Json => "v1.JSON".into(),
        Form::SchemaOrBool => "v1.JSONSchemaPropsOrBool".into(),
        Form::SchemaOrArray => "v1.JSONSchemaPropsOrArray".into(),
        Form::SchemaOrStrings => "v1.JSONSchemaPropsOrStringArray".into(),
        Form::Struct(of) => struct_name(api.type_of(*of)).into(),
        Form::List(of) if is_extra_value(of) => EXTRA_VALUE.into(),
        Form::List(of) => match &*go_type(api, of) {
            // A list with a name of its own.
            "v1.ValidationRule" => "v1.ValidationRules".into(),
            of => format!("[]{of}").into(),
        },
        Form::Map(of) if **of == Form::Quantity => "v1.ResourceList".into(),
        Form::Map(of) => format!("map[string]{}", go_type(api, of)).into(),
    }
}

/// Fields with maps whose type has a name of its own, or whose keys have.
const NAMED_MAPS: [(&str, &str, &str); 7] = [
    ("AllocatedDeviceRequestResult", "consumedCapacity", "map[v1.QualifiedName]resource.Quantity"),
    ("CapacityRequirements", "requests", "map[v1.QualifiedName]resource.Quantity"),
    ("Device", "attributes", "map[v1.QualifiedName]v1.DeviceAttribute"),
    ("Device", "capacity", "map[v1.QualifiedName]v1.DeviceCapacity"),
    ("JSONSchemaProps", "definitions", "v1.JSONSchemaDefinitions"),
    ("JSONSchemaProps", "dependencies", "v1.JSONSchemaDependencies"),
    (
        "PersistentVolumeClaimStatus",
        "allocatedResourceStatuses",
        "map[v1.ResourceName]v1.ClaimResourceStatus",
    ),
];

/// The name of the type of a map in messages.
pub(super) fn map_type(
    api: &'static Api,
    owner: Option<&Type>,
    field: &str,
    form: &Form,
) -> Cow<'static, str> {
    let owner = owner.map_or("", Type::go_name);
    let named = NAMED_MAPS.iter().find(|(of, name, _)| *of == owner && *name == field);
    named.map_or_else(|| go_type(api, form), |(_, _, name)| (*name).into())
}

const EXTRA_VALUE: &str = "v1.ExtraValue";

/// Whether a list of these has a name of its own.
pub(crate) fn is_extra_value(form: &Form) -> bool {
    *form == Form::String(Some(EXTRA_VALUE))
}

/// A struct with its package: the last two parts of its name.
pub(super) fn struct_name(of: &Type) -> String {
    let mut parts = of.name.rsplit('.');
    let name = parts.next().unwrap_or(of.name);
    format!("{}.{name}", parts.next().unwrap_or_default())
}

/// Adds a field to a path, and before it the structs in which it is embedded.
pub(super) fn push_field(path: &mut String, api: &'static Api, of: &Type, name: &str) {
    for embedded in &of.embedded {
        let inner = api.type_of(embedded.of);
        if inner.field(name).is_some() {
            push_name(path, inner.go_name());
            return push_field(path, api, inner, name);
        }
    }
    if let "kind" | "apiVersion" = name
        && of.field("metadata").is_some()
    {
        push_name(path, "TypeMeta");
    }
    push_name(path, name);
}

fn push_name(path: &mut String, name: &str) {
    path.push_str(if path.is_empty() { "" } else { "." });
    path.push_str(name);
}
