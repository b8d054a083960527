//! Variables in what was built.
//!
//! An object is printed, its text is changed, and the result is read again, by the rules of YAML 1.1.
//! So a value decides by its looks what it becomes: `8080` is a number even where the manifest has
//! quotes, because the printer has left them out.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashSet},
};

use flumen_api::{PostBuild, SubstituteKind, SubstituteReference, SubstituteStrategy};
use flumen_expr::{Unset, substitute};
use flumen_object::{Object, ObjectId};
use flumen_yaml::{
    Budget, Canonical, Node, Scalar, Style, Tag, Text, Unprintable, Value, as_yaml_1_1, canonical,
    read_lenient,
};

use super::{BuildError, DISABLED, Lookup, Request, Stage, text_at};

/// The label or annotation of objects that are left as they are.
const MARK: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// How the reference writes down what a name is.
const NAME_PATTERN: &str = "^[_[:alpha:]][_[:alpha:][:digit:]]*$";

/// Numbers beyond lose digits on the way through JSON.
const EXACT: i128 = 1 << 53;

/// What is substituted. Variables are looked up when the first object needs them: a build without
/// objects does not miss any.
pub(super) struct Substitution<'a> {
    post_build: &'a PostBuild,
    request: &'a Request<'a>,
    variables: OnceCell<Result<BTreeMap<String, String>, String>>,
}

impl<'a> Substitution<'a> {
    pub(super) fn of(request: &'a Request<'a>) -> Option<Self> {
        let post_build = request.spec.post_build.as_ref()?;
        Some(Self { post_build, request, variables: OnceCell::new() })
    }

    /// The object after substitution, if it is another one; `text` is how it is printed.
    pub(super) fn apply(&self, object: &Node, text: &[u8]) -> Result<Option<Node>, BuildError> {
        if is_disabled(object) {
            return Ok(None);
        }
        self.substituted(object, text).map_err(|reason| failed(object, &reason))
    }

    fn substituted(&self, object: &Node, text: &[u8]) -> Result<Option<Node>, String> {
        let variables =
            self.variables.get_or_init(|| self.collect()).as_ref().map_err(String::clone)?;
        let strategy = self.post_build.substitute_strategy;
        if variables.is_empty() && strategy == SubstituteStrategy::WithVariables {
            return Ok(None);
        }
        if let Some(name) = variables.keys().find(|name| !is_name(name)) {
            return Err(format!(
                "envsubst error: '{name}' var name is invalid, must match '{NAME_PATTERN}'"
            ));
        }
        let text = std::str::from_utf8(text).unwrap_or_default();
        if !text.contains('$') && !has_long_number(text) {
            return Ok(None);
        }
        let unset = if self.request.strict { Unset::Refused } else { Unset::Empty };
        let text = substitute(text, variables, unset)
            .map_err(|error| format!("envsubst error: variable substitution failed: {error}"))?;
        self.read_again(object, &Text::from(text)).map(Some)
    }

    /// All variables; the later reference wins, those of the specification win over all.
    fn collect(&self) -> Result<BTreeMap<String, String>, String> {
        let mut variables = BTreeMap::new();
        for reference in &self.post_build.substitute_from {
            match self.request.variables.of(reference) {
                Lookup::Found(values) => add(&mut variables, values),
                Lookup::Missing if reference.optional => {}
                Lookup::Missing => {
                    let name = &reference.name;
                    return Err(unavailable(
                        reference,
                        &format!("{} {name:?} not found", resource_of(reference.kind)),
                    ));
                }
                Lookup::Failed(reason) => return Err(unavailable(reference, reason)),
            }
        }
        add(&mut variables, &self.post_build.substitute);
        Ok(variables)
    }

