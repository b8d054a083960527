//! Objects as JSON text with their fields in the order of Go, where a text shows it to clients.

use flumen_schema::api::{Api, Form, TypeId};
use serde_json::Value;

/// The text of an object. What a patch has `touched` is no struct any more and has its keys sorted;
/// so has everything of which no type is known, such as what the patch brought, where `touched` has true. A pointer
/// there says where a value was copied from: it is still what it was there.
pub fn go_json(value: &Value, of: Option<TypeId>, touched: &Value) -> String {
    let root = of.map(Form::Struct);
    let mut printer = Printer { out: String::new(), root: root.as_ref() };
    printer.push(value, root.as_ref(), touched);
    printer.out
}

struct Printer<'f> {
    out: String,
    root: Option<&'f Form>,
}

impl<'f> Printer<'f> {
    fn push(&mut self, value: &Value, form: Option<&'f Form>, touched: &Value) {
        let form = match touched {
            Value::String(from) => self.root.and_then(|root| form_at(root, from)),
            Value::Bool(_) => None,
            _ => form,
        };
        match (value, form) {
            (Value::Object(members), Some(Form::Struct(of))) => {
                let of = Api::get().type_of(*of);
                let sorted = members.iter().map(|(key, value)| {
                    (key.as_str(), value, of.field(key).map(|field| &field.form))
                });
                if touched.is_object() {
                    return self.push_members(sorted, touched);
                }
                let known = of.fields.iter().filter_map(|field| {
                    Some((field.name, members.get(field.name)?, Some(&field.form)))
                });
                // What was copied here from elsewhere may have other members.
                let others = sorted.filter(|(_, _, form)| form.is_none());
                self.push_members(known.chain(others), touched);
            }
            (Value::Object(members), form) => {
                let form = match form {
                    Some(Form::Map(of)) => Some(&**of),
                    _ => None,
                };
                let members = members.iter().map(|(key, value)| (key.as_str(), value, form));
                self.push_members(members, touched);
            }
            (Value::Array(items), form) => {
                let form = match form {
                    Some(Form::List(of)) => Some(&**of),
                    _ => None,
                };
                self.out.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.out.push_str(if place > 0 { "," } else { "" });
                    self.push(item, form, &touched[place.to_string().as_str()]);
                }
                self.out.push(']');
            }
            _ => self.out.push_str(&value.to_string()),
        }
    }

    fn push_members<'a>(
        &mut self,
        members: impl Iterator<Item = (&'a str, &'a Value, Option<&'f Form>)>,
        touched: &Value,
    ) {
        self.out.push('{');
        for (place, (name, value, form)) in members.enumerate() {
            self.out.push_str(if place > 0 { "," } else { "" });
            self.out.push_str(&Value::from(name).to_string());
            self.out.push(':');
            self.push(value, form, &touched[name]);
        }
        self.out.push('}');
    }
}

/// What is at a pointer into something of this form. Names of fields have nothing that would be escaped.
fn form_at<'f>(root: &'f Form, pointer: &str) -> Option<&'f Form> {
    pointer.split('/').skip(1).try_fold(root, |form, key| match form {
        Form::Struct(of) => Api::get().type_of(*of).field(key).map(|field| &field.form),
        Form::List(of) | Form::Map(of) => Some(&**of),
        _ => None,
    })
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

    #[test]
    fn what_was_copied_is_still_what_it_was() {
        let of = Api::get().kind("", "v1", "PersistentVolume").map(|kind| kind.object);
        let spec = json!({ "accessModes": ["a"], "capacity": {}, "hostPath": { "type": "", "path": "/" } });
        let object = json!({ "metadata": { "labels": spec } });
        let touched = json!({ "metadata": { "labels": "/spec" } });
        assert_eq!(
            go_json(&object, of, &touched),
            r#"{"metadata":{"labels":{"capacity":{},"hostPath":{"path":"/","type":""},"accessModes":["a"]}}}"#
        );
    }
}
