//! Schemas of built-in kinds, made from the facts of their types.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use flumen_schema::api::{Api, Field, Form, Presence, Topology, TypeId};
use serde_json::Value;

use super::{List, ListKey, ListMerge, Map, Node, NodeId, Scalar, Schema, SchemaBuilder};

/// One place a type, filled when it is first asked for.
static SCHEMAS: LazyLock<Vec<OnceLock<Schema>>> =
    LazyLock::new(|| Api::get().types().iter().map(|_| OnceLock::new()).collect());

const OBJECT_META: &str = "apimachinery.pkg.apis.meta.v1.ObjectMeta";

impl Schema {
    /// The schema of a built-in kind, given the type of its objects.
    pub fn of_builtin(object: TypeId) -> &'static Self {
        SCHEMAS[object.index()].get_or_init(|| {
            let mut builder = SchemaBuilder::new();
            let mut types = Types { builder: &mut builder, known: HashMap::new() };
            let root = types.object(object);
            builder.build(root)
        })
    }
}

impl SchemaBuilder {
    /// The metadata of the object itself, without its managed fields.
    pub fn object_meta(&mut self) -> NodeId {
        let id = self.embedded_meta();
        let mut node = self.nodes[id.0 as usize].clone();
        if let Some(map) = &mut node.map {
            for (name, of) in &mut map.fields {
                if **name == *"managedFields" {
                    *of = Self::MANAGED;
                }
            }
        }
        self.add(node)
    }

    /// The metadata of an object within another.
    pub fn embedded_meta(&mut self) -> NodeId {
        match Api::get().type_named(OBJECT_META) {
            Some(of) => {
                Types { builder: self, known: HashMap::new() }.of_struct(of, &Topology::Natural)
            }
            None => Self::DEDUCED,
        }
    }
}

struct Types<'a> {
    builder: &'a mut SchemaBuilder,
    /// Structs that have a node, also while it is being made; apart those that a field makes atomic or
    /// granular.
    known: HashMap<(TypeId, bool), NodeId>,
}

impl Types<'_> {
    /// A kind: a struct whose metadata is that of an object.
    fn object(&mut self, of: TypeId) -> NodeId {
        let id = self.of_struct(of, &Topology::Natural);
        let mut node = self.builder.nodes[id.0 as usize].clone();
        let own_meta = Api::get().type_of(of).field("metadata").is_some_and(
            |field| matches!(field.form, Form::Struct(of) if Api::get().type_of(of).name == OBJECT_META),
        );
        if own_meta {
            let meta = self.builder.object_meta();
            let map = node.map.get_or_insert_with(|| Map::new(Vec::new(), None));
            for (name, of) in &mut map.fields {
                if **name == *"metadata" {
                    *of = meta;
                }
            }
        }
        self.builder.add(node)
    }

    fn of_struct(&mut self, of: TypeId, topology: &Topology) -> NodeId {
        let facts = Api::get().type_of(of);
        let atomic = match topology {
            Topology::Atomic => true,
            Topology::Granular => false,
            _ => facts.atomic,
        };
        if let Some(id) = self.known.get(&(of, atomic)) {
            return *id;
        }
        let id = self.builder.reserve();
        self.known.insert((of, atomic), id);
        let mut fields = Vec::with_capacity(facts.fields.len());
        for field in &facts.fields {
            fields.push((Box::from(field.name), self.of_form(&field.form, &field.topology)));
        }
        // A struct without fields is one that nobody has described.
        let other = fields.is_empty().then_some(SchemaBuilder::DEDUCED);
        let map = Map::new(fields, other).atomic(atomic);
        self.builder.set(id, Node::map(map));
        id
    }

    fn of_form(&mut self, form: &Form, topology: &Topology) -> NodeId {
        let atomic = *topology == Topology::Atomic;
        match form {
            Form::String(_) | Form::Bytes | Form::Duration => self.scalar(Scalar::String),
            Form::Bool => self.scalar(Scalar::Boolean),
            Form::Int32(_) | Form::Int64(_) | Form::Float64 | Form::Uint8 => {
                self.scalar(Scalar::Numeric)
            }
            Form::Time | Form::MicroTime | Form::Quantity => self.scalar(Scalar::Untyped),
            Form::Raw => SchemaBuilder::UNTYPED,
            Form::IntOrString
            | Form::Json
            | Form::SchemaOrBool
            | Form::SchemaOrArray
            | Form::SchemaOrStrings => SchemaBuilder::DEDUCED,
            Form::Fields => {
                let map = Map::new(Vec::new(), Some(SchemaBuilder::DEDUCED));
                self.builder.add(Node::map(map))
            }
            Form::Struct(of) => self.of_struct(*of, topology),
            Form::List(element) => {
                let merge = match topology {
                    Topology::Natural | Topology::Granular | Topology::Atomic => ListMerge::Atomic,
                    Topology::Set => ListMerge::Set,
                    Topology::Map(names) => ListMerge::Map(keys(names, element)),
                };
                let element = self.of_form(element, &Topology::Natural);
                self.builder.add(Node { list: Some(List { element, merge }), ..Node::default() })
            }
            Form::Map(element) => {
                let element = self.of_form(element, &Topology::Natural);
                self.builder.add(Node::map(Map::new(Vec::new(), Some(element)).atomic(atomic)))
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> NodeId {
        self.builder.add(Node::scalar(scalar))
    }
}

fn keys(names: &[&'static str], element: &Form) -> Vec<ListKey> {
    let item = match element {
        Form::Struct(of) => Some(Api::get().type_of(*of)),
        _ => None,
    };
    let default = |name| {
        let item = item?;
        let field = item.field(name)?;
        let zero =
            field.presence == Presence::Always || ZERO_BY_DEFAULT.contains(&(item.name, name));
        default_of(field, zero)
    };
    names.iter().map(|name| ListKey { name: Box::from(*name), default: default(name) }).collect()
}

/// Keys whose default is their zero value although they are not printed then; the facts leave zero
/// values out.
const ZERO_BY_DEFAULT: [(&str, &str); 1] = [("api.core.v1.LocalObjectReference", "name")];

/// The default of a key. Fields that are always printed have their zero value.
fn default_of(field: &Field, zero: bool) -> Option<Value> {
    match (field.default, &field.form) {
        (Some(text), _) => serde_json::from_str(text).ok(),
        (None, Form::String(_)) if zero => Some(Value::from("")),
        (None, Form::Int32(_) | Form::Int64(_)) if zero => Some(Value::from(0)),
        (None, Form::Bool) if zero => Some(Value::from(false)),
        _ => None,
    }
}
