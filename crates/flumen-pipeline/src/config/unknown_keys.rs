//! Keys that no configuration has: most often a slip of the keyboard.

use std::path::Path;

use flumen_expr::nearest;
use schemars::Schema;
use serde_json::Value;

use super::{ConfigError, places::Places};

/// Refuses the first key, in the order of the file, that the schema does not have.
pub(super) fn refuse(file: &Path, places: &Places, schema: &Schema) -> Result<(), ConfigError> {
    let schema = schema.as_value();
    let unknown = places
        .iter()
        .filter_map(|(path, pos)| Some((pos, path, known_instead(schema, path)?)))
        .min_by_key(|(pos, ..)| *pos);
    let Some((pos, path, known)) = unknown else { return Ok(()) };

    let key = path.rsplit('.').next().unwrap_or(path);
    let error = ConfigError::new(file, pos, format!("unknown key `{path}`"));
    Err(match nearest(key, known.iter().copied()) {
        Some(similar) => error.hint(format!("did you mean `{similar}`?")),
        None => error.hint(format!("the keys here are {}", known.join(", "))),
    })
}

/// The keys that could stand where `path` ends, if it is none of them.
fn known_instead<'a>(schema: &'a Value, path: &str) -> Option<Vec<&'a str>> {
    let mut schema = schema;
    for key in path.split('.') {
        // Where a schema lists no keys, all are fine.
        let properties = schema.get("properties")?.as_object()?;
        match properties.get(key) {
            Some(inner) => schema = inner,
            // An item of a list has the path of the list and a number.
            None if key.ends_with(']') => return None,
            None => return Some(properties.keys().map(String::as_str).collect()),
        }
    }
    None
}
