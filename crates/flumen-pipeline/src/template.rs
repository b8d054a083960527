//! Templates: what is filled in when a component is deployed.
//!
//! An artifact is the same for every install. What differs between installs stands in it as
//! `{{ .path.to.value }}`, and is filled in between pulling and planning, from [`Values`].
//!
//! - Nothing but a path may stand between the braces: no functions, conditions or trim markers.
//! - Only braces that refer to `.install` or `.nuon` are ours. Alert rules and dashboards have Go
//!   templates of their own, and those stay as they are. A template of theirs that refers to something
//!   called `install` says `$.install`, which means the same to Go and nothing to us.
//! - A path without a value is an error, and so is a path to a table.
//!
//! # No value changes the structure of a document
//!
//! Values go into the scalars of the parsed document, never into its text, so a value cannot add a key,
//! end a string or begin a document. But `replicas: {{ .install.inputs.replicas }}` is no YAML that
//! one would want to parse. Therefore:
//!
//! ```text
//! text ─▶ braces that are ours become marks ─▶ YAML ─▶ marks become values, scalar by scalar
//! ```
//!
//! - A plain scalar that is one placeholder and nothing else takes the value with its type, so that a
//!   number of the install's inputs is a number in the document. A text stays a text: `"yes"` does not
//!   become a truth value. In quotes, in a key or beside other text, every value is text.
//! - A value of several lines may only stand alone in its scalar: within a larger text, such as a
//!   configuration file in a `ConfigMap`, it would change the structure of that text.
//! - Two keys of a mapping that become equal are an error.

mod action;
mod values;

use std::{borrow::Cow, collections::HashSet, fmt::Write as _};

use flumen_yaml::{Budget, Map, Node, Scalar, Style, Tag, Text, Value};
use thiserror::Error;

use self::{
    action::{Action, actions},
    values::Found,
};

pub use self::values::Values;

/// Begins and ends a mark. YAML takes both for letters, and Unicode promises that no text has them.
const MARK: (char, char) = ('\u{FDD0}', '\u{FDD1}');

/// A value may be repeated in many places; this much text is more than any cluster takes.
const MAX_FILLED_IN: usize = 64 << 20;

/// A placeholder that cannot be filled in. Values are never quoted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct TemplateError {
    place: Place,
    problem: Problem,
    hint: Option<String>,
}

/// Where a placeholder stands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Place {
    #[error("namespace")]
    Namespace,
    #[error("line {0}")]
    Line(u32),
    #[error("document {document}, line {line}")]
    Document { document: usize, line: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Problem {
    #[error("{0}")]
    Unreadable(String),
    #[error("there is no value `{0}`")]
    NoValue(String),
    #[error("`{0}` is a table, not a value")]
    Table(String),
    #[error("`{0}` is more than a path")]
    NotAPath(String),
    #[error("`{0}` is not closed")]
    NotClosed(String),
    #[error("the value of `{0}` has several lines and would change the text around it")]
    SeveralLines(String),
    #[error("`{0}` makes two keys of a mapping equal")]
    EqualKeys(String),
    #[error("the values that are filled in have more than {MAX_FILLED_IN} bytes")]
    TooLarge,
}

impl TemplateError {
    /// What to try.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref().or(match &self.problem {
            Problem::NotAPath(_) => Some(
                "write `{{ .path.to.value }}`; a template that is for somebody else says `$.install`",
            ),
            Problem::NotClosed(_) => Some("`{{` and `}}` stand on the same line"),
            Problem::SeveralLines(_) => {
                Some("let the placeholder be all that its key has, or use a value of one line")
            }
            _ => None,
        })
    }
}

/// Fills in the namespace of a component.
pub fn render_namespace(namespace: &str, values: &Values) -> Result<String, TemplateError> {
    let mut renderer = Renderer::new(values);
    let filled = renderer.fill_in(namespace).map_err(|fault| fault.at(Place::Namespace))?;
    Ok(filled.into_owned())
}

