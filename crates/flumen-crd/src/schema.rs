//! A schema as a definition has it, read once.

use std::{collections::BTreeMap, sync::OnceLock};

use flumen_cel::Regex;
use serde_json::{Map, Value};

/// Everything that a definition can say about a value. What is not said is empty or `None`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "that is how schemas are written")]
pub(crate) struct Schema {
    pub kind: String,
    pub format: String,
    pub title: String,
    pub description: String,
    pub pattern: Option<Pattern>,
    pub default: Option<Value>,
    pub nullable: bool,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub unique_items: bool,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Vec<String>,
    pub choices: Vec<Value>,
    pub properties: BTreeMap<String, Self>,
    pub additional: Option<Additional>,
    pub items: Option<Items>,
    pub all_of: Vec<Self>,
    pub any_of: Vec<Self>,
    pub one_of: Vec<Self>,
    pub not: Option<Box<Self>>,
    pub preserve_unknown: Option<bool>,
    pub embedded: bool,
    pub int_or_string: bool,
    pub list_type: Option<String>,
    pub list_map_keys: Vec<String>,
    pub map_type: Option<String>,
    pub rules: Vec<Rule>,
    /// Words of JSON schema that no definition may use.
    pub unsupported: Unsupported,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each word is used or not by itself")]
pub(crate) struct Unsupported {
    pub id: bool,
    pub schema: bool,
    pub reference: Option<String>,
    pub additional_items: bool,
    pub pattern_properties: bool,
    pub dependencies: Option<usize>,
    pub definitions: BTreeMap<String, Schema>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Additional {
    Any(bool),
    Schema(Box<Schema>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Items {
    Schema(Box<Schema>),
    /// One for each place; no definition may use it.
    Schemas(Vec<Schema>),
}

/// A rule in CEL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "they are called so in schemas")]
pub(crate) struct Rule {
    pub rule: String,
    pub message: String,
    pub message_expression: String,
    pub reason: Option<String>,
    pub field_path: String,
    pub optional_old_self: Option<bool>,
}

/// A pattern that is compiled when it is first used.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub source: String,
    compiled: OnceLock<Result<Regex, String>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Pattern {
    fn new(source: &str) -> Self {
        Self { source: source.to_owned(), compiled: OnceLock::new() }
    }

    /// The pattern, or what is wrong with it.
    pub(crate) fn compiled(&self) -> Result<&Regex, &str> {
        self.compiled
            .get_or_init(|| flumen_cel::pattern(&self.source, LARGEST_PATTERN))
            .as_ref()
            .map_err(String::as_str)
    }
}

/// In bytes, once compiled: more than any pattern that people write, and little enough to match.
const LARGEST_PATTERN: usize = 256 * 1024;

impl Schema {
    /// Reads what has the form of a schema; anything else in it is passed over.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        value.as_object().map(Self::of)
    }

    fn of(map: &Map<String, Value>) -> Self {
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let optional = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        let flag = |key: &str| map.get(key).and_then(Value::as_bool);
        let int = |key: &str| map.get(key).and_then(Value::as_i64);
        let number = |key: &str| map.get(key).and_then(Value::as_f64);
        let present = |key: &str| map.get(key).filter(|value| !value.is_null());
        Self {
            kind: text("type"),
            format: text("format"),
            title: text("title"),
            description: text("description"),
            pattern: Some(text("pattern"))
                .filter(|source| !source.is_empty())
                .map(|it| Pattern::new(&it)),
            default: present("default").cloned(),
            nullable: flag("nullable").unwrap_or(false),
            maximum: number("maximum"),
            exclusive_maximum: flag("exclusiveMaximum").unwrap_or(false),
            minimum: number("minimum"),
            exclusive_minimum: flag("exclusiveMinimum").unwrap_or(false),
            multiple_of: number("multipleOf"),
            max_length: int("maxLength"),
            min_length: int("minLength"),
            max_items: int("maxItems"),
            min_items: int("minItems"),
            unique_items: flag("uniqueItems").unwrap_or(false),
            max_properties: int("maxProperties"),
            min_properties: int("minProperties"),
            required: texts(map.get("required")),
            choices: map.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            properties: schemas_by_name(map.get("properties")),
            additional: present("additionalProperties").and_then(|value| match value {
                Value::Bool(any) => Some(Additional::Any(*any)),
                other => Self::read(other).map(|it| Additional::Schema(Box::new(it))),
            }),
            items: present("items").and_then(|value| match value {
                Value::Array(_) => Some(Items::Schemas(schemas(Some(value)))),
                other => Self::read(other).map(|it| Items::Schema(Box::new(it))),
            }),
            all_of: schemas(map.get("allOf")),
            any_of: schemas(map.get("anyOf")),
            one_of: schemas(map.get("oneOf")),
            not: map.get("not").and_then(Self::read).map(Box::new),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource").unwrap_or(false),
            int_or_string: flag("x-kubernetes-int-or-string").unwrap_or(false),
            list_type: optional("x-kubernetes-list-type"),
            list_map_keys: texts(map.get("x-kubernetes-list-map-keys")),
            map_type: optional("x-kubernetes-map-type"),
            rules: map
                .get("x-kubernetes-validations")
                .and_then(Value::as_array)
                .map(|rules| rules.iter().filter_map(Value::as_object).map(Rule::of).collect())
                .unwrap_or_default(),
            unsupported: Unsupported {
                id: !text("id").is_empty(),
                schema: !text("$schema").is_empty(),
                reference: optional("$ref"),
                additional_items: present("additionalItems").is_some(),
                pattern_properties: map
                    .get("patternProperties")
                    .and_then(Value::as_object)
                    .is_some_and(|map| !map.is_empty()),
                dependencies: map.get("dependencies").and_then(Value::as_object).map(Map::len),
                definitions: schemas_by_name(map.get("definitions")),
            },
        }
    }

    /// The schema of the elements of a list.
    pub(crate) fn item(&self) -> Option<&Self> {
        match &self.items {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of values whose keys are not named.
    pub(crate) fn additional_schema(&self) -> Option<&Self> {
        match &self.additional {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of the value of a key.
    pub(crate) fn field(&self, key: &str) -> Option<&Self> {
        self.properties.get(key).or_else(|| self.additional_schema())
    }

    pub(crate) fn preserves_unknown(&self) -> bool {
        self.preserve_unknown == Some(true)
    }

    /// All schemas of which this one is made, with itself, until one is found.
    pub(crate) fn any(&self, found: &mut dyn FnMut(&Self) -> bool) -> bool {
        found(self)
            || self.items_all().any(|it| it.any(found))
            || [&self.all_of, &self.any_of, &self.one_of]
                .into_iter()
                .flatten()
                .chain(self.not.as_deref())
                .chain(self.properties.values())
                .chain(self.additional_schema())
                .chain(self.unsupported.definitions.values())
                .any(|it| it.any(found))
    }

    fn items_all(&self) -> impl Iterator<Item = &Self> {
        let (one, several) = match &self.items {
            Some(Items::Schema(schema)) => (Some(schema.as_ref()), &[][..]),
            Some(Items::Schemas(schemas)) => (None, schemas.as_slice()),
            None => (None, &[][..]),
        };
        one.into_iter().chain(several)
    }

    /// What the root of a resource has in any case: kind, version and the names in its metadata.
    pub(crate) fn with_type_and_metadata(&self) -> Self {
        let text = || Self { kind: "string".to_owned(), ..Self::default() };
        let is =
            |name: &str, kind: &str| self.properties.get(name).is_some_and(|it| it.kind == kind);
        let names = ["name", "generateName"];
        let has_names = self.properties.get("metadata").is_some_and(|metadata| {
            names
                .iter()
                .all(|it| metadata.properties.get(*it).is_some_and(|it| it.kind == "string"))
        });
        let mut result = self.clone();
        if is("kind", "string")
            && is("apiVersion", "string")
            && is("metadata", "object")
            && has_names
        {
            return result;
        }
        let properties = names.into_iter().map(|name| (name.to_owned(), text())).collect();
        let metadata = Self { kind: "object".to_owned(), properties, ..Self::default() };
        result.properties.insert("kind".to_owned(), text());
        result.properties.insert("apiVersion".to_owned(), text());
        result.properties.insert("metadata".to_owned(), metadata);
        result
    }
}

impl Rule {
    fn of(map: &Map<String, Value>) -> Self {
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: map.get("reason").and_then(Value::as_str).map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: map.get("optionalOldSelf").and_then(Value::as_bool),
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn schemas(value: Option<&Value>) -> Vec<Schema> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Schema::read).collect()
}

fn schemas_by_name(value: Option<&Value>) -> BTreeMap<String, Schema> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), Schema::read(value)?))).collect()
}
