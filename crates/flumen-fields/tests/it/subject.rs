//! An object that is written to.

use flumen_fields::{
    ApplyError, Filter, List, ListKey, ListMerge, Map, Node, NodeId, Scalar, Schema, SchemaBuilder,
    Versions, Write, apply, keep_times, update,
};
use flumen_schema::api::Api;
use serde_json::{Value, json};

/// A kind in one version.
#[derive(Debug)]
pub(crate) enum Kind {
    BuiltIn { api_version: &'static str, kind: &'static str, schema: &'static Schema },
    Custom { schema: Schema },
}

impl Kind {
    fn built_in(group: &str, version: &str, kind: &'static str, api_version: &'static str) -> Self {
        let facts = Api::get().kind(group, version, kind).expect("the kind is known");
        Self::BuiltIn { api_version, kind, schema: Schema::of_builtin(facts.object) }
    }

    fn api_version(&self) -> &'static str {
        match self {
            Self::BuiltIn { api_version, .. } => api_version,
            Self::Custom { .. } => "example.com/v1",
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::BuiltIn { kind, .. } => kind,
            Self::Custom { .. } => "Widget",
        }
    }
}

impl Versions for Kind {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        let schema = match self {
            Self::BuiltIn { schema, .. } => schema,
            Self::Custom { schema } => schema,
        };
        (api_version == self.api_version()).then_some(schema)
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("there is no {api_version}"))
    }

    fn empty(&self) -> Value {
        json!({"apiVersion": self.api_version(), "kind": self.kind(), "metadata": {}})
    }
}

/// The object with all that was written to it. Every write is a second later.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) kind: Kind,
    pub(crate) live: Option<Value>,
    seconds: u32,
}

impl Subject {
    fn new(kind: Kind) -> Self {
        Self { kind, live: None, seconds: 0 }
    }

    pub(crate) fn config_map() -> Self {
        Self::new(Kind::built_in("", "v1", "ConfigMap", "v1"))
    }

    pub(crate) fn deployment() -> Self {
        Self::new(Kind::built_in("apps", "v1", "Deployment", "apps/v1"))
    }

    pub(crate) fn service() -> Self {
        Self::new(Kind::built_in("", "v1", "Service", "v1"))
    }

    pub(crate) fn widget() -> Self {
        Self::new(Kind::Custom { schema: widget_schema(ListMerge::Set) })
    }

    /// What is sent: a name and these fields.
    pub(crate) fn sent(&self, fields: Value) -> Value {
        let mut object = json!({"apiVersion": self.kind.api_version(), "kind": self.kind.kind(),
            "metadata": {"name": "x"}});
        merge(&mut object, fields);
        object
    }

    pub(crate) fn try_apply(
        &mut self,
        manager: &str,
        fields: Value,
        force: bool,
    ) -> Result<(), ApplyError> {
        let config = self.sent(fields);
        self.write("", |write, live| apply(write, live, &config, manager, force))
    }

    #[track_caller]
    pub(crate) fn apply(&mut self, manager: &str, fields: Value) {
        self.try_apply(manager, fields, false).expect("there is no conflict");
    }

    #[track_caller]
    pub(crate) fn force(&mut self, manager: &str, fields: Value) {
        self.try_apply(manager, fields, true).expect("force helps");
    }