/// Fills in a text of YAML or JSON documents. Documents without content are among them.
pub fn render(text: &str, values: &Values) -> Result<Vec<Node>, TemplateError> {
    let masked = Masked::new(text);
    let unreadable = |error: flumen_yaml::Error| TemplateError {
        place: Place::Line(error.pos().line),
        problem: Problem::Unreadable(error.problem().to_owned()),
        hint: None,
    };
    let mut documents =
        flumen_yaml::read(&Text::from(&*masked.text), 1, &Budget::default()).map_err(unreadable)?;
    let mut renderer = Renderer::new(values);
    for (index, document) in documents.iter_mut().enumerate() {
        renderer
            .render(document, &masked)
            .map_err(|(fault, line)| fault.at(Place::Document { document: index + 1, line }))?;
    }
    Ok(documents)
}

/// The text with marks in place of what is filled in later, for those who only want to know whether it
/// is YAML.
pub(crate) fn without_placeholders(text: &str) -> Cow<'_, str> {
    Masked::new(text).text
}

/// The components that placeholders refer to, by name.
pub(crate) fn components_in(text: &str) -> impl Iterator<Item = &str> {
    actions(text).into_iter().flat_map(|action| {
        [".install.components.", ".nuon.components.", ".nuon.install.components."]
            .into_iter()
            .flat_map(move |prefix| action.inner.split(prefix).skip(1))
            .map(|rest| rest.split(|c| !action::is_segment(c)).next().unwrap_or_default())
            .filter(|name| !name.is_empty())
    })
}

/// A text whose placeholders are marks.
struct Masked<'a> {
    text: Cow<'a, str>,
    /// What each mark stands for.
    hidden: Vec<&'a str>,
}

impl<'a> Masked<'a> {
    fn new(text: &'a str) -> Self {
        let found = actions(text);
        if found.is_empty() {
            return Self { text: Cow::Borrowed(text), hidden: Vec::new() };
        }
        let mut masked = String::with_capacity(text.len());
        let mut hidden = Vec::new();
        let mut done = 0;
        // Braces that are not closed may be closed on the next line of a folded scalar.
        for Action { range, .. } in found.into_iter().filter(|action| action.is_closed) {
            masked.push_str(&text[done..range.start]);
            let _ = write!(masked, "{}{}{}", MARK.0, hidden.len(), MARK.1);
            done = range.end;
            hidden.push(&text[range]);
        }
        masked.push_str(&text[done..]);
        Self { text: Cow::Owned(masked), hidden }
    }

    /// A scalar as it was written.
    fn reveal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(MARK.0) {
            return Cow::Borrowed(text);
        }
        let mut pieces = text.split(MARK.0);
        let mut revealed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let mark = piece.split_once(MARK.1);
            let hidden = mark.and_then(|(index, rest)| {
                Some((self.hidden.get(index.parse::<usize>().ok()?)?, rest))
            });
            if let Some((hidden, rest)) = hidden {
                revealed.push_str(hidden);
                revealed.push_str(rest);
            } else {
                revealed.push(MARK.0);
                revealed.push_str(piece);
            }
        }
        Cow::Owned(revealed)
    }
}

/// A problem whose place is not known yet.
struct Fault {
    problem: Problem,
    /// How many lines below the beginning of the scalar.
    line: u32,
    hint: Option<String>,
}

impl Fault {
    fn at(self, place: Place) -> TemplateError {
        TemplateError { place, problem: self.problem, hint: self.hint }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self { problem, line: 0, hint: None }
    }
}

struct Renderer<'a> {
    values: &'a Values,
    /// Bytes that values have taken so far.
    filled_in: usize,
}

impl<'a> Renderer<'a> {
    const fn new(values: &'a Values) -> Self {
        Self { values, filled_in: 0 }
    }

