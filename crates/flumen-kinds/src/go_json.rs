//! Objects as JSON text with their fields in the order of Go, where a text shows it to clients.

use flumen_schema::api::{Api, Form, TypeId};
use serde_json::Value;

/// The text of an object. What a patch has `touched` is no struct any more and has its keys sorted;
/// so has everything of which no type is known.
pub fn go_json(value: &Value, of: Option<TypeId>, touched: &Value) -> String {
    let mut out = String::new();
    push(&mut out, value, of.map(Form::Struct).as_ref(), touched);
    out
}

fn push(out: &mut String, value: &Value, form: Option<&Form>, touched: &Value) {
    match (value, form) {
        (Value::Object(members), Some(Form::Struct(of))) => {
            let fields = &Api::get().type_of(*of).fields;
            let mut known: Vec<(&str, &Value, Option<&Form>)> = Vec::with_capacity(members.len());
            if touched.is_object() {
                known.extend(members.iter().map(|(key, value)| {
                    let field = Api::get().type_of(*of).field(key);
                    (key.as_str(), value, field.map(|field| &field.form))
                }));
            } else {
                known.extend(fields.iter().filter_map(|field| {
                    Some((field.name, members.get(field.name)?, Some(&field.form)))
                }));
                // What was copied here from elsewhere may have other members.
                let is_known = |key: &str| Api::get().type_of(*of).field(key).is_some();
                let others = members.iter().filter(|(key, _)| !is_known(key));
                known.extend(others.map(|(key, value)| (key.as_str(), value, None)));
            }
            push_members(out, known.into_iter(), touched);
        }
        (Value::Object(members), form) => {
            let form = match form {
                Some(Form::Map(of)) => Some(&**of),
                _ => None,
            };
            let members = members.iter().map(|(key, value)| (key.as_str(), value, form));
            push_members(out, members, touched);
        }
        (Value::Array(items), Some(Form::List(of))) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                push(out, item, Some(of), &touched[place.to_string().as_str()]);
            }
            out.push(']');
        }
        _ => out.push_str(&value.to_string()),
    }
}

fn push_members<'a>(
    out: &mut String,
    members: impl Iterator<Item = (&'a str, &'a Value, Option<&'a Form>)>,
    touched: &Value,
) {
    out.push('{');
    for (place, (name, value, form)) in members.enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        out.push_str(&Value::from(name).to_string());
        out.push(':');
        push(out, value, form, &touched[name]);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use flumen_schema::api::Api;
    use serde_json::{Value, json};

    use super::go_json;

    #[test]
    fn what_was_touched_is_sorted_and_the_rest_is_not() {
        let of = Api::get().kind("apps", "v1", "Deployment").map(|kind| kind.object);
        let object = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "uid": "u", "name": "n" },
            "spec": { "replica": 1, "strategy": { "rollingUpdate": {
                "maxSurge": 1, "maxUnavailable": 0,
            }, "type": "x" }, "selector": null },
        });
        let check = |touched: Value, expected: &str| {
            assert_eq!(go_json(&object, of, &touched), expected);
        };
        let strategy = r#"{"type":"x","rollingUpdate":{"maxUnavailable":0,"maxSurge":1}}"#;
        check(
            Value::Null,
            &format!(
                r#"{{"kind":"Deployment","apiVersion":"apps/v1","metadata":{{"name":"n","uid":"u"}},"spec":{{"selector":null,"strategy":{strategy},"replica":1}}}}"#
            ),
        );
        check(
            json!({ "spec": { "replica": 1 } }),
            &format!(
                r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"n","uid":"u"}},"spec":{{"replica":1,"selector":null,"strategy":{strategy}}}}}"#
            ),
        );
        assert_eq!(go_json(&json!({ "b": 1, "a": [1] }), None, &Value::Null), r#"{"a":[1],"b":1}"#);
    }
}
