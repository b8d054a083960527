//! A value read into a Go type, and what is printed of it, in one walk.
//!
//! Errors are those of Go's decoder. A wrong type is noted, and the walk goes on: a type that reads
//! itself, such as a quantity, ends it at once, and what it says is said instead.

mod schema;
mod words;

use std::collections::BTreeSet;

use flumen_schema::api::{Api, Field, Form, Presence, Topology, Type, TypeId};
use serde_json::{Map, Value};

pub(super) use self::schema::schema_fault;
pub(crate) use self::words::Names;

use super::{Traces, leaf};
use crate::{
    canonical::{fill, is_empty, zero, zero_form},
    json::{Node, Token},
};

/// Levels of an object that is kept. Readers of what is stored have a limit of 128, and a list or an
/// event puts the object a few levels deeper.
const MAX_DEPTH: usize = 100;

/// An object that was read, and which fields were unknown or there twice, in the words of Go.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) object: Value,
    pub(super) strict: Vec<String>,
    pub(super) traces: Traces,
}

/// How near an object is kept to what was given. The real server stores objects in protobuf, which has no lists
/// without items. Until then they are there, and in lists that are owned as a whole amounts count by their spelling.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    Given,
    Stored,
}

/// Lists that are printed only when they are filled, and that defaults tell from none when they are empty.
const TOLD_FROM_NONE: [(&str, &str); 1] = [("api.autoscaling.v2.HPAScalingRules", "policies")];

/// Lists that get a default when they are empty, so that nobody ever sees them so.
const NEVER_EMPTY: [(&str, &str); 1] = [("api.networking.v1.NetworkPolicySpec", "policyTypes")];

/// Reads an object. The error is Go's message.
pub(super) fn read(
    root: Node<'_, '_>,
    of: TypeId,
    keeps: Keeps,
    names: Names,
) -> Result<Read, String> {
    let mut walk = Walk::new(keeps, names);
    let object =
        if root.is_null() { zero(of) } else { walk.object(root, walk.api.type_of(of), None)? };
    let Walk { strict, traces, error, .. } = walk;
    error.map_or(Ok(Read { object, strict, traces }), Err)
}

/// Fields that are there twice in a value of no type.
pub(super) fn duplicates(root: Node<'_, '_>) -> Vec<String> {
    let mut walk = Walk::new(Keeps::Given, Names::All);
    walk.untyped(root);
    walk.strict
}

#[derive(Clone, Copy)]
enum Step<'t> {
    Field(&'static Type, &'static str),
    Key(&'t str),
    Index(usize),
}

struct Walk<'t> {
    api: &'static Api,
    keeps: Keeps,
    names: Names,
    path: Vec<Step<'t>>,
    /// The struct whose field is being read.
    owner: Option<&'static Type>,
    /// The struct around the outermost type that reads itself. What is wrong inside is said to be its fault.
    reader: Option<&'static Type>,
    /// Inside of a type that reads itself, where nobody is strict.
    is_quiet: bool,
    strict: Vec<String>,
    traces: Traces,
    /// Lists around the present value that are owned as a whole.
    whole_lists: usize,
    /// The first wrong type.
    error: Option<String>,
}

impl<'t> Walk<'t> {
    fn new(keeps: Keeps, names: Names) -> Self {
        Self {
            api: Api::get(),
            keeps,
            names,
            path: Vec::new(),
            owner: None,
            reader: None,
            is_quiet: false,
            strict: Vec::new(),
            traces: Traces::default(),
            whole_lists: 0,
            error: None,
        }
    }

    fn untyped(&mut self, node: Node<'t, '_>) {
        if self.path.len() > MAX_DEPTH {
            return;
        }
        let mut seen = BTreeSet::new();
        for (key, value) in node.members() {
            if !seen.insert(key) {
                self.note_strict("duplicate", key);
            }
            self.path.push(Step::Key(key));
            self.untyped(value);
            self.path.pop();
        }
        for (index, item) in node.items().enumerate() {
            self.path.push(Step::Index(index));
            self.untyped(item);
            self.path.pop();
        }
    }