    /// The message of an apply that is refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, manager: &str, fields: Value) -> String {
        self.try_apply(manager, fields, false).expect_err("it is refused").to_string()
    }

    /// A write of the whole object. It has these fields and the managed fields that are there.
    pub(crate) fn update(&mut self, manager: &str, fields: Value) {
        self.update_at("", manager, fields);
    }

    pub(crate) fn update_at(&mut self, subresource: &str, manager: &str, fields: Value) {
        let mut new = self.sent(fields);
        let written = self.write(subresource, |write, live| {
            update(write, live, &mut new, manager);
            Ok::<_, String>(new)
        });
        written.expect("an update does not fail");
    }

    fn write<E>(
        &mut self,
        subresource: &str,
        write: impl FnOnce(&Write<'_>, Option<&Value>) -> Result<Value, E>,
    ) -> Result<(), E> {
        self.seconds += 1;
        let now = format!("2026-01-01T00:00:{:02}Z", self.seconds);
        let of = Write {
            versions: &self.kind,
            api_version: self.kind.api_version(),
            kind: self.kind.kind(),
            subresource,
            filter: Filter::NONE,
            now: &now,
        };
        let mut new = write(&of, self.live.as_ref())?;
        if let Some(live) = &self.live {
            keep_times(live, &mut new);
        }
        self.live = Some(new);
        Ok(())
    }

    /// The object without its bookkeeping.
    pub(crate) fn fields(&self) -> Value {
        let mut object = self.live.clone().expect("the object was written");
        for name in ["apiVersion", "kind"] {
            object.as_object_mut().expect("an object").remove(name);
        }
        let metadata = object["metadata"].as_object_mut().expect("there is metadata");
        metadata.remove("managedFields");
        metadata.remove("name");
        if metadata.is_empty() {
            object.as_object_mut().expect("an object").remove("metadata");
        }
        object
    }

    pub(crate) fn managed(&self) -> &[Value] {
        let live = self.live.as_ref().expect("the object was written");
        live["metadata"]["managedFields"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Manager, operation and second of each entry, in their order: `alpha Apply 1`.
    pub(crate) fn entries(&self) -> Vec<String> {
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let entry = |entry: &Value| {
            let time = text(entry, "time");
            let second = time.get(17..19).map_or("-".to_owned(), |second| {
                second.parse().map_or_else(|_| time.clone(), |second: u8| second.to_string())
            });
            format!("{} {} {second}", text(entry, "manager"), text(entry, "operation"))
        };
        self.managed().iter().map(entry).collect()
    }

    /// The object as it would be stored, and what those own who apply.
    pub(crate) fn stored(&self) -> (Value, Vec<Value>) {
        let applied = self.managed().iter().filter(|entry| entry["operation"] == "Apply");
        (without_empty(self.fields()), applied.map(|entry| entry["fieldsV1"].clone()).collect())
    }

    /// The fields of a manager, whatever it does.
    #[track_caller]
    pub(crate) fn owned(&self, manager: &str) -> Value {
        let entry = self.managed().iter().find(|entry| entry["manager"] == manager);
        entry.unwrap_or_else(|| panic!("{manager} owns nothing"))["fieldsV1"].clone()
    }
}

fn without_empty(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        for field in fields.values_mut() {
            *field = without_empty(field.take());
        }
        fields.retain(|_, field| !(field.is_null() || *field == json!({}) || *field == json!([])));
    }
    value
}

fn merge(into: &mut Value, fields: Value) {
    match (into, fields) {
        (Value::Object(into), Value::Object(fields)) => {
            for (name, value) in fields {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, fields) => *into = fields,
    }
}

/// A kind with a bit of everything; `tags` are merged as is said.
pub(crate) fn widget_schema(tags: ListMerge) -> Schema {
    let mut builder = SchemaBuilder::new();
    let string = builder.add(Node::scalar(Scalar::String));
    let number = builder.add(Node::scalar(Scalar::Numeric));
    let boolean = builder.add(Node::scalar(Scalar::Boolean));
    let item = structure(&mut builder, &[("name", string), ("value", number)]);
    let port = structure(&mut builder, &[("port", number), ("protocol", string)]);
    let key = |name: &str, default: Option<Value>| ListKey { name: name.into(), default };
    let items = builder.add(Node::list(item, ListMerge::Map(vec![key("name", None)])));
    let keys = vec![key("port", None), key("protocol", Some(json!("TCP")))];
    let ports = builder.add(Node::list(port, ListMerge::Map(keys)));
    let tags = Node { list: Some(List { element: string, merge: tags }), ..Node::default() };
    let tags = builder.add(tags);
    let numbers = builder.add(Node::list(number, ListMerge::Set));
    let labels = builder.add(Node::map(Map::new(Vec::new(), Some(string))));
    let whole = Map::new(vec![("a".into(), string), ("b".into(), string)], None).atomic(true);
    let whole = builder.add(Node::map(whole));
    let spec = structure(
        &mut builder,
        &[
            ("items", items),
            ("ports", ports),
            ("tags", tags),
            ("numbers", numbers),
            ("labels", labels),
            ("whole", whole),
            ("size", number),
            ("on", boolean),
            ("any", SchemaBuilder::DEDUCED),
            ("raw", SchemaBuilder::UNTYPED),
        ],
    );
    let metadata = builder.object_meta();
    let root = [("apiVersion", string), ("kind", string), ("metadata", metadata), ("spec", spec)];
    let root = structure(&mut builder, &root);
    builder.build(root)
}

fn structure(builder: &mut SchemaBuilder, fields: &[(&str, NodeId)]) -> NodeId {
    let fields = fields.iter().map(|(name, node)| ((*name).into(), *node)).collect();
    builder.add(Node::map(Map::new(fields, None)))
}
