//! Walking the path of a field specification through a tree.
//!
//! A path names mapping keys. Sequences on the way are entered without being named: every element is
//! walked with the rest of the path. Where the specification says so, missing fields are made, as
//! mappings on the way and as what the caller wants at the end. A name that ends in `[]` asks for
//! a sequence, which is never made, except that a null in its place becomes an empty one.
//!
//! Specifications are parsed once for each transformation and chosen by kind before any walk, so
//! that a resource which none of them selects costs a few comparisons.

use std::sync::Arc;

use flumen_object::Gvk;
use flumen_schema::Schema;
use flumen_yaml::{Entry, Node, Tag, Text, Value};

use crate::{
    config::FieldSpec,
    error::{Error, Result},
    resource::Resource,
};

/// What to make at the end of a path that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    Never,
    Mapping,
    /// A scalar; a null that stands there gets this tag.
    Scalar(Tag),
}

/// Field specifications, ready to be walked.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    fields: Vec<Field<'a>>,
}

/// One field specification, ready to be walked.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) spec: &'a FieldSpec,
    path: FieldPath,
}

/// A parsed path. Copies share it.
#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    steps: Arc<[Step]>,
}

#[derive(Debug)]
struct Step {
    name: Text,
    is_sequence: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(specs: &'a [FieldSpec]) -> Self {
        Self { fields: specs.iter().map(Field::new).collect() }
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Field<'a>> {
        self.fields.iter()
    }

    /// Whether a change of these fields can change the id of a resource.
    pub(crate) fn reach_ids(&self) -> bool {
        self.fields.iter().any(|field| field.path.reaches_id())
    }

    /// Calls `set` on every field that the specifications reach, one specification after the other.
    pub(crate) fn visit(
        &self,
        resource: &mut Resource,
        create: Create,
        schema: &Schema,
        mut set: impl FnMut(&mut Node, Place<'_>) -> Result<()>,
    ) -> Result<()> {
        self.fields.iter().try_for_each(|field| field.visit(resource, create, schema, &mut set))
    }
}

/// Where a walk has arrived: the path, and the index in each sequence on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) path: &'a FieldPath,
    pub(crate) indices: &'a [u32],
}

impl<'a> Field<'a> {
    pub(crate) fn new(spec: &'a FieldSpec) -> Self {
        Self { spec, path: FieldPath::parse(&spec.path) }
    }

    pub(crate) fn selects(&self, gvk: &Gvk) -> bool {
        self.spec.selects(gvk)
    }

    /// Calls `set` on every node that the path reaches, if the resource is of the right kind.
    pub(crate) fn visit(
        &self,
        resource: &mut Resource,
        create: Create,
        schema: &Schema,
        mut set: impl FnMut(&mut Node, Place<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.selects(&resource.id(schema).gvk) {
            return Ok(());
        }
        let create = if self.spec.create { create } else { Create::Never };
        let node = if self.path.reaches_id() { resource.node_mut() } else { resource.body_mut() };
        self.path.visit(node, create, &mut set).map_err(|error| {
            let (path, id) = (&self.spec.path, resource.id(schema));
            error.within(format!("considering field '{path}' of object {id}"))
        })
    }
}

impl FieldPath {
    /// Splits at slashes; a backslash before a slash keeps it. One leading slash is ignored.
    pub(crate) fn parse(path: &str) -> Self {
        let mut steps: Vec<Step> = Vec::with_capacity(4);
        let mut name = String::new();
        let mut parts = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
        while let Some(part) = parts.next() {
            match part.strip_suffix('\\') {
                Some(start) if parts.peek().is_some() => {
                    name.push_str(start);
                    name.push('/');
                    continue;
                }
                _ => name.push_str(part),
            }
            let (bare, is_sequence) = match name.strip_suffix("[]") {
                Some(bare) => (bare, true),
                None => (name.as_str(), false),
            };
            steps.push(Step { name: Text::from(bare.trim()), is_sequence });
            name.clear();
        }
        Self { steps: steps.into() }
    }

    /// The names, each with whether it is marked as a sequence.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&Text, bool)> {
        self.steps.iter().map(|step| (&step.name, step.is_sequence))
    }

