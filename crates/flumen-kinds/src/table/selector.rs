//! Labels and label selectors in one line.

use serde_json::{Map, Value};

use super::object::Object;

const NONE: &str = "<none>";

/// `a=b,c=d`.
pub(super) fn labels(labels: Option<&Map<String, Value>>) -> String {
    let Some(labels) = labels.filter(|labels| !labels.is_empty()) else {
        return NONE.to_owned();
    };
    let pairs = labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")));
    pairs.collect::<Vec<_>>().join(",")
}

pub(super) fn selector_or_none(selector: Option<&Value>) -> String {
    match selector.map(self::selector) {
        Some(Ok(text)) if !text.is_empty() => text,
        Some(Err(Unreadable)) => "<error>".to_owned(),
        _ => NONE.to_owned(),
    }
}

/// A selector with an operator that does not exist.
pub(super) struct Unreadable;

/// The requirements of a label selector, ordered by key.
pub(super) fn selector(selector: &Value) -> Result<String, Unreadable> {
    let selector = Object::new(selector, jiff::Timestamp::UNIX_EPOCH);
    let mut parts: Vec<(&str, String)> = Vec::new();
    for (key, value) in selector.map("matchLabels").into_iter().flatten() {
        parts.push((key, format!("{key}={}", value.as_str().unwrap_or_default())));
    }
    for requirement in selector.items("matchExpressions") {
        let key = requirement.text("key");
        let mut values: Vec<&str> = requirement.items("values").map(Object::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match requirement.text("operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return Err(Unreadable),
        };
        parts.push((key, part));
    }
    parts.sort_by_key(|(key, _)| *key);
    Ok(parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(","))
}

/// A selector as Go prints the struct.
pub(super) fn go_text(selector: &Value) -> String {
    let selector = Object::new(selector, jiff::Timestamp::UNIX_EPOCH);
    let labels = selector.map("matchLabels").into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()))
        .collect();
    let labels = labels.concat();
    let requirements = selector.items("matchExpressions").map(|requirement| {
        let values: Vec<&str> = requirement.items("values").map(Object::as_str).collect();
        let (key, operator) = (requirement.text("key"), requirement.text("operator"));
        format!(
            "LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},",
            values.join(" ")
        )
    });
    let requirements = requirements.collect::<Vec<_>>().concat();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},}}"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requirements_are_ordered_by_key() {
        let given = json!({
            "matchLabels": {"b": "1"},
            "matchExpressions": [
                {"key": "d", "operator": "DoesNotExist"},
                {"key": "c", "operator": "NotIn", "values": ["y", "x"]},
                {"key": "a", "operator": "In", "values": ["z"]},
                {"key": "e", "operator": "Exists"},
            ],
        });
        assert_eq!(selector_or_none(Some(&given)), "a in (z),b=1,c notin (x,y),!d,e");
    }

    #[test]
    fn what_selects_nothing_or_all_is_none() {
        assert_eq!(selector_or_none(None), NONE);
        assert_eq!(selector_or_none(Some(&json!({}))), NONE);
        assert_eq!(labels(json!({}).as_object()), NONE);
    }

    #[test]
    fn an_unknown_operator_is_an_error() {
        let given = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
        assert_eq!(selector_or_none(Some(&given)), "<error>");
    }
}