    /// A value that is not null. With `old`, the value of the same field before: Go reads the second
    /// of two equal keys on top of the first.
    fn value(
        &mut self,
        node: Node<'t, '_>,
        form: &'static Form,
        old: Option<Value>,
    ) -> Result<Value, String> {
        if self.path.len() > MAX_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        match form {
            Form::Struct(of) => self.object(node, self.api.type_of(*of), old),
            Form::List(of) => self.list(node, form, of, old),
            Form::Map(of) => self.map(node, form, of, old),
            Form::SchemaOrBool | Form::SchemaOrArray | Form::SchemaOrStrings => {
                self.schema(node, form)
            }
            Form::Raw | Form::Fields | Form::Json => node
                .to_value(MAX_DEPTH.saturating_sub(self.path.len()))
                .ok_or_else(|| "exceeded max depth".to_owned()),
            Form::Time | Form::MicroTime => match node.token() {
                Token::String(text) => leaf::time(text, form),
                _ => Err(self.mismatch(node.kind(), "string")),
            },
            Form::Quantity => self.quantity(node),
            Form::IntOrString => match node.token() {
                Token::String(text) => Ok(Value::String(text.clone().into_owned())),
                Token::Number(text) => match text.parse::<i32>() {
                    Ok(value) => Ok(value.into()),
                    Err(_) => Err(self.mismatch(&format!("number {text}"), "int32")),
                },
                _ => Err(self.mismatch(node.kind(), "int32")),
            },
            _ => Ok(self.scalar(node, form).unwrap_or_else(|| old.unwrap_or(Value::Null))),
        }
    }

    /// None if the value does not fit.
    fn scalar(&mut self, node: Node<'t, '_>, form: &Form) -> Option<Value> {
        let number = |walk: &mut Self, text: &str, value: Option<Value>| {
            if value.is_none() {
                walk.note(|walk| {
                    let what = format!("number {text}");
                    walk.mismatch(&what, &leaf::go_type(walk.api, form))
                });
            }
            value
        };
        match (form, node.token()) {
            (Form::String(_) | Form::Duration, Token::String(text)) => {
                Some(Value::String(text.clone().into_owned()))
            }
            (Form::Bool, Token::Bool(value)) => Some(Value::Bool(*value)),
            (Form::Bytes, Token::String(text)) => match leaf::bytes(text) {
                Ok(text) => Some(Value::String(text)),
                Err(error) => {
                    self.note(|_| error);
                    None
                }
            },
            // To Go, bytes are a list of numbers as well.
            (Form::Bytes, Token::Array(_)) => {
                let items = node.items().map(|item| match item.token() {
                    Token::Null => Some(0),
                    _ => self.scalar(item, &Form::Uint8)?.as_u64(),
                });
                let bytes: Option<Vec<u8>> = items.map(|item| u8::try_from(item?).ok()).collect();
                bytes.map(|bytes| Value::String(leaf::encode_bytes(&bytes)))
            }
            (Form::Int32(_), Token::Number(text)) => {
                number(self, text, text.parse::<i32>().ok().map(Into::into))
            }
            (Form::Int64(_), Token::Number(text)) => {
                number(self, text, text.parse::<i64>().ok().map(Into::into))
            }
            (Form::Uint8, Token::Number(text)) => {
                number(self, text, text.parse::<u8>().ok().map(Into::into))
            }
            (Form::Float64, Token::Number(text)) => number(self, text, leaf::float(text)),
            _ => {
                self.note(|walk| walk.mismatch(node.kind(), &leaf::go_type(walk.api, form)));
                None
            }
        }
    }