    /// Whether this is the path through mappings of these names.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        self.steps.iter().map(|step| step.name.as_str()).eq(names.iter().copied())
    }

    /// Whether a field at or below this path is part of an id.
    fn reaches_id(&self) -> bool {
        match &*self.steps {
            [] => true,
            [first] => matches!(first.name.as_str(), "metadata" | "kind" | "apiVersion"),
            [first, second, ..] => {
                first.name == *"metadata" && matches!(second.name.as_str(), "name" | "namespace")
            }
        }
    }

    /// Calls `set` on every node that the path reaches from `node`.
    pub(crate) fn visit(
        &self,
        node: &mut Node,
        create: Create,
        set: &mut impl FnMut(&mut Node, Place<'_>) -> Result<()>,
    ) -> Result<()> {
        Walk { path: self, create, indices: Vec::new(), set }.walk(node, &self.steps)
    }

    /// The node at a place that a walk has reported earlier, if it is still there.
    pub(crate) fn find<'n>(&self, node: &'n mut Node, indices: &[u32]) -> Option<&'n mut Node> {
        let mut indices = indices.iter();
        let mut node = node;
        for step in &*self.steps {
            while node.is_seq() {
                let index = usize::try_from(*indices.next()?).ok()?;
                node = node.as_seq_mut()?.get_mut(index)?;
            }
            node = node.get_mut(&step.name)?;
        }
        Some(node)
    }
}

struct Walk<'a, F> {
    path: &'a FieldPath,
    create: Create,
    indices: Vec<u32>,
    set: &'a mut F,
}

impl<F: FnMut(&mut Node, Place<'_>) -> Result<()>> Walk<'_, F> {
    fn walk(&mut self, node: &mut Node, steps: &[Step]) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else {
            return (self.set)(node, Place { path: self.path, indices: &self.indices });
        };
        match &mut node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null => Ok(()),
            Value::Scalar(_) => Err(Error::new("expected sequence or mapping node")),
            Value::Seq(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.indices.push(u32::try_from(index).unwrap_or(u32::MAX));
                    self.walk(item, steps).map_err(|error| {
                        let names: Vec<&str> = steps.iter().map(|step| &*step.name).collect();
                        error.within(format!("visit traversal on path: [{}]", names.join(" ")))
                    })?;
                    self.indices.pop();
                }
                Ok(())
            }
            Value::Map(map) => {
                check_name(&step.name)?;
                let found = map.iter().position(|entry| entry.key == step.name);
                let made = match self.create {
                    Create::Never => None,
                    _ if step.is_sequence => None,
                    _ if !rest.is_empty() => Some(Create::Mapping),
                    create => Some(create),
                };
                let index = match (found, made) {
                    (Some(index), _) => index,
                    (None, None) => return Ok(()),
                    (None, Some(made)) => {
                        let value = match made {
                            Create::Scalar(_) => Node::string(""),
                            _ => Node::map(),
                        };
                        map.push(Entry::new(step.name.clone(), value));
                        map.len() - 1
                    }
                };
                let Some(entry) = map.entries_mut().get_mut(index) else { return Ok(()) };
                let field = &mut entry.value;
                if let Value::Scalar(scalar) = &mut field.value
                    && scalar.tag == Tag::Null
                {
                    match made {
                        // The text stays: a prefix is put before it.
                        Some(Create::Scalar(tag)) => scalar.tag = tag,
                        Some(_) => field.value = Node::map().value,
                        None if step.is_sequence => field.value = Value::Seq(Vec::new()),
                        None => {}
                    }
                }
                self.walk(field, rest)
            }
        }
    }
}

/// Names that kustomize's lookup takes for positions in a sequence, which a mapping does not have.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_position = matches!(name, "-" | "*")
        || name.parse::<i64>().is_ok()
        || (name.starts_with('[') && name.ends_with(']'));
    if name.is_empty() {
        Err(Error::new("cannot set or create an empty field name"))
    } else if is_position {
        Err(Error::new(format!(
            "fieldName: {name}: wrong node kind: expected SequenceNode but got MappingNode"
        )))
    } else {
        Ok(())
    }
}

/// The complaint about a node that is not of the expected kind. Says nothing of its content, which
/// may be a secret.
pub(crate) fn wrong_kind(expected: &str, node: &Node) -> Error {
    let actual = match &node.value {
        Value::Scalar(_) => "ScalarNode",
        Value::Seq(_) => "SequenceNode",
        Value::Map(_) => "MappingNode",
    };
    Error::new(format!("wrong node kind: expected {expected} but got {actual}"))
}
