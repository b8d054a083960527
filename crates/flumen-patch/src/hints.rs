//! What a merge must know of a file that its tree does not tell: schemas in comments, and keys that
//! are no strings.
//!
//! Kustomize reads a comment that is a JSON object as the schema of what stands beside or below it:
//!
//! ```yaml
//! parts: # {"type": "array", "x-kubernetes-patch-strategy": "merge"}
//! - one
//! ```
//!
//! Hardly anybody does this, but markers of other tools look the same, and a marker at a list takes
//! away the list's merge keys. Comments are found line by line: what looks like one inside a text
//! does no harm, because no key begins there.

use std::collections::{HashMap, HashSet};

use flumen_yaml::{Budget, Node, Pos, Tag, Text, read, resolve};

use crate::{json_text, plain_keys};

/// What is to be known of a file, by places in it.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    schemas: HashMap<Place, Node>,
    bare_keys: HashSet<Pos>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The value of the key that begins here.
    Field(Pos),
    /// The element of a list that begins here.
    Element(Pos),
}

impl Hints {
    /// Takes comments with the place of the key that each stands beside or directly above. Those
    /// that are no schema are skipped.
    pub fn new<'t>(comments: impl IntoIterator<Item = (Pos, &'t str)>) -> Self {
        let schemas = comments.into_iter();
        let schemas = schemas.filter_map(|(pos, text)| Some((Place::Field(pos), schema(text)?)));
        Self { schemas: schemas.collect(), bare_keys: HashSet::new() }
    }

    /// Looks for schemas in the comments of a text that begins at `first_line` of its file.
    pub fn of_target(text: &str, first_line: u32) -> Self {
        let mut hints = Self::default();
        if has_candidates(text) {
            hints.add_comments(text, first_line);
        }
        hints
    }

    /// The same, and looks for keys that are no strings. A patch may have some, so long as they only
    /// find what is there. `patches` are the trees of the text.
    pub fn of_patch<'n>(
        text: &Text,
        first_line: u32,
        patches: impl IntoIterator<Item = &'n Node>,
    ) -> Self {
        let mut hints = Self::of_target(text, first_line);
        if patches.into_iter().any(|patch| plain_keys::has_key(patch, is_no_string)) {
            hints.bare_keys = plain_keys::find(text, first_line, is_no_string);
        }
        hints
    }

    /// Whether there is nothing to know, as of nearly every file.
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty() && self.bare_keys.is_empty()
    }

    /// The schema of the value of a key.
    pub(crate) fn of_field(&self, key: Pos) -> Option<&Node> {
        self.schema(Place::Field(key))
    }

    /// The schema of an element of a list.
    pub(crate) fn of_element(&self, element: Pos) -> Option<&Node> {
        self.schema(Place::Element(element))
    }

    fn schema(&self, place: Place) -> Option<&Node> {
        if self.schemas.is_empty() { None } else { self.schemas.get(&place) }
    }

    pub(crate) fn has_bare_keys(&self) -> bool {
        !self.bare_keys.is_empty()
    }

    /// Whether the key that begins at `pos` is no string.
    pub(crate) fn is_bare_key(&self, pos: Pos) -> bool {
        self.bare_keys.contains(&pos)
    }

    fn add_comments(&mut self, text: &str, first_line: u32) {
        let mut above = Above::Nothing;
        for (line, number) in text.lines().zip(first_line..) {
            let content = line.trim_start_matches(' ');
            if content.trim().is_empty() {
                above = Above::Nothing;
                continue;
            }
            if content.starts_with('#') {
                above = match above {
                    Above::Nothing => Above::Comment(content),
                    _ => Above::Comments,
                };
                continue;
            }
            let start = content.trim_start_matches("- ").trim_start_matches(' ');
            let pos = Pos::new(number, u32::try_from(line.len() - start.len() + 1).unwrap_or(0));
            let is_element = start.len() < content.len();
            let beside = start.split_once(" #").map(|(_, comment)| (comment, Place::Field(pos)));
            let found = match (beside, above) {
                (Some(beside), _) => Some(beside),
                (None, Above::Comment(comment)) if is_element => {
                    Some((comment, Place::Element(pos)))
                }
                (None, Above::Comment(comment)) => Some((comment, Place::Field(pos))),
                _ => None,
            };
            if let Some((comment, place)) = found
                && let Some(schema) = schema(comment)
            {
                self.schemas.insert(place, schema);
            }
            above = Above::Nothing;
        }
    }
}

