//! Reads the text of facts. It is part of the program, so what is wrong with it shows in tests; here
//! it is left out.

use super::{
    Api, ApiKind, Embedded, Field, Form, Message, Patch, Presence, Scope, Subresource, Topology,
    Type, TypeId,
};

pub(super) fn read(text: &'static str) -> Api {
    let names: Vec<&'static str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("type "))
        .filter_map(|rest| rest.split(' ').next())
        .collect();
    let mut reader = Reader { names, api: Api { kinds: vec![], messages: vec![], types: vec![] } };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut details = Vec::new();
        while let Some(detail) = lines.next_if(|line| line.starts_with("  ")) {
            details.push(detail.trim_start());
        }
        reader.block(line, &details);
    }
    reader.api
}

struct Reader {
    /// Sorted, as in the text.
    names: Vec<&'static str>,
    api: Api,
}

impl Reader {
    fn block(&mut self, head: &'static str, details: &[&'static str]) {
        let words: Vec<&'static str> = head.split(' ').collect();
        match words.as_slice() {
            ["kind", version, kind, object, plural, singular, scope, short, categories, verbs] => {
                let (group, version) = group_version(version);
                self.api.kinds.push(ApiKind {
                    group,
                    version,
                    kind,
                    plural,
                    singular,
                    scope: if *scope == "cluster" { Scope::Cluster } else { Scope::Namespaced },
                    short_names: list(short),
                    categories: list(categories),
                    verbs: list(verbs),
                    subresources: details.iter().filter_map(|line| subresource(line)).collect(),
                    object: self.type_id(object),
                });
            }
            ["message", version, kind, object] => {
                let (group, version) = group_version(version);
                let object = self.type_id(object);
                self.api.messages.push(Message { group, version, kind, object });
            }
            ["type", name, rest @ ..] => {
                let (mut fields, mut embedded) = (Vec::new(), Vec::new());
                for line in details {
                    match line.strip_prefix("~ ") {
                        Some(rest) => embedded.extend(self.embedded(rest)),
                        None => fields.extend(self.field(line)),
                    }
                }
                let atomic = rest.contains(&"atomic");
                self.api.types.push(Type::new(name, atomic, fields, embedded));
            }
            _ => {}
        }
    }

    fn type_id(&self, name: &str) -> TypeId {
        TypeId::new(self.names.binary_search(&name).unwrap_or_default())
    }

    fn embedded(&self, line: &'static str) -> Option<Embedded> {
        let mut words = line.split(' ');
        let number = words.next()?.parse().ok()?;
        Some(Embedded { number, of: self.type_id(words.nth(1)?) })
    }

    fn field(&self, line: &'static str) -> Option<Field> {
        // Values may have spaces, and therefore stand at the end.
        let (line, values) = line.split_once(" enum=").unwrap_or((line, "-"));
        let mut words = line.split(' ');
        let mut field = Field {
            name: words.next()?,
            number: words.next()?.parse().ok()?,
            presence: match words.next()? {
                "always" => Presence::Always,
                "given" => Presence::Given,
                "nullable" => Presence::Nullable,
                _ => Presence::Filled,
            },
            form: self.form(words.next()?),
            required: false,
            topology: Topology::Natural,
            patch: Patch::default(),
            values: list(values),
            default: None,
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("required", _) => field.required = true,
                ("list" | "map", "atomic") => field.topology = Topology::Atomic,
                ("map", "granular") => field.topology = Topology::Granular,
                ("list", "set") => field.topology = Topology::Set,
                ("keys", keys) => field.topology = Topology::Map(list(keys)),
                ("patch", strategies) => {
                    field.patch.merge = strategies.contains("merge");
                    field.patch.replace = strategies.contains("replace");
                    field.patch.retain_keys = strategies.contains("retainKeys");
                }
                ("merge", key) => field.patch.key = Some(key),
                ("default", value) => field.default = Some(value),
                _ => {}
            }
        }
        Some(field)
    }

    fn form(&self, text: &'static str) -> Form {
        if let Some(of) = text.strip_prefix("[]") {
            return Form::List(Box::new(self.form(of)));
        }
        if let Some(of) = text.strip_prefix("{}") {
            return Form::Map(Box::new(self.form(of)));
        }
        let (basic, name) = match text.split_once(':') {
            Some((basic, name)) => (basic, Some(name)),
            None => (text, None),
        };
        match basic {
            "string" => Form::String(name),
            "bool" => Form::Bool,
            "int32" => Form::Int32(name),
            "int64" => Form::Int64(name),
            "float64" => Form::Float64,
            "uint8" => Form::Uint8,
            "bytes" => Form::Bytes,
            "time" => Form::Time,
            "microtime" => Form::MicroTime,
            "duration" => Form::Duration,
            "quantity" => Form::Quantity,
            "intorstring" => Form::IntOrString,
            "raw" => Form::Raw,
            "fields" => Form::Fields,
            "json" => Form::Json,
            "schemaorbool" => Form::SchemaOrBool,
            "schemaorarray" => Form::SchemaOrArray,
            "schemaorstrings" => Form::SchemaOrStrings,
            of => Form::Struct(self.type_id(of)),
        }
    }
}

fn subresource(line: &'static str) -> Option<Subresource> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let (group, version) = group_version(words.next()?);
    Some(Subresource { name, group, version, kind: words.next()?, verbs: list(words.next()?) })
}

fn group_version(text: &'static str) -> (&'static str, &'static str) {
    text.split_once('/').unwrap_or(("", text))
}

fn list(text: &'static str) -> Vec<&'static str> {
    text.split(',').filter(|word| *word != "-").collect()
}
