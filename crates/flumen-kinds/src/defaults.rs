//! Values that the server fills in where nothing was given.

use flumen_schema::api::ApiKind;
use serde_json::Value;

/// Fills in the defaults of a canonical object.
pub fn default(_object: &mut Value, _kind: &ApiKind) {}