    /// Fills in a tree; a fault comes with the line that it is on.
    fn render(&mut self, node: &mut Node, masked: &Masked<'_>) -> Result<(), (Fault, u32)> {
        let pos = node.pos;
        match &mut node.value {
            Value::Scalar(scalar) => self.render_scalar(scalar, masked).map_err(|fault| {
                // The text of a block begins below its mark.
                let is_block = matches!(scalar.style, Style::Literal | Style::Folded);
                let line = pos.line + if is_block { fault.line + 1 } else { 0 };
                (fault, line)
            }),
            Value::Seq(items) => items.iter_mut().try_for_each(|item| self.render(item, masked)),
            Value::Map(map) => self.render_map(map, masked),
        }
    }

    fn render_map(&mut self, map: &mut Map, masked: &Masked<'_>) -> Result<(), (Fault, u32)> {
        let mut changed = None;
        for entry in map.iter_mut() {
            let key = masked.reveal(&entry.key);
            let filled = self.fill_in(&key).map_err(|fault| (fault, entry.key_pos.line))?;
            if *filled != *entry.key {
                changed = Some((key.clone().into_owned(), entry.key_pos.line));
                entry.key = Text::from(&*filled);
            }
            self.render(&mut entry.value, masked)?;
        }
        let Some((key, line)) = changed else { return Ok(()) };
        let mut seen = HashSet::new();
        if map.iter().all(|entry| seen.insert(&*entry.key)) {
            return Ok(());
        }
        Err((Problem::EqualKeys(key).into(), line))
    }

    fn render_scalar(&mut self, scalar: &mut Scalar, masked: &Masked<'_>) -> Result<(), Fault> {
        let text = masked.reveal(&scalar.text);
        if let Some(value) = self.sole_value(&text, scalar.style)? {
            *scalar = value.clone();
            return Ok(());
        }
        let filled = self.fill_in(&text)?;
        if *filled != *scalar.text {
            scalar.text = Text::from(&*filled);
            scalar.tag = Tag::Str;
        }
        Ok(())
    }

    /// The value of a plain scalar that is one placeholder and nothing else.
    fn sole_value(&mut self, text: &str, style: Style) -> Result<Option<&'a Scalar>, Fault> {
        match actions(text).as_slice() {
            [action] if style == Style::Plain && action.range == (0..text.len()) => {
                self.value(action).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A text with values in place of placeholders.
    fn fill_in<'t>(&mut self, text: &'t str) -> Result<Cow<'t, str>, Fault> {
        let found = actions(text);
        if found.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let is_alone = matches!(found.as_slice(), [one] if text.trim() == &text[one.range.clone()]);
        let mut filled = String::with_capacity(text.len());
        let mut done = 0;
        for action in found {
            let before = &text[done..action.range.start];
            let line = || newlines(&text[..action.range.start]);
            let value = self.value(&action).map_err(|fault| Fault { line: line(), ..fault })?;
            if !is_alone && value.text.contains(['\n', '\r']) {
                let problem = Problem::SeveralLines(action.inner.trim().to_owned());
                return Err(Fault { line: line(), ..problem.into() });
            }
            filled.push_str(before);
            filled.push_str(&value.text);
            done = action.range.end;
        }
        filled.push_str(&text[done..]);
        Ok(Cow::Owned(filled))
    }

    fn value(&mut self, action: &Action<'_>) -> Result<&'a Scalar, Fault> {
        let inner = action.inner.trim();
        if !action.is_closed {
            return Err(Problem::NotClosed(format!("{{{{{}", action.inner.trim_end())).into());
        }
        let path = action::path(inner)
            .ok_or_else(|| Problem::NotAPath(format!("{{{{{}}}}}", action.inner)))?;
        match self.values.find(&path) {
            Found::Scalar(scalar) => {
                self.filled_in = self.filled_in.saturating_add(scalar.text.len());
                if self.filled_in > MAX_FILLED_IN {
                    return Err(Problem::TooLarge.into());
                }
                Ok(scalar)
            }
            Found::Table => Err(Problem::Table(inner.to_owned()).into()),
            Found::Nothing => Err(Fault {
                hint: self.values.nearest(&path).map(|known| format!("did you mean `{known}`?")),
                ..Problem::NoValue(inner.to_owned()).into()
            }),
        }
    }
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
