//! Finding the fields that a path means, and making those that are missing.
//!
//! Unlike a lookup, a path can mean several fields here: `*` is every element of a sequence, and the
//! value in `[name=value]` is an expression that may match anywhere in what the field holds.

use flumen_yaml::{Budget, Entry, Node, Pos, Scalar, Style, Tag, Text, Value, resolve};

use crate::{
    error::{Error, Result},
    field_path::{self, Part, Place, items},
    fieldspec::wrong_kind,
    select::Search,
};

/// What to make at the end of a path that does not exist: the kind of the value that goes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Created {
    Scalar,
    Sequence,
    Mapping,
}

impl Created {
    pub(super) fn like(value: &Node) -> Self {
        match value.value {
            Value::Scalar(_) => Self::Scalar,
            Value::Seq(_) => Self::Sequence,
            Value::Map(_) => Self::Mapping,
        }
    }

    /// What stands before a part: a sequence before positions and elements, else a mapping.
    fn before(self, next: Option<&str>) -> Self {
        match next {
            None | Some("") => self,
            Some(part) if field_path::is_element(part) || field_path::index(part).is_some() => {
                Self::Sequence
            }
            Some(_) => Self::Mapping,
        }
    }

    fn node(self) -> Node {
        match self {
            Self::Scalar => Node::string(Text::default()),
            Self::Sequence => Node::seq(Vec::new()),
            Self::Mapping => Node::map(),
        }
    }
}

/// The fields that a path means.
#[derive(Debug, Default)]
pub(super) struct Matches {
    pub(super) places: Vec<Match>,
    /// How many there are besides in nodes that kustomize changes and then forgets: what it reads
    /// from a text behind a wildcard, and what it makes below a null.
    lost: usize,
}

#[derive(Debug)]
pub(super) struct Match {
    pub(super) place: Place,
    /// Whether it was made for this path.
    pub(super) is_new: bool,
}

impl Matches {
    pub(super) fn find(root: &mut Node, path: &[String], create: Option<Created>) -> Result<Self> {
        let mut finder = Finder { create, place: Place::new(), matches: Self::default() };
        finder.find(root, path, false)?;
        Ok(finder.matches)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.places.is_empty() && self.lost == 0
    }
}

struct Finder {
    create: Option<Created>,
    place: Place,
    matches: Matches,
}

impl Finder {
    fn find(&mut self, node: &mut Node, path: &[String], is_new: bool) -> Result<()> {
        let Some((part, rest)) = path.split_first() else {
            self.matches.places.push(Match { place: self.place.clone(), is_new });
            return Ok(());
        };
        match Part::parse(part)? {
            Part::Field(name) => self.field(node, name, rest),
            Part::Index(index) => self.index(node, index, rest),
            Part::Element { field, value } => self.element(node, field, value, rest),
            Part::Every => {
                for index in 0..items(node)?.len() {
                    self.enter(node, index, rest, false)?;
                }
                Ok(())
            }
        }
    }

    /// Goes on in the entry or element at `index`.
    fn enter(
        &mut self,
        node: &mut Node,
        index: usize,
        rest: &[String],
        is_new: bool,
    ) -> Result<()> {
        let Some(next) = field_path::follow_mut(node, &[index]) else { return Ok(()) };
        self.place.push(index);
        self.find(next, rest, is_new)?;
        self.place.pop();
        Ok(())
    }

    fn field(&mut self, node: &mut Node, name: &str, rest: &[String]) -> Result<()> {
        if node.is_null() {
            self.matches.lost += usize::from(self.create.is_some());
            return Ok(());
        }
        if name.is_empty() {
            return Err(wrong_kind("ScalarNode", node));
        }
        let Value::Map(map) = &mut node.value else { return Err(wrong_kind("MappingNode", node)) };
        let found = map.iter().position(|entry| entry.key == *name);
        let (index, is_new) = match (found, self.create) {
            (Some(index), _) => (index, false),
            (None, None) => return Ok(()),
            (None, Some(create)) => {
                let value = create.before(rest.first().map(String::as_str)).node();
                map.push(Entry::new(name, value));
                (map.len() - 1, true)
            }
        };
        let text = map.entries().get(index).and_then(|entry| entry.value.text());
        if let Some(text) = text.filter(|_| !rest.is_empty() && !is_new) {
            let mut embedded = read_embedded(text)?;
            self.matches.lost += {
                let matches = Matches::find(&mut embedded, rest, self.create)?;
                matches.places.len() + matches.lost
            };
            return Ok(());
        }
        self.enter(node, index, rest, is_new)
    }

