//! Types that are a schema or something else. They read themselves.

use flumen_schema::api::{Form, Type};
use serde_json::Value;

use super::{Keeps, Names, Step, Walk};
use crate::json::{Node, Token};

/// What is wrong with a value that is a schema or something else. To Go it is no part of anything here.
pub(in crate::decode) fn schema_fault(root: Node<'_, '_>, form: &Form) -> Option<String> {
    Walk::new(Keeps::Given, Names::All).schema(root, form).err()
}

impl<'t> Walk<'t> {
    pub(super) fn schema(&mut self, node: Node<'t, '_>, form: &Form) -> Result<Value, String> {
        let schema = self
            .api
            .type_named("apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
            .map(|id| self.api.type_of(id))
            .ok_or_else(|| "no schema of schemas".to_owned())?;
        let outer = (self.is_quiet, self.error.take(), self.reader);
        (self.is_quiet, self.reader) = (true, self.reader.or(self.owner));
        let value = match (form, node.token()) {
            (_, Token::Object(_)) => self.object(node, schema, None),
            (Form::SchemaOrBool, Token::Bool(value)) => Ok(Value::Bool(*value)),
            (Form::SchemaOrBool, _) => Err("boolean or JSON schema expected".to_owned()),
            (_, Token::Array(_)) => self.schemas(node, form, schema),
            _ => Ok(Value::Null),
        };
        let error = self.error.take();
        (self.is_quiet, self.error, self.reader) = outer;
        match error {
            Some(error) => value.and(Err(error)),
            None => value,
        }
    }

    fn schemas(
        &mut self,
        node: Node<'t, '_>,
        form: &Form,
        schema: &'static Type,
    ) -> Result<Value, String> {
        let mut items = Vec::new();
        for (index, item) in node.items().enumerate() {
            self.path.push(Step::Index(index));
            items.push(match (form, item.token()) {
                (Form::SchemaOrArray, _) => self.object(item, schema, None)?,
                (_, Token::String(text)) => Value::String(text.clone().into_owned()),
                _ => {
                    self.note(|walk| walk.mismatch(item.kind(), "string"));
                    Value::Null
                }
            });
            self.path.pop();
        }
        Ok(if items.is_empty() { Value::Null } else { Value::Array(items) })
    }
}
