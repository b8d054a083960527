//! Which labels a label selector means.

use serde_json::{Map, Value};

use crate::object::{items, map, text};

/// Whether a selector with `matchLabels` and `matchExpressions` selects labels. No selector selects
/// nothing, an empty one everything.
pub(crate) fn matches(selector: Option<&Value>, labels: Option<&Map<String, Value>>) -> bool {
    let Some(selector) = selector else { return false };
    let value = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
    let wanted = map(selector, "/matchLabels").into_iter().flatten();
    let equal = wanted.clone().all(|(key, wanted)| value(key) == wanted.as_str());
    equal
        && items(selector, "/matchExpressions").iter().all(|requirement| {
            let found = value(text(requirement, "/key"));
            let listed = || {
                let values = items(requirement, "/values");
                found.is_some_and(|found| values.iter().any(|value| value == found))
            };
            match text(requirement, "/operator") {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}

/// Whether a plain map of labels, which must not be empty, is part of labels.
pub(crate) fn contains(
    labels: Option<&Map<String, Value>>,
    wanted: Option<&Map<String, Value>>,
) -> bool {
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else { return false };
    wanted.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_requirements_must_hold() {
        let labels = json!({"app": "web", "tier": "front"});
        let labels = labels.as_object();
        for (selector, expected) in [
            (json!({}), true),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "db"}}), false),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["y"]}]}),
                true,
            ),
            (json!({"matchExpressions": [{"key": "x", "operator": "Exists"}]}), false),
            (json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}), true),
            (
                json!({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}),
                false,
            ),
        ] {
            assert_eq!(matches(Some(&selector), labels), expected, "{selector}");
        }
        assert!(!matches(None, labels));
    }

    #[test]
    fn an_empty_map_selects_nothing() {
        let labels = json!({"app": "web"});
        assert!(!contains(labels.as_object(), json!({}).as_object()));
        assert!(contains(labels.as_object(), json!({"app": "web"}).as_object()));
    }
}