    fn index(&mut self, node: &mut Node, index: usize, rest: &[String]) -> Result<()> {
        let len = items(node)?.len();
        let mut is_new = false;
        if index == len
            && let Some(create) = self.create
        {
            let Value::Seq(items) = &mut node.value else {
                self.matches.lost += 1;
                return Ok(());
            };
            items.push(create.before(rest.first().map(String::as_str)).node());
            is_new = true;
        } else if index >= len {
            return Err(Error::new(format!(
                "index {index} specified but only {len} elements found"
            )));
        }
        self.enter(node, index, rest, is_new)
    }

    fn element(
        &mut self,
        node: &mut Node,
        field: &str,
        value: &str,
        rest: &[String],
    ) -> Result<()> {
        let found = matching(items(node)?, field, value)?;
        let before = self.matches.places.len() + self.matches.lost;
        for index in found {
            self.enter_element(node, index, field, rest, false)?;
        }
        let is_found = self.matches.places.len() + self.matches.lost > before;
        if is_found || self.create.is_none() {
            return Ok(());
        }
        let Value::Seq(items) = &mut node.value else {
            self.matches.lost += 1;
            return Ok(());
        };
        let scalar = Node::plain(value);
        items.push(if field.is_empty() {
            scalar
        } else {
            let entries = vec![Entry::new(field, scalar)];
            Node::new(Pos::default(), Value::Map(entries.into()))
        });
        let last = items.len() - 1;
        // An expression need not match itself.
        if matching(&items[last..], field, value)?.is_empty() {
            return Ok(());
        }
        self.enter_element(node, last, field, rest, true)
    }

    fn enter_element(
        &mut self,
        node: &mut Node,
        index: usize,
        field: &str,
        rest: &[String],
        is_new: bool,
    ) -> Result<()> {
        // Where the element itself has the value, the rest of the path is ignored.
        let rest = if field.is_empty() { &[] } else { rest };
        self.enter(node, index, rest, is_new)
    }
}

/// The indices of the elements whose field, or who themselves, match an expression.
fn matching(items: &[Node], field: &str, value: &str) -> Result<Vec<usize>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let search = Search::new(value)?;
    let is_match = |item: &Node| {
        let held = if field.is_empty() { Some(item) } else { item.get(field) };
        held.is_some_and(|held| search.matches(&spelled(held)))
    };
    Ok((0..items.len()).filter(|&index| items.get(index).is_some_and(is_match)).collect())
}

/// A node as it is written, quotes included, because that is what expressions are matched with.
fn spelled(node: &Node) -> String {
    match &node.value {
        Value::Scalar(Scalar { text, tag, style }) => {
            let is_misread = *tag == Tag::Str && resolve(text) != Tag::Str;
            match style {
                Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
                Style::DoubleQuoted => format!("{:?}", text.as_str()),
                Style::Plain if is_misread => format!("{:?}", text.as_str()),
                Style::Literal | Style::Folded => text.trim().to_owned(),
                Style::Plain => text.to_string(),
            }
        }
        _ => flumen_yaml::to_json(node).unwrap_or_default(),
    }
}

/// The tree that is written in a text.
pub(super) fn read_embedded(text: &Text) -> Result<Node> {
    // Only the first document counts, and it is not looked at closely.
    flumen_yaml::read_lenient(text, 1, &Budget::default())
        .map_err(|error| Error::new(error.to_string()))?
        .ok_or_else(|| Error::new("wrong node kind: expected MappingNode but got an empty text"))
}

/// Puts a value into a field. A scalar keeps its type and takes the text alone, so that numbers and
/// strings are converted into each other; anything else is replaced as a whole.
pub(super) fn set_value(field: &mut Node, is_new: bool, value: &Node, text: Text) -> Result<()> {
    let is_made = !field.pos.is_known();
    let Value::Scalar(scalar) = &mut field.value else {
        *field = Node::new(Pos::default(), value.value.clone());
        if let Value::Scalar(scalar) = &mut field.value {
            scalar.text = text;
        }
        return Ok(());
    };
    let was_untagged =
        is_new || (is_made && scalar.style == Style::Plain && scalar.tag != Tag::Str);
    if was_untagged {
        scalar.tag = if scalar.style == Style::Plain { resolve(&text) } else { Tag::Str };
    } else if scalar.tag == Tag::Null && resolve(&text) != Tag::Null {
        return Err(Error::new(format!("yaml: cannot decode !!str `{text}` as a !!null"))
            .hint("the field is null, and a replacement does not change the type of a field"));
    }
    scalar.text = text;
    Ok(())
}
