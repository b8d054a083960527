//! Values as the server's own types print them.
//!
//! Messages show structs of the server's internal types, whose fields have their Go names, stand in
//! the order of their source and are all there. `internal/types.txt` knows them; what has names for
//! JSON in Go is printed by the facts of the served types.

use std::collections::HashMap;
use std::sync::LazyLock;

use flumen_fields::Shown;
use flumen_schema::api::{Api, Form, Presence};
use serde_json::{Map, Value};

use crate::read::Read;

static TYPES: LazyLock<HashMap<&'static str, Vec<Member>>> =
    LazyLock::new(|| read_types(include_str!("internal/types.txt")));

#[derive(Debug)]
enum Member {
    Field { name: &'static str, json: &'static str, form: &'static str },
    Embedded(&'static str),
}

fn read_types(text: &'static str) -> HashMap<&'static str, Vec<Member>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &'static str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let member = |word: &'static str| {
            if let Some(form) = word.strip_prefix('+') {
                Some(Member::Embedded(form))
            } else {
                let (name, rest) = word.split_once('=')?;
                let (json, form) = rest.split_once(':')?;
                Some(Member::Field { name, json, form })
            }
        };
        (name, words.filter_map(member).collect())
    };
    lines.map(entry).collect()
}

/// A struct of the server, such as `core.ServicePort`, on one line.
pub(crate) fn shown(of: &str, value: &Value) -> Shown {
    let mut text = String::new();
    write(&mut text, &tree(&format!("@{of}"), Some(value), &Value::Null), None);
    Shown::Text(text)
}

/// A pointer to such a struct, which may be nil.
pub(crate) fn shown_pointer(of: &str, value: Option<&Value>) -> Shown {
    value.map_or(Shown::Value(Value::Null), |value| shown(of, value))
}

/// A list of such structs.
pub(crate) fn shown_list(of: &str, values: &[Value]) -> Shown {
    let form = format!("@{of}");
    let items = values.iter().map(|value| tree(&form, Some(value), &Value::Null)).collect();
    let mut text = String::new();
    write(&mut text, &Tree::List(items), None);
    Shown::Text(text)
}

/// A struct that has names for JSON, such as `apimachinery.pkg.apis.meta.v1.LabelSelector`.
pub(crate) fn shown_served(of: &str, value: &Value) -> Shown {
    let mut text = String::new();
    write(&mut text, &served(of, value), None);
    Shown::Text(text)
}

/// A list of such structs.
pub(crate) fn shown_served_list(of: &str, values: &[Value]) -> Shown {
    let mut text = String::new();
    write(&mut text, &Tree::List(values.iter().map(|value| served(of, value)).collect()), None);
    Shown::Text(text)
}

/// A struct of the server over many lines, as differences are shown.
pub(crate) fn pretty(of: &str, value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, &tree(&format!("@{of}"), Some(value), &Value::Null), Some(0));
    text
}

/// JSON whose fields have an order.
enum Tree {
    Leaf(Value),
    List(Vec<Self>),
    Fields(Vec<(String, Self)>),
}

fn tree(form: &str, value: Option<&Value>, above: &Value) -> Tree {
    let value = value.filter(|value| !value.is_null());
    if let Some(inner) = form.strip_prefix('*') {
        return value.map_or(Tree::Leaf(Value::Null), |value| tree(inner, Some(value), above));
    }
    if let Some(inner) = form.strip_prefix("[]") {
        let Some(items) = value.and_then(Value::as_array) else { return Tree::Leaf(Value::Null) };
        return Tree::List(items.iter().map(|item| tree(inner, Some(item), above)).collect());
    }
    if let Some(inner) = form.strip_prefix("{}") {
        let Some(entries) = value.and_then(Value::as_object) else {
            return Tree::Leaf(Value::Null);
        };
        let entry =
            |(key, value): (&String, &Value)| (key.clone(), tree(inner, Some(value), above));
        return Tree::Fields(entries.iter().map(entry).collect());
    }
    let null = Value::Null;
    let given = value.unwrap_or(&null);
    if let Some(name) = form.strip_prefix('@') {
        let mut fields = Vec::new();
        members(&mut fields, name, given, above);
        return Tree::Fields(fields);
    }
    if let Some(name) = form.strip_prefix('=') {
        return served(&format!("apimachinery.pkg.apis.meta.v1.{name}"), given);
    }
    Tree::Leaf(match (value, form) {
        (Some(value), _) => value.clone(),
        (None, "s") => "".into(),
        (None, "n" | "x") => 0.into(),
        (None, "b") => false.into(),
        (None, "q") => "0".into(),
        (None, _) => Value::Null,
    })
}

fn members(fields: &mut Vec<(String, Tree)>, of: &str, value: &Value, above: &Value) {
    for member in TYPES.get(of).map_or(&[][..], Vec::as_slice) {
        match member {
            Member::Embedded(form) if form.starts_with('@') => {
                members(fields, &form[1..], value, above);
            }
            // Only metadata is embedded with names of its own.
            Member::Embedded(_) => {
                let of = "apimachinery.pkg.apis.meta.v1.ObjectMeta";
                if let Tree::Fields(inner) = served(of, value.part("metadata")) {
                    fields.extend(inner);
                }
            }
            Member::Field { name, json, form } => {
                let found = match json.strip_prefix('^') {
                    Some(json) => above.get(json),
                    None => value.get(json),
                };
                fields.push(((*name).to_owned(), tree(form, found, value)));
            }
        }
    }
}

