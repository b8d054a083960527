//! Which other components a text refers to.
//!
//! Templates are filled in when a component is deployed; before that, what they say about other
//! components decides the order of deployments.

use std::collections::BTreeSet;

const NAMESPACES: [&str; 2] = [".nuon.components.", ".flumen.components."];

/// The names in `{{.nuon.components.NAME…}}` and `{{.flumen.components.NAME…}}`.
pub(super) fn components_in(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for action in text.split("{{").skip(1) {
        let action = action.split("}}").next().unwrap_or(action);
        for namespace in NAMESPACES {
            for rest in action.split(namespace).skip(1) {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
                if !name.is_empty() {
                    found.insert(name);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(components_in(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn references_are_found_in_templates_only() {
        check("{{.nuon.components.db.outputs.url}}", &["db"]);
        check(
            "a {{ .flumen.components.my-db_2.x }}{{.nuon.components.api.y}}",
            &["api", "my-db_2"],
        );
        check("{{ printf \"%s%s\" .nuon.components.a.x .nuon.components.b.x }}", &["a", "b"]);
        check(".nuon.components.db", &[]);
        check("{{.nuon.install.id}} {{.nuon.components.}}", &[]);
        check("{{.nuon.components.open", &["open"]);
    }
}