    fn read_again(&self, object: &Node, text: &Text) -> Result<Node, String> {
        let node = read_lenient(text, 1, &Budget::default()).map_err(|error| {
            let message = if error.quotes_text() && self.may_be_secret(object) {
                format!("yaml: line {}: malformed", error.pos().line)
            } else {
                error.to_v2_string()
            };
            format!("envsubst error: YAMLToJSON: {message}")
        })?;
        let mut node = node.unwrap_or_else(Node::null);
        if !node.is_map() {
            let found = if node.is_seq() { "array" } else { "string" };
            return Err(format!(
                "UnmarshalJSON: json: cannot unmarshal {found} into Go value of type \
                 map[string]interface {{}}"
            ));
        }
        as_yaml_1_1(&mut node);
        pass_json(&mut node).map_err(|value| {
            format!("envsubst error: YAMLToJSON: json: unsupported value: {value}")
        })?;
        Ok(node)
    }

    fn may_be_secret(&self, object: &Node) -> bool {
        let mut references = self.post_build.substitute_from.iter();
        references.any(|reference| reference.kind == SubstituteKind::Secret)
            || text_at(object, &["kind"]) == Some("Secret")
    }
}

/// The error of an object that cannot be substituted.
pub(super) fn failed(object: &Node, reason: &str) -> BuildError {
    let id = ObjectId::of(object);
    let message = format!("post build failed for '{}/{}': {reason}", id.gvk, id.name);
    BuildError::new(Stage::Substitute, message)
}

fn is_disabled(object: &Node) -> bool {
    let says = |place: &str| text_at(object, &["metadata", place, MARK]) == Some(DISABLED);
    says("labels") || says("annotations")
}

fn add(variables: &mut BTreeMap<String, String>, values: &BTreeMap<String, String>) {
    let on_one_line = |value: &String| value.replace('\n', "");
    variables.extend(values.iter().map(|(name, value)| (name.clone(), on_one_line(value))));
}

fn unavailable(reference: &SubstituteReference, reason: &str) -> String {
    let kind = match reference.kind {
        SubstituteKind::ConfigMap => "ConfigMap",
        SubstituteKind::Secret => "Secret",
    };
    format!("substitute from '{kind}/{}' error: {reason}", reference.name)
}

fn resource_of(kind: SubstituteKind) -> &'static str {
    match kind {
        SubstituteKind::ConfigMap => "configmaps",
        SubstituteKind::Secret => "secrets",
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c == '_' || c.is_ascii_alphabetic();
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// Whether there may be a number that the way through JSON changes.
fn has_long_number(text: &str) -> bool {
    const DIGITS: usize = 16;
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= DIGITS)
}

/// What the way through JSON does to a tree: of equal keys the last one counts, and large numbers lose
/// digits. What JSON has no number for is the error.
fn pass_json(node: &mut Node) -> Result<(), &'static str> {
    match &mut node.value {
        Value::Scalar(scalar) => match canonical(scalar) {
            Err(Unprintable::NotFinite(value)) => Err(value),
            Ok(Canonical::Int(value)) if !(-EXACT..=EXACT).contains(&value) => {
                let text = Text::from(value.to_string());
                *scalar = Scalar { text, tag: Tag::Float, style: Style::Plain };
                Ok(())
            }
            _ => Ok(()),
        },
        Value::Seq(items) => items.iter_mut().try_for_each(pass_json),
        Value::Map(map) => {
            let entries = map.entries_mut();
            let mut seen = HashSet::with_capacity(entries.len());
            entries.reverse();
            entries.retain(|entry| seen.insert(entry.key.clone()));
            entries.reverse();
            entries.iter_mut().try_for_each(|entry| pass_json(&mut entry.value))
        }
    }
}

/// Substitution may give two objects one name.
pub(super) fn refuse_equal_ids(objects: &[Object]) -> Result<(), BuildError> {
    let mut seen = HashSet::with_capacity(objects.len());
    let again = objects.iter().map(Object::id).find(|id| !seen.insert(id.clone()));
    again.map_or(Ok(()), |id| {
        Err(BuildError::new(Stage::Substitute, "in Replace: id matched 2 resources")
            .with_hint(format!("after substitution there is more than one {id}")))
    })
}