fn served(of: &str, value: &Value) -> Tree {
    let api = Api::get();
    match api.type_named(of) {
        Some(id) => served_form(&Form::Struct(id), value),
        None => Tree::Leaf(value.clone()),
    }
}

fn served_form(form: &Form, value: &Value) -> Tree {
    match (form, value) {
        (Form::Struct(id), Value::Object(_) | Value::Null) => {
            let mut fields = Vec::new();
            for field in &Api::get().type_of(*id).fields {
                let found = value.some(field.name);
                let shown = match (field.presence, found) {
                    (_, Some(found)) => served_form(&field.form, found),
                    (Presence::Always, None) => served_zero(&field.form),
                    (Presence::Nullable, None) => Tree::Leaf(Value::Null),
                    (Presence::Given | Presence::Filled, None) => continue,
                };
                fields.push((field.name.to_owned(), shown));
            }
            Tree::Fields(fields)
        }
        (Form::List(inner), Value::Array(items)) => {
            Tree::List(items.iter().map(|item| served_form(inner, item)).collect())
        }
        _ => Tree::Leaf(value.clone()),
    }
}

fn served_zero(form: &Form) -> Tree {
    match form {
        Form::String(_) => Tree::Leaf("".into()),
        Form::Int32(_) | Form::Int64(_) => Tree::Leaf(0.into()),
        Form::Bool => Tree::Leaf(false.into()),
        Form::Struct(_) => served_form(form, &Value::Object(Map::new())),
        _ => Tree::Leaf(Value::Null),
    }
}

/// Writes JSON as Go does, on one line or with one space for each level.
fn write(into: &mut String, tree: &Tree, depth: Option<usize>) {
    let inner = depth.map(|depth| depth + 1);
    match tree {
        Tree::Leaf(value) => match (value, depth) {
            (Value::Array(items), _) if !items.is_empty() => {
                let items = items.iter().map(|item| Tree::Leaf(item.clone())).collect();
                write(into, &Tree::List(items), depth);
            }
            (Value::Object(fields), _) if !fields.is_empty() => {
                let fields = fields.iter().map(|(k, v)| (k.clone(), Tree::Leaf(v.clone())));
                write(into, &Tree::Fields(fields.collect()), depth);
            }
            _ => {
                let text = value.to_string();
                into.push_str(
                    &text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"),
                );
            }
        },
        Tree::List(items) if items.is_empty() => into.push_str("[]"),
        Tree::List(items) => {
            for (n, item) in items.iter().enumerate() {
                into.push(if n == 0 { '[' } else { ',' });
                line(into, inner);
                write(into, item, inner);
            }
            line(into, depth);
            into.push(']');
        }
        Tree::Fields(fields) if fields.is_empty() => into.push_str("{}"),
        Tree::Fields(fields) => {
            for (n, (name, value)) in fields.iter().enumerate() {
                into.push(if n == 0 { '{' } else { ',' });
                line(into, inner);
                into.push_str(&Value::from(name.as_str()).to_string());
                into.push_str(if depth.is_some() { ": " } else { ":" });
                write(into, value, inner);
            }
            line(into, depth);
            into.push('}');
        }
    }
}

fn line(into: &mut String, depth: Option<usize>) {
    if let Some(depth) = depth {
        into.push('\n');
        into.extend(std::iter::repeat_n(' ', depth));
    }
}

#[cfg(test)]
mod tests {
    use flumen_fields::Shown;
    use serde_json::json;

    use super::{pretty, shown, shown_served};

    #[track_caller]
    fn check(shown: &Shown, expected: &str) {
        assert_eq!(*shown, Shown::Text(expected.into()));
    }

    #[test]
    fn structs_have_all_fields_in_the_order_of_the_source() {
        check(
            &shown("core.ServicePort", &json!({"port": 80, "protocol": "TCP"})),
            r#"{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#,
        );
        check(
            &shown("apps.DeploymentStrategy", &json!({"type": "Blue"})),
            r#"{"Type":"Blue","RollingUpdate":null}"#,
        );
    }

    #[test]
    fn served_structs_leave_out_what_is_empty() {
        let selector = json!({"matchExpressions": [{"key": "a", "operator": "In"}], "matchLabels": {"b": "c"}});
        check(
            &shown_served("apimachinery.pkg.apis.meta.v1.LabelSelector", &selector),
            r#"{"matchLabels":{"b":"c"},"matchExpressions":[{"key":"a","operator":"In"}]}"#,
        );
    }

    #[test]
    fn fields_of_the_pod_are_shown_where_the_server_keeps_them() {
        let text = pretty("core.PodSpec", &json!({"hostNetwork": true, "securityContext": {}}));
        assert!(text.contains(" \"SecurityContext\": {\n  \"HostNetwork\": true,\n"), "{text}");
    }
}
