//! What plain scalars meant in YAML 1.1, which go-yaml v2 still reads.

use crate::{Node, Scalar, Style, Tag, Text, Value};

/// Gives plain scalars the meaning that they have in YAML 1.1.
pub fn as_yaml_1_1(node: &mut Node) {
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().for_each(as_yaml_1_1),
        Value::Map(map) => map.iter_mut().for_each(|entry| as_yaml_1_1(&mut entry.value)),
        Value::Scalar(scalar) => scalar_as_yaml_1_1(scalar),
    }
}

fn scalar_as_yaml_1_1(scalar: &mut Scalar) {
    match scalar.tag {
        // Only an explicit tag makes a time of a plain scalar.
        Tag::Timestamp => scalar.tag = Tag::Str,
        Tag::Str if scalar.style == Style::Plain => {
            let value = match scalar.text.as_str() {
                "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => "true",
                "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => "false",
                _ => return,
            };
            *scalar = Scalar { text: Text::literal(value), tag: Tag::Bool, style: Style::Plain };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::as_yaml_1_1;
    use crate::{Budget, read, to_json};

    #[test]
    fn old_booleans_are_booleans_and_dates_are_texts() {
        let text = "[yes, 'yes', Off, y, NO, 2024-01-01, true, nOn]".into();
        let mut node = read(&text, 1, &Budget::default()).expect("YAML").remove(0);
        as_yaml_1_1(&mut node);
        let json = r#"[true,"yes",false,true,false,"2024-01-01",true,"nOn"]"#;
        assert_eq!(to_json(&node).as_deref(), Ok(json));
    }
}
