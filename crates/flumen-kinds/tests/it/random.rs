//! Random bodies: objects by their type, with mistakes.
//!
//! They are text, not values, because the order of fields and fields that are there twice matter.

use std::fmt::Write as _;

use flumen_schema::api::{Api, ApiKind, Field, Form, Type};
use flumen_testkit::Random;

/// The text of a body of a kind.
pub(crate) fn body(random: &mut Random, kind: &ApiKind) -> String {
    let mut writer = Writer { random, out: String::new(), mistakes: 0 };
    // Most bodies have one mistake, so that it is not always the first that is told.
    writer.mistakes = writer.random.index(3);
    writer.object(Api::get().type_of(kind.object), 0);
    writer.out
}

/// The same bytes with some of them changed, and perhaps without an end.
pub(crate) fn damaged(random: &mut Random, body: &str) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let place = random.index(bytes.len());
        let other = *random.pick(b"\"\\{}[]:,0-e.\xff\x00\n ");
        if let Some(byte) = bytes.get_mut(place) {
            *byte = other;
        }
    }
    if random.one_in(3) {
        bytes.truncate(random.index(bytes.len()));
    }
    bytes
}

struct Writer<'a> {
    random: &'a mut Random,
    out: String,
    /// Mistakes that may still be made.
    mistakes: usize,
}

impl Writer<'_> {
    fn is_mistake(&mut self) -> bool {
        let is_made = self.mistakes > 0 && self.random.one_in(12);
        self.mistakes -= usize::from(is_made);
        is_made
    }

    fn object(&mut self, of: &'static Type, depth: usize) {
        self.out.push('{');
        let mut is_first = true;
        for field in &of.fields {
            if matches!(field.name, "kind" | "apiVersion" | "managedFields" | "namespace") {
                continue;
            }
            let is_nested = !matches!(below(&field.form), Leaf::Yes);
            let odds = if is_nested && depth > 6 { 12 } else { 3 };
            if self.random.one_in(odds) || depth == 0 {
                self.member(field, &mut is_first, depth);
                if self.is_mistake() {
                    self.member(field, &mut is_first, depth);
                }
            }
        }
        if self.is_mistake() {
            self.comma(&mut is_first);
            self.out.push_str("\"noSuchField\":{\"a\":[1]}");
        }
        self.out.push('}');
    }

    fn comma(&mut self, is_first: &mut bool) {
        self.out.push_str(if *is_first { "" } else { "," });
        *is_first = false;
    }

    fn member(&mut self, field: &'static Field, is_first: &mut bool, depth: usize) {
        self.comma(is_first);
        _ = write!(self.out, "\"{}\":", field.name);
        if self.random.one_in(15) {
            self.out.push_str("null");
        } else {
            self.value(&field.form, &field.values, depth);
        }
    }

    fn value(&mut self, form: &'static Form, values: &[&'static str], depth: usize) {
        if self.is_mistake() {
            let wrong =
                ["1", "1.5", "-1", "\"x\"", "true", "[]", "{}", "[1]", "99999999999", "\"\""];
            let wrong = *self.random.pick(&wrong);
            self.out.push_str(wrong);
            return;
        }
        match form {
            Form::Struct(of) => self.object(Api::get().type_of(*of), depth + 1),
            Form::List(of) => {
                self.out.push('[');
                for place in 0..self.random.below(3) {
                    self.out.push_str(if place > 0 { "," } else { "" });
                    self.value(of, values, depth);
                }
                self.out.push(']');
            }
            Form::Map(of) => {
                self.out.push('{');
                for place in 0..self.random.below(3) {
                    self.out.push_str(if place > 0 { "," } else { "" });
                    let key = *self.random.pick(&["a", "b", "cpu", "memory", "x/y"]);
                    _ = write!(self.out, "\"{key}\":");
                    self.value(of, values, depth);
                }
                self.out.push('}');
            }
            leaf => {
                let text = leaf_text(self.random, leaf, values);
                self.out.push_str(&text);
            }
        }
    }
}

enum Leaf {
    Yes,
    No,
}

fn below(form: &Form) -> Leaf {
    match form {
        Form::Struct(_) => Leaf::No,
        Form::List(of) | Form::Map(of) => below(of),
        _ => Leaf::Yes,
    }
}

fn leaf_text(random: &mut Random, form: &Form, values: &[&'static str]) -> String {
    let texts: &[&str] = match form {
        Form::String(_) | Form::Duration if !values.is_empty() => {
            return format!("{:?}", random.pick(values));
        }
        Form::String(_) | Form::Duration => &["\"\"", "\"a\"", "\"a-b\"", "\"\\u00e9\"", "\"v1\""],
        Form::Bool => &["true", "false"],
        Form::Int32(_) | Form::Int64(_) | Form::Uint8 => &["0", "1", "2", "80", "100"],
        Form::Float64 => &["0", "1.0", "1.5", "1e3"],
        Form::Bytes => &["\"\"", "\"YQ==\"", "\"YR==\"", "\"YQ\"", "\"Y Q==\"", "\"YWI\\n=\""],
        Form::Time => {
            &["\"2024-01-01T00:00:00Z\"", "\"2024-01-01T00:00:00.5+01:00\"", "\"2024-01-01\""]
        }
        Form::MicroTime => &["\"2024-01-01T00:00:00.000001Z\"", "\"2024-01-01T00:00:00Z\""],
        Form::Quantity => &[
            "\"1\"",
            "1",
            "0.5",
            "\"1.5Gi\"",
            "\"1000m\"",
            "\"1e3\"",
            "\"1n\"",
            "\"1KK\"",
            "\" 1 \"",
            "\".\"",
        ],
        Form::IntOrString => &["1", "\"1\"", "\"50%\"", "0", "\"\"", "1.5"],
        Form::Raw | Form::Fields => &["{}", "{\"a\":[1]}"],
        Form::Json => &["1", "1.0", "\"a\"", "{\"a\":[1]}", "[1]", "false"],
        Form::SchemaOrBool => &["true", "{\"type\":\"string\"}", "1", "{\"type\":1}"],
        Form::SchemaOrArray => &["{\"type\":\"string\"}", "[{\"minLength\":\"a\"}]", "1", "[]"],
        _ => &["{\"type\":\"string\"}", "[\"a\"]", "[1]"],
    };
    (*random.pick(texts)).to_owned()
}
