//! Hash suffixes of generated resources: a changed content makes a new name, and with it a new rollout.
//!
//! The hash is kustomize's, over JSON as Go writes it, so that names do not change when a repository
//! moves from one tool to the other.

use flumen_yaml::{Entry, Map, Node, Pos, Tag, Text, Value};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    resmap::ResMap,
    transform::Scene,
};

pub(crate) fn transform(resources: &mut ResMap, scene: &Scene<'_>) -> Result<()> {
    if !resources.iter().any(|resource| resource.needs_hash) {
        return Ok(());
    }
    for resource in resources.resources_mut() {
        if resource.needs_hash {
            let hash = hash(resource.node())
                .map_err(|error| error.within(format!("hashing {}", resource.id(scene.schema))))?;
            resource.store_previous_id(scene.schema);
            let name = format!("{}-{hash}", resource.name());
            resource.set_name(name);
        }
    }
    Ok(())
}

fn hash(node: &Node) -> Result<String> {
    let kind = node.get("kind").and_then(Node::as_str).unwrap_or_default();
    let (required, optional): (&[&'static str], _) = match kind {
        "ConfigMap" => (&["data"], "binaryData"),
        "Secret" => (&["data", "type"], "stringData"),
        // Of other kinds kustomize hashes its own record of the file, with comments and columns. Such
        // a name is of no use to anyone; here it depends on the content alone.
        _ => return json(node).map(|json| encode(&json)),
    };
    let mut map = Map::new();
    map.push(Entry::new(Text::literal("kind"), Node::string(Text::from(kind))));
    // kustomize looks for a field of this name, slash and all, so the name itself does not count.
    map.push(Entry::new(Text::literal("name"), value(node.get("metadata/name"))));
    for field in required {
        map.push(Entry::new(Text::literal(field), value(node.get(field))));
    }
    if let Some(data) = node.get(optional).filter(|data| !data.is_scalar()) {
        map.push(Entry::new(Text::literal(optional), value(Some(data))));
    }
    json(&Node::new(Pos::default(), Value::Map(map))).map(|json| encode(&json))
}

/// A field as it enters the hash: scalars as text, mappings as they are, sequences as null.
fn value(node: Option<&Node>) -> Node {
    match node.map(|node| (&node.value, node)) {
        None => Node::string(""),
        Some((Value::Scalar(scalar), _)) => Node::string(scalar.text.clone()),
        Some((Value::Seq(_), _)) => Node::null(),
        Some((Value::Map(_), node)) => {
            let mut node = node.clone();
            as_floats(&mut node);
            node
        }
    }
}

/// Numbers pass through Go's `float64`, which shows in those that do not fit.
fn as_floats(node: &mut Node) {
    const EXACT: i128 = 1 << 53;
    match &mut node.value {
        Value::Scalar(scalar) => {
            if scalar.tag == Tag::Int
                && let Some(number) = flumen_yaml::int_value(&scalar.text)
                && !(-EXACT..=EXACT).contains(&number)
            {
                scalar.text = Text::from(number.to_string());
                scalar.tag = Tag::Float;
            }
        }
        Value::Seq(items) => items.iter_mut().for_each(as_floats),
        Value::Map(map) => map.iter_mut().for_each(|entry| as_floats(&mut entry.value)),
    }
}

fn json(node: &Node) -> Result<String> {
    flumen_yaml::to_json(node).map_err(|error| Error::new(error.to_string()))
}

/// Ten hexadecimal digits, without those that could spell something.
fn encode(json: &str) -> String {
    let digest = Sha256::digest(json.as_bytes());
    let digits = digest.iter().take(5).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"gh2k456789mbcdtf"[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::transform;
    use crate::transform::stage::transformed;

    #[track_caller]
    fn check(manifest: &str, expected: &str) {
        let printed = transformed(manifest, |resources, scene| {
            resources.resources_mut()[0].needs_hash = true;
            transform(resources, scene)?;
            assert_eq!(resources.resources()[0].previous().len(), 1);
            Ok(())
        });
        let name = printed.lines().find_map(|line| line.strip_prefix("  name: "));
        assert_eq!(name, Some(expected));
    }

    #[test]
    fn config_maps() {
        check("{kind: ConfigMap, metadata: {name: hashed}, data: {a: b}}", "hashed-4h2mbtbbt6");
        check("{kind: ConfigMap, metadata: {name: \"123\"}}", "123-6ct58987ht");
    }

    #[test]
    fn values_that_are_no_strings() {
        check(
            "{kind: ConfigMap, metadata: {name: big}, binaryData: [1], data: {n: \"12345678901234567890\", \
             m: 1.50, b: true, z: 9007199254740993, e: 1e30, o: 0x10}}",
            "big-ck2khf2dbb",
        );
    }

    #[test]
    fn secrets() {
        check("{kind: Secret, metadata: {name: s}, type: Opaque, data: {A: Yg==}}", "s-6ftc5d8475");
    }
}
