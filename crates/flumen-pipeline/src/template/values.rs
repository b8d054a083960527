//! What templates can refer to.

use std::fmt;

use flumen_expr::nearest;
use flumen_yaml::{Entry, Map, Node, Scalar, Value};

/// The values of one install, below the root `.install`:
///
/// ```text
/// .install.id
/// .install.inputs.…
/// .install.components.NAME.outputs.…
/// ```
///
/// Files made for Nuon say `.nuon.install.…`, `.nuon.inputs.inputs.…` and `.nuon.components.…`
/// for the same.
#[derive(Clone)]
pub struct Values {
    id: Node,
    inputs: Node,
    components: Map,
}

/// What a path leads to.
pub(super) enum Found<'a> {
    Scalar(&'a Scalar),
    /// A table: something further has to be named.
    Table,
    Nothing,
}

impl Values {
    /// `inputs` is a mapping of scalars and further mappings.
    pub fn new(id: &str, inputs: Node) -> Self {
        Self { id: Node::string(id), inputs, components: Map::new() }
    }

    /// Lets templates refer to what a component gives out.
    pub fn set_outputs(&mut self, component: &str, outputs: Node) {
        let outputs =
            Node::new(outputs.pos, Value::Map(Map::from(vec![Entry::new("outputs", outputs)])));
        self.components.set(component, outputs);
    }

    pub(super) fn find(&self, path: &[&str]) -> Found<'_> {
        let path = canonical(path);
        let (root, rest) = match path.as_slice() {
            ["install", "id", rest @ ..] => (&self.id, rest),
            ["install", "inputs", rest @ ..] => (&self.inputs, rest),
            ["install", "components", name, rest @ ..] => match self.components.get(name) {
                Some(component) => (component, rest),
                None => return Found::Nothing,
            },
            ["install"] | ["install", "components"] => return Found::Table,
            _ => return Found::Nothing,
        };
        match root.at(rest).map(|node| &node.value) {
            Some(Value::Scalar(scalar)) => Found::Scalar(scalar),
            Some(Value::Map(_) | Value::Seq(_)) => Found::Table,
            None => Found::Nothing,
        }
    }

    /// The known path that is spelled most like this one.
    pub(super) fn nearest(&self, path: &[&str]) -> Option<String> {
        let wanted = format!(".{}", canonical(path).join("."));
        let known = self.paths();
        nearest(&wanted, known.iter().map(String::as_str)).map(str::to_owned)
    }

    /// All paths that lead to a value.
    fn paths(&self) -> Vec<String> {
        let mut paths = vec![".install.id".to_owned()];
        add_paths(".install.inputs", &self.inputs, &mut paths);
        for component in &self.components {
            let path = format!(".install.components.{}", component.key);
            add_paths(&path, &component.value, &mut paths);
        }
        paths
    }
}

/// Inputs may be secret; their names are not.
impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Values").field(&self.paths()).finish()
    }
}

/// The path below `.install` that a path below `.nuon` stands for.
fn canonical<'a>(path: &[&'a str]) -> Vec<&'a str> {
    match path {
        ["nuon", "inputs", "inputs", rest @ ..] => [&["install", "inputs"], rest].concat(),
        ["nuon", "install", rest @ ..] | ["nuon", rest @ ..] => [&["install"], rest].concat(),
        _ => path.to_vec(),
    }
}

fn add_paths(path: &str, node: &Node, paths: &mut Vec<String>) {
    match &node.value {
        Value::Scalar(_) => paths.push(path.to_owned()),
        Value::Map(map) => {
            for entry in map {
                add_paths(&format!("{path}.{}", entry.key), &entry.value, paths);
            }
        }
        Value::Seq(_) => {}
    }
}
