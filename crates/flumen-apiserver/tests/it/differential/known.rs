//! Differences that are there on purpose, each with its reason. They are counted, not passed over.

use serde_json::Value;

use super::operation::Operation;

/// Why answers may differ as a whole; none if they may not.
///
/// The real server follows the selectable fields of a definition into its schema also where the schema is missing or
/// not structural. That is a panic, and ends the connection instead of the request.
pub(crate) fn crash(real: &Value, embedded: &Value) -> Option<&'static str> {
    let is_dropped = real["status"] == 0
        && real["body"].as_str().is_some_and(|error| error.contains("IncompleteMessage"));
    let status = &embedded["body"];
    let is_refused =
        embedded["status"] == 422 && status["details"]["kind"] == "CustomResourceDefinition";
    let mut causes = status["details"]["causes"].as_array().into_iter().flatten();
    let is_about_schema = causes.any(|cause| {
        cause["field"].as_str().is_some_and(|field| field.ends_with("schema.openAPIV3Schema"))
    });
    (is_dropped && is_refused && is_about_schema)
        .then_some("selectable fields without a structural schema are a panic in the real server")
}

/// What the limit ranges of the table of kinds can give to a container.
const DEFAULTS: [&str; 3] = ["2", "500m", "100m"];

/// Why the processors of a container may differ after these operations; none if they may not.
///
/// Of several limit ranges in a namespace, the first that has a default gives it, and the real server has them in a
/// hash map, whose order is another one each time.
pub(crate) fn default_limit(
    (place, real, embedded): (&str, &Value, &Value),
    operations: &[Operation],
) -> Option<&'static str> {
    let is_default = |value: &Value| value.as_str().is_some_and(|text| DEFAULTS.contains(&text));
    let is_limit =
        ["limits", "requests"].iter().any(|of| place.ends_with(&format!("/resources/{of}/cpu")));
    let writes_range = |operation: &&Operation| {
        operation.path.contains("/limitranges")
            && matches!(operation.method, "POST" | "PUT" | "PATCH")
    };
    let are_several = operations.iter().filter(writes_range).count() > 1;
    (is_limit && are_several && is_default(real) && is_default(embedded))
        .then_some("of several limit ranges, a hash map decides which one gives the default")
}

/// Why a place may differ; none if it may not.
pub(crate) fn reason(real: &Value, embedded: &Value) -> Option<&'static str> {
    if real.is_null() && embedded == "" {
        return Some("an apply that ends an object answers what was merged, not what is stored");
    }
    let (Some(real), Some(embedded)) = (real.as_str(), embedded.as_str()) else { return None };
    let emptied = |text: &str| text.replace("{}", "null").replace("[]", "null");
    if emptied(real) == emptied(embedded) {
        return Some("messages show an empty map or list as none, because it is stored as none");
    }
    let before = |text: &str, mark: &str| text.find(mark).map(|end| text[..end].to_owned());
    let start = before(real, "\n@@ -");
    if start.is_some() && start == before(embedded, "\n@@ -") && emptied(real) != real {
        return Some("where structs of Go are compared, an empty map or list is none as well");
    }
    let start = before(real, " expecting ").filter(|start| start.contains(": Syntax error: "));
    if start.is_some() && start == before(embedded, " expecting ") {
        return Some("what could follow in an expression depends on the tables of the parser");
    }
    let undeclared = ": field not declared in schema";
    let start = before(real, "): ");
    let is_start_equal = start.is_some() && start == before(embedded, "): ");
    if is_start_equal && real.contains(undeclared) && embedded.contains(undeclared) {
        return Some("beside an unknown field, a hash map decides what else is named");
    }
    None
}