/// What stands on the lines directly above.
#[derive(Clone, Copy)]
enum Above<'t> {
    Nothing,
    Comment(&'t str),
    Comments,
}

/// Whether any comment begins as a JSON object does.
fn has_candidates(text: &str) -> bool {
    text.match_indices('#').any(|(at, _)| {
        text[at..].trim_start_matches('#').trim_start_matches([' ', '\t']).starts_with('{')
    })
}

/// The schema that a comment is.
fn schema(comment: &str) -> Option<Node> {
    let text = comment.trim_start_matches('#').trim();
    if !text.starts_with('{') || json_text::check(text, 1).is_err() {
        return None;
    }
    let node = read(&Text::from(text), 1, &Budget::default()).ok()?.pop()?;
    let is_type = |node: &Node| node.as_scalar().is_some_and(|scalar| scalar.tag == Tag::Str);
    let is_schema = match node.get("type") {
        Some(kind) => is_type(kind) || kind.as_seq().is_some_and(|all| all.iter().all(is_type)),
        None => true,
    };
    (is_schema && !node.is_nil_or_empty()).then_some(node)
}

/// Whether a key is no string if it stands without quotes.
fn is_no_string(key: &str) -> bool {
    resolve(key) != Tag::Str
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Pos, Text};

    use super::{Hints, Place};

    /// Says where the schemas and the bare keys of a text are.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let documents = flumen_yaml::read(&Text::from(text), 1, &flumen_yaml::Budget::default());
        let hints = Hints::of_patch(&Text::from(text), 1, &documents.expect("valid YAML"));
        let show = |pos: &Pos, mark: &str| format!("{}:{}{mark}", pos.line, pos.column);
        let schemas = hints.schemas.keys().map(|place| match place {
            Place::Field(pos) => show(pos, ""),
            Place::Element(pos) => show(pos, "-"),
        });
        let mut found: Vec<String> = schemas.collect();
        found.extend(hints.bare_keys.iter().map(|pos| show(pos, "!")));
        found.sort_unstable();
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn comments_beside_and_above() {
        check("a: # {\"x\": 1}\n- b\n", "1:1");
        check("a:\n  b: [] ## {\"x\": 1} \n", "2:3");
        check("a:\n  # {\"x\": 1}\n  b: 1\n", "3:3");
        check("- b: # {\"x\": 1}\n    c\n", "1:3");
        check("a:\n# {\"x\": 1}\n- b: 1\n", "3:3-");
    }

    #[test]
    fn comments_that_are_none() {
        check("a: # {}\n", "");
        check("a: # {x: 1}\n", "");
        check("a: # {\"type\": 5}\n", "");
        check("a: # \"x\"\n", "");
        check("# {\"x\": 1}\n\na: 1\n", "");
        check("# one\n# {\"x\": 1}\na: 1\n", "");
        check("# {\"x\": 1}\na: 1 # two\n", "");
        check("a: 'b#{\"x\": 1}'\n", "");
    }

    #[test]
    fn keys_that_are_no_strings() {
        check(
            "a: {1: x, '2': y, true: z}\nb: [{~: 1}]\nc: {d: 1, 0.5: {6: 7}}\n3: 4\n",
            "1:19! 1:5! 2:6! 3:11! 3:17! 4:1!",
        );
        check("a: {'1': x}\n", "");
    }
}
