//! Paths to fields that a schema has: `.spec.a`, `.spec['a']`.

use std::fmt::Write as _;

use crate::schema::{Additional, Schema};

/// A path that was found to lead somewhere.
#[derive(Debug)]
pub(crate) struct FieldPath<'a> {
    /// As messages name it, without the dot at its start.
    pub text: String,
    /// The first field.
    pub root: String,
    /// What is there; `None` where the schema says nothing more.
    pub schema: Option<&'a Schema>,
}

/// Follows a path through a schema.
pub(crate) fn parse<'a>(
    path: &str,
    schema: &'a Schema,
    allow_brackets: bool,
) -> Result<FieldPath<'a>, String> {
    let mut found = FieldPath { text: String::new(), root: String::new(), schema: Some(schema) };
    let mut tokens = tokens(path).into_iter();
    let ended = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        match token {
            "[" if !allow_brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or_else(ended)?;
                let name = quoted
                    .strip_prefix('\'')
                    .and_then(|it| it.strip_suffix('\''))
                    .ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                step(&mut found, &unescaped(name)?)?;
                match tokens.next().ok_or_else(ended)? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => step(&mut found, tokens.next().ok_or_else(ended)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

fn step(found: &mut FieldPath<'_>, name: &str) -> Result<(), String> {
    let unknown = || "does not refer to a valid field".to_owned();
    let schema = found.schema.ok_or_else(unknown)?;
    if found.root.is_empty() {
        name.clone_into(&mut found.root);
    }
    if !schema.properties.is_empty() {
        found.schema = Some(schema.properties.get(name).ok_or_else(unknown)?);
        if !found.text.is_empty() {
            found.text.push('.');
        }
        found.text.push_str(name);
    } else if let Some(additional) = &schema.additional {
        found.schema = match additional {
            Additional::Schema(schema) => Some(schema),
            Additional::Any(_) => None,
        };
        let _ = write!(found.text, "[{name}]");
    } else {
        return Err(unknown());
    }
    Ok(())
}

/// Dots, brackets, and what is between them; a quoted text is one.
fn tokens(path: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '.' | '[' | ']' => 1,
            '\'' => quoted(rest),
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// The length of a quoted text, or of all that is left.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[at - 1] != b'\\');
    end.map_or(text.len(), |end| end + 1)
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut result = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let ('\\', Some(escaped)) = (char, chars.clone().next()) else {
            result.push(char);
            continue;
        };
        chars.next();
        result.push(match escaped {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\'' => '\'',
            '\\' => '\\',
            other => {
                let problem = format!("invalid escape char \\{other}");
                return Err(format!("invalid string literal: {problem}"));
            }
        });
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;
    use crate::schema::Schema;

    #[track_caller]
    fn check(path: &str, expected: Result<&str, &str>) {
        let schema = Schema::read(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "a": {"type": "string"},
                "x.y": {"type": "string"},
                "m": {"type": "object", "additionalProperties": {"type": "string"}}}}}}))
        .expect("a schema");
        let found = parse(path, &schema, true).map(|found| found.text);
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn paths_follow_the_schema() {
        check(".spec.a", Ok("spec.a"));
        check(".spec['x.y']", Ok("spec.x.y"));
        check(".spec.m['k']", Ok("spec.m[k]"));
        check(".spec.m.k", Ok("spec.m[k]"));
        check(".nope", Err("does not refer to a valid field"));
        check(".spec.a.b", Err("does not refer to a valid field"));
        check("spec", Err("expected [ or . but got: spec"));
        check(".spec[a]", Err("expected single quoted string but got a"));
        check(".spec['a'", Err("unexpected end of JSON path"));
        check(".spec['\\q']", Err("invalid string literal: invalid escape char \\q"));
    }
}
