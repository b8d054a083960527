//! Differences that are there on purpose, each with its reason. They are counted, not passed over.

use serde_json::Value;

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
