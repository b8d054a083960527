//! `crds`: `OpenAPI` definitions of custom types, which tell which of their fields refer to what.
//!
//! Only the `x-kubernetes-…` marks of properties matter here. References between definitions are
//! followed, also those that lead back to where they came from.

use std::borrow::Cow;

use flumen_yaml::{Node, Pos, Text};
use rustc_hash::FxHashMap;

use crate::{
    config::{FieldSpec, NameReference, TransformerConfig, merge_spec},
    decode::{
        Found, Mode, Result as Read, Value, decode_file, fields,
        readers::{checked, texts},
    },
    error::{Error, Result},
    kustomization::fields::Located,
    loader::Loader,
};

/// Properties looked at for one type, references followed. Definitions that each refer to the next
/// one twice would have a million with twenty of them.
const MAX_PROPERTIES: usize = 10_000;

/// The fields that the definitions in `paths` mark.
pub(crate) fn load(loader: &Loader, paths: &[Located]) -> Result<TransformerConfig> {
    let mut config = TransformerConfig::default();
    for path in paths {
        let file = loader.read(&path.text)?;
        let definitions = decode_file(&file, Mode::AUXILIARY, definitions).map_err(|error| {
            error.within(format!("unable to parse open API definition from '{}'", path.text)).hint(
                "`crds` names files with OpenAPI definitions; a CustomResourceDefinition \
                         belongs under `resources`",
            )
        })?;
        for definition in &definitions {
            if definition.is_kubernetes_type() {
                let mut walk = Walk::new(&definitions, definition);
                walk.visit(definition).map_err(|error| error.at(&file.path, definition.pos))?;
                config.merge(&walk.config)?;
            }
        }
    }
    Ok(config)
}

#[derive(Debug)]
struct Definition {
    name: Text,
    pos: Pos,
    properties: Vec<Property>,
}

#[derive(Debug, Default)]
struct Property {
    name: Text,
    /// The name of another definition.
    reference: Option<Text>,
    is_annotation: bool,
    is_label_selector: bool,
    is_identity: bool,
    object: Option<ObjectReference>,
}

/// A property that names an object.
#[derive(Debug)]
struct ObjectReference {
    version: Text,
    kind: Text,
    /// The field below the property that has the name.
    name_key: Text,
}

impl Definition {
    fn is_kubernetes_type(&self) -> bool {
        ["kind", "apiVersion", "metadata"]
            .iter()
            .all(|wanted| self.properties.iter().any(|property| property.name == *wanted))
    }
}

fn definitions(value: Value<'_>) -> Read<Vec<Definition>> {
    let mut definitions = Vec::new();
    for (name, value) in value.entries("accumulator.nameToApiMap")? {
        let mut properties = Vec::new();
        if !value.is_null() {
            fields!(value, "accumulator.OpenAPIDefinition", {
                "Schema": schema => properties,
                "Dependencies": checked(texts) => (),
            });
        }
        definitions.push(Definition { name: name.clone(), pos: value.pos(), properties });
    }
    Ok(definitions)
}

fn schema(value: Value<'_>) -> Read<Vec<Property>> {
    let mut all = Vec::new();
    fields!(value, "spec.Schema", { "properties": properties => all });
    Ok(all)
}

fn properties(value: Value<'_>) -> Read<Vec<Property>> {
    let entries = value.entries("map[string]spec.Schema")?;
    entries
        .into_iter()
        .map(|(name, value)| match value.found() {
            Found::Null => Ok(Property { name: name.clone(), ..Property::default() }),
            Found::Object => Ok(property(name.clone(), value.node())),
            _ => Err(value.mismatch("spec.Schema")),
        })
        .collect()
}

fn property(name: Text, node: &Node) -> Property {
    let mark = |key: &str| extension(node, key);
    let object = match (mark("object-ref-api-version"), mark("object-ref-kind")) {
        (Some(version), Some(kind)) => {
            let name_key = mark("object-ref-name-key").unwrap_or_else(|| Text::literal("name"));
            Some(ObjectReference { version, kind, name_key })
        }
        _ => None,
    };
    Property {
        name,
        reference: node.get("$ref").filter(|value| !value.is_null()).and_then(Node::text).cloned(),
        is_annotation: mark("annotation").is_some(),
        is_label_selector: mark("label-selector").is_some(),
        is_identity: mark("identity").is_some(),
        object,
    }
}