    fn object(
        &mut self,
        node: Node<'t, '_>,
        of: &'static Type,
        old: Option<Value>,
    ) -> Result<Value, String> {
        let mut object = match old {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        if !matches!(node.token(), Token::Object(_)) {
            self.note(|walk| walk.mismatch(node.kind(), &leaf::struct_name(of)));
            return Ok(Value::Object(object));
        }
        let owner = self.owner;
        let mut seen: Vec<&'static str> = Vec::with_capacity(16);
        for (key, value) in node.members() {
            let Some(field) = of.field(key) else {
                self.note_strict("unknown", key);
                continue;
            };
            if seen.contains(&field.name) {
                self.note_strict("duplicate", field.name);
            } else {
                seen.push(field.name);
            }
            self.owner = Some(of);
            self.path.push(Step::Field(of, field.name));
            self.field(value, field, &mut object)?;
            self.path.pop();
            self.owner = owner;
        }
        fill(&mut object, of);
        Ok(Value::Object(object))
    }

    fn field(
        &mut self,
        node: Node<'t, '_>,
        field: &'static Field,
        object: &mut Map<String, Value>,
    ) -> Result<(), String> {
        if node.is_null() {
            if is_cleared_by_null(field) {
                object.remove(field.name);
            }
            return Ok(());
        }
        let is_whole = matches!(field.form, Form::List(_))
            && !matches!(field.topology, Topology::Set | Topology::Map(_));
        self.whole_lists += usize::from(is_whole);
        let value = self.value(node, &field.form, object.remove(field.name))?;
        self.whole_lists -= usize::from(is_whole);
        let is_nothing = is_empty(&value) && matches!(field.form, Form::List(_) | Form::Map(_));
        if is_nothing {
            self.traces.has_empty |= !self.is_among(&NEVER_EMPTY, field)
                && !matches!(self.path.first(), Some(Step::Field(_, top)) if *top == "metadata");
            if value.is_object() && self.path.len() == 1 {
                self.traces.empty_maps.push(field.name);
            }
        }
        let is_kept = is_nothing && self.keeps == Keeps::Given;
        let is_dropped = match field.presence {
            Presence::Filled => {
                let is_told = self.whole_lists > 0 || self.is_among(&TOLD_FROM_NONE, field);
                is_empty(&value) && !(is_kept && is_told)
            }
            Presence::Always => is_nothing && value.is_array() && !is_kept,
            Presence::Given | Presence::Nullable => false,
        };
        self.traces.is_loose |= is_kept && !is_dropped;
        if !is_dropped {
            object.insert(field.name.to_owned(), value);
        }
        Ok(())
    }

    fn quantity(&mut self, node: Node<'t, '_>) -> Result<Value, String> {
        let amount = leaf::quantity(node)?;
        let spelled = match node.token() {
            Token::String(text) => text.trim(),
            Token::Number(text) => text,
            _ => return Ok(amount),
        };
        if self.keeps == Keeps::Given && self.whole_lists > 0 && amount != *spelled {
            self.traces.is_loose = true;
            return Ok(spelled.into());
        }
        Ok(amount)
    }

    fn is_among(&self, lists: &[(&str, &str)], field: &Field) -> bool {
        let owner = self.owner.map(|owner| owner.name);
        lists.iter().any(|(of, name)| owner == Some(*of) && field.name == *name)
    }

    fn list(
        &mut self,
        node: Node<'t, '_>,
        form: &Form,
        of: &'static Form,
        old: Option<Value>,
    ) -> Result<Value, String> {
        if !matches!(node.token(), Token::Array(_)) {
            self.note(|walk| walk.mismatch(node.kind(), &leaf::go_type(walk.api, form)));
            return Ok(Value::Null);
        }
        let mut old = match old {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        }
        .into_iter();
        let mut items = Vec::new();
        for (index, item) in node.items().enumerate() {
            self.path.push(Step::Index(index));
            let old = old.next();
            items.push(if item.is_null() {
                old.unwrap_or_else(|| zero_form(of))
            } else {
                self.value(item, of, old)?
            });
            self.path.pop();
        }
        Ok(Value::Array(items))
    }

    fn map(
        &mut self,
        node: Node<'t, '_>,
        form: &Form,
        of: &'static Form,
        old: Option<Value>,
    ) -> Result<Value, String> {
        if !matches!(node.token(), Token::Object(_)) {
            self.note(|walk| {
                let name = match walk.path.last() {
                    Some(Step::Field(_, name)) => *name,
                    _ => "",
                };
                let of = leaf::map_type(walk.api, walk.owner, name, form);
                walk.mismatch(node.kind(), &of)
            });
            return Ok(Value::Null);
        }
        let mut members = Map::new();
        for (key, value) in node.members() {
            self.path.push(Step::Key(key));
            let value = match value.is_null() {
                // Whoever reads them from the server's storage gets empty ones.
                true if *of == Form::Bytes => {
                    self.traces.has_null_bytes = true;
                    Value::String(String::new())
                }
                true => zero_form(of),
                false => self.value(value, of, None)?,
            };
            self.path.pop();
            if members.insert(key.to_owned(), value).is_some() {
                self.note_strict("duplicate", key);
            }
        }
        match old {
            Some(Value::Object(mut old)) => {
                old.extend(members);
                Ok(Value::Object(old))
            }
            _ => Ok(Value::Object(members)),
        }
    }
}

/// Whether null takes away what an equal key gave before.
fn is_cleared_by_null(field: &Field) -> bool {
    match field.presence {
        Presence::Given | Presence::Nullable => true,
        Presence::Always | Presence::Filled => !matches!(
            field.form,
            Form::String(_)
                | Form::Bool
                | Form::Int32(_)
                | Form::Int64(_)
                | Form::Float64
                | Form::Uint8
                | Form::Raw
                | Form::Struct(_)
        ),
    }
}