/// The value of an `x-kubernetes-` mark; only strings count.
fn extension(node: &Node, key: &str) -> Option<Text> {
    const PREFIX: &str = "x-kubernetes-";
    let is_wanted = |name: &str| {
        name.len() == PREFIX.len() + key.len()
            && name.is_char_boundary(PREFIX.len())
            && name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX)
            && name[PREFIX.len()..].eq_ignore_ascii_case(key)
    };
    let entry = node.as_map()?.iter().find(|entry| is_wanted(&entry.key))?;
    let scalar = entry.value.as_scalar()?;
    (scalar.tag == flumen_yaml::Tag::Str).then(|| scalar.text.clone())
}

/// One type and everything its properties refer to.
struct Walk<'a> {
    by_name: FxHashMap<&'a str, &'a Definition>,
    kind: &'a str,
    config: TransformerConfig,
    /// Names of properties on the way here.
    path: Vec<&'a str>,
    /// Definitions on the way here.
    open: Vec<&'a str>,
    seen: usize,
}

impl<'a> Walk<'a> {
    fn new(definitions: &'a [Definition], of: &'a Definition) -> Self {
        let by_name = definitions.iter().map(|definition| (&*definition.name, definition));
        Self {
            by_name: by_name.collect(),
            kind: of.name.rsplit_once('.').map_or(&*of.name, |(_, kind)| kind),
            config: TransformerConfig::default(),
            path: Vec::new(),
            open: Vec::new(),
            seen: 0,
        }
    }

    fn visit(&mut self, definition: &'a Definition) -> Result<()> {
        self.open.push(&definition.name);
        for property in &definition.properties {
            self.seen += 1;
            if self.seen > MAX_PROPERTIES {
                return Err(Error::new(format!(
                    "'{}' refers to more than {MAX_PROPERTIES} properties",
                    self.kind
                )));
            }
            self.path.push(&property.name);
            self.mark(property)?;
            if let Some(reference) = &property.reference
                && !self.open.contains(&reference.as_str())
                && let Some(next) = self.by_name.get(reference.as_str()).copied()
            {
                self.visit(next)?;
            }
            self.path.pop();
        }
        self.open.pop();
        Ok(())
    }

    fn mark(&mut self, property: &'a Property) -> Result<()> {
        if property.is_annotation {
            let spec = self.spec();
            merge_spec(&mut self.config.common_annotations, &spec)?;
        }
        if property.is_label_selector {
            let spec = self.spec();
            merge_spec(&mut self.config.common_labels, &spec)?;
        }
        if property.is_identity {
            let spec = self.spec();
            merge_spec(&mut self.config.name_prefix, &spec)?;
        }
        if let Some(object) = &property.object {
            self.path.push(&object.name_key);
            let spec = self.spec();
            self.path.pop();
            self.refer(object, spec)?;
        }
        Ok(())
    }

    fn refer(&mut self, object: &ObjectReference, referrer: FieldSpec) -> Result<()> {
        let references = self.config.name_reference.to_mut();
        let known = references.iter_mut().find(|reference| {
            reference.kind == *object.kind && reference.version == *object.version
        });
        if let Some(reference) = known {
            return merge_spec(&mut reference.referrers, &referrer);
        }
        references.push(NameReference {
            group: Cow::Borrowed(""),
            version: Cow::Owned(object.version.to_string()),
            kind: Cow::Owned(object.kind.to_string()),
            referrers: Cow::Owned(vec![referrer]),
        });
        Ok(())
    }

    fn spec(&self) -> FieldSpec {
        FieldSpec {
            kind: Cow::Owned(self.kind.to_owned()),
            path: Cow::Owned(self.path.join("/")),
            ..FieldSpec::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use flumen_fs::MemoryTree;

    use super::*;
    use crate::loader::LoadRestriction;

    fn loaded(content: &str) -> Result<TransformerConfig> {
        let mut tree = MemoryTree::new();
        tree.insert_file("/c.yaml", content);
        let loader = Loader::open(Arc::new(tree), Path::new("/"), LoadRestriction::RootOnly, None)?;
        load(&loader, &[Located { text: "c.yaml".into(), ..Located::default() }])
    }

    const TYPE: &str = "kind: {}, apiVersion: {}, metadata: {}";

    fn paths(specs: &[FieldSpec]) -> Vec<(&str, &str)> {
        specs.iter().map(|spec| (&*spec.kind, &*spec.path)).collect()
    }

    #[test]
    fn marks_are_found_through_references() {
        let config = loaded(
            "my.io.v1.Bee:\n  Schema:\n    properties:\n      \
               kind: {}\n      apiVersion: {}\n      metadata: {}\n      \
               spec: {$ref: my.io.v1.BeeSpec}\n\
             my.io.v1.BeeSpec:\n  Schema:\n    properties:\n      \
               notes: {x-kubernetes-annotation: ''}\n      \
               pick: {X-Kubernetes-Label-Selector: ''}\n      \
               id: {x-kubernetes-identity: ''}\n      \
               ref: {x-kubernetes-object-ref-api-version: v1, x-kubernetes-object-ref-kind: S}\n      \
               other: {x-kubernetes-object-ref-api-version: v1, x-kubernetes-object-ref-kind: S, \
                 x-kubernetes-object-ref-name-key: key}\n",
        )
        .expect("valid");
        assert_eq!(paths(&config.common_annotations), [("Bee", "spec/notes")]);
        assert_eq!(paths(&config.common_labels), [("Bee", "spec/pick")]);
        assert_eq!(paths(&config.name_prefix), [("Bee", "spec/id")]);
        let reference = &config.name_reference[0];
        assert_eq!((&*reference.kind, &*reference.version), ("S", "v1"));
        assert_eq!(
            paths(&reference.referrers),
            [("Bee", "spec/ref/name"), ("Bee", "spec/other/key")]
        );
    }

    #[test]
    fn types_that_are_no_objects_are_left_out() {
        let config = loaded("A: {Schema: {properties: {x: {x-kubernetes-identity: ''}}}}\nB: ~\n");
        assert!(config.expect("valid").name_prefix.is_empty());
    }

    #[test]
    fn recursive_definitions_end() {
        let config = loaded(&format!(
            "A: {{Schema: {{properties: {{{TYPE}, b: {{$ref: B}}, me: {{$ref: A}}}}}}}}\n\
             B: {{Schema: {{properties: {{a: {{$ref: A}}, id: {{x-kubernetes-identity: ''}}}}}}}}\n"
        ))
        .expect("valid");
        assert_eq!(paths(&config.name_prefix), [("A", "b/id")]);
    }

    #[test]
    fn definitions_that_multiply_are_refused() {
        use std::fmt::Write as _;
        let mut text = format!("N0: {{Schema: {{properties: {{{TYPE}, a: {{$ref: N1}}}}}}}}\n");
        for level in 1..30 {
            let next = level + 1;
            let _ = writeln!(
                text,
                "N{level}: {{Schema: {{properties: {{a: {{$ref: N{next}}}, b: {{$ref: N{next}}}}}}}}}"
            );
        }
        let error = loaded(&text).expect_err("too many").to_string();
        assert!(error.contains("more than 10000 properties"), "{error}");
    }

    #[test]
    fn mistakes_are_refused() {
        let check = |text: &str, expected: &str| {
            let error = loaded(text).expect_err(text).to_string();
            let start = "unable to parse open API definition from 'c.yaml': error unmarshaling \
                         JSON: while decoding JSON: json: cannot unmarshal ";
            assert_eq!(error.strip_prefix(start), Some(expected), "{text}: {error}");
        };
        check("- a\n", "array into Go value of type accumulator.nameToApiMap");
        check(
            "apiVersion: v1\nkind: CustomResourceDefinition\n",
            "string into Go value of type accumulator.OpenAPIDefinition",
        );
        check(
            "A: {Dependencies: 1}\n",
            "number into Go struct field OpenAPIDefinition.Dependencies of type []string",
        );
        assert!(loaded("A: {Schema: {properties: {a: 1}}}\n").is_err());
        assert!(loaded("A: [\n").is_err());
        assert!(loaded("").expect("nothing").name_prefix.is_empty());
    }
}
