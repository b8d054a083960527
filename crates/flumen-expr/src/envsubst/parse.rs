//! The grammar of `${…}`.

use std::borrow::Cow;

use super::SubstituteError;

/// Defaults within defaults; people write two or three.
const MAX_DEPTH: usize = 100;

#[derive(Debug)]
pub(super) enum Part<'t> {
    Text(Cow<'t, str>),
    Expansion(Box<Expansion<'t>>),
}

#[derive(Debug)]
pub(super) struct Expansion<'t> {
    pub(super) name: &'t str,
    pub(super) operator: Operator<'t>,
}

#[derive(Debug)]
pub(super) enum Operator<'t> {
    Value,
    Length,
    Default(Vec<Part<'t>>),
    Case { case: Case, first_only: bool },
    Substring { offset: Part<'t>, length: Option<Part<'t>> },
    Trim { at_end: bool, longest: bool, pattern: Part<'t> },
    Replace { place: Place, pattern: Part<'t>, replacement: Option<Part<'t>> },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Case {
    Upper,
    Lower,
}

/// Where in a value something is replaced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    First,
    All,
    Start,
    End,
}

/// Which escapes are undone in a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    None,
    /// `$$`
    Dollar,
    /// `$$`, `\/` and `\\`
    DollarAndBackslash,
}

pub(super) fn template(text: &str) -> Result<Vec<Part<'_>>, SubstituteError> {
    let mut parser = Parser { rest: text, depth: 0 };
    let mut parts = Vec::new();
    while !parser.rest.is_empty() {
        parts.push(parser.part(|_| false, Escapes::Dollar)?);
    }
    Ok(parts)
}

struct Parser<'t> {
    rest: &'t str,
    /// How many expressions are open.
    depth: usize,
}

impl<'t> Parser<'t> {
    /// An expression, or the text up to the next one or to a character that ends it.
    fn part(
        &mut self,
        ends: impl Fn(char) -> bool,
        escapes: Escapes,
    ) -> Result<Part<'t>, SubstituteError> {
        if let Some(rest) = self.rest.strip_prefix("${") {
            self.rest = rest;
            return Ok(Part::Expansion(Box::new(self.expansion()?)));
        }
        let before = self.rest.len();
        let text = self.text(ends, escapes);
        if self.rest.len() == before {
            return Err(SubstituteError::Argument);
        }
        Ok(Part::Text(text))
    }

    fn text(&mut self, ends: impl Fn(char) -> bool, escapes: Escapes) -> Cow<'t, str> {
        let mut text = Cow::Borrowed("");
        // Where the piece begins that is not in `text` yet.
        let mut begin = 0;
        let mut at = 0;
        while let Some(c) = self.rest[at..].chars().next() {
            let after = &self.rest[at + c.len_utf8()..];
            if escapes.apply_to(c, after) {
                text += &self.rest[begin..at];
                begin = at + 1;
                at += 2;
            } else if (c == '$' && after.starts_with('{')) || ends(c) {
                break;
            } else {
                at += c.len_utf8();
            }
        }
        text += &self.rest[begin..at];
        self.rest = &self.rest[at..];
        text
    }

    /// What follows `${`, with the closing brace.
    fn expansion(&mut self) -> Result<Expansion<'t>, SubstituteError> {
        if self.depth == MAX_DEPTH {
            return Err(SubstituteError::TooDeep { limit: MAX_DEPTH });
        }
        self.depth += 1;
        let expansion = if self.eat('#') {
            let name = self.name();
            if name.is_empty() {
                return Err(SubstituteError::BadSubstitution);
            }
            self.close()?;
            Expansion { name, operator: Operator::Length }
        } else {
            let name = self.name();
            if name.is_empty() {
                return Err(SubstituteError::Name);
            }
            Expansion { name, operator: self.operator()? }
        };
        self.depth -= 1;
        Ok(expansion)
    }

    fn operator(&mut self) -> Result<Operator<'t>, SubstituteError> {
        let mut ahead = self.rest.chars();
        match (ahead.next(), ahead.next()) {
            (Some('='), _) => self.skip(1).default(),
            (Some(':'), Some('=' | '-' | '?' | '+')) => self.skip(2).default(),
            // Where the text ends, the reference has lost the colon and says something else.
            (Some(':'), None) => Err(SubstituteError::BadSubstitution),
            (Some(':'), _) => self.skip(1).substring(),
            (Some(first @ (',' | '^')), second) => {
                let operator = match (first, second) {
                    ('^', Some('^')) => Operator::Case { case: Case::Upper, first_only: false },
                    (',', Some(',')) => Operator::Case { case: Case::Lower, first_only: false },
                    // A mixed pair is accepted and means nothing.
                    (_, Some(',' | '^')) => Operator::Value,
                    ('^', _) => Operator::Case { case: Case::Upper, first_only: true },
                    _ => Operator::Case { case: Case::Lower, first_only: true },
                };
                let is_pair = matches!(second, Some(',' | '^'));
                self.skip(if is_pair { 2 } else { 1 }).close()?;
                Ok(operator)
            }
            (Some('/'), Some('/')) => self.skip(2).replace(Place::All),
            (Some('/'), Some('#')) => self.skip(2).replace(Place::Start),
            (Some('/'), Some('%')) => self.skip(2).replace(Place::End),
            (Some('/'), _) => self.skip(1).replace(Place::First),
            (Some('#'), Some('#')) => self.skip(2).trim(false, true),
            (Some('#'), _) => self.skip(1).trim(false, false),
            (Some('%'), Some('%')) => self.skip(2).trim(true, true),
            (Some('%'), _) => self.skip(1).trim(true, false),
            (Some('}'), _) => {
                self.skip(1);
                Ok(Operator::Value)
            }
            _ => Err(SubstituteError::MissingBrace),
        }
    }

    fn default(&mut self) -> Result<Operator<'t>, SubstituteError> {
        let mut parts = Vec::new();
        while !self.eat('}') {
            parts.push(self.part(closes, Escapes::None)?);
        }
        Ok(Operator::Default(parts))
    }

    fn substring(&mut self) -> Result<Operator<'t>, SubstituteError> {
        let offset = self.part(|c| c == ':' || closes(c), Escapes::None)?;
        let length = if self.eat_all(':') { Some(self.part(closes, Escapes::None)?) } else { None };
        self.close()?;
        Ok(Operator::Substring { offset, length })
    }

    fn trim(&mut self, at_end: bool, longest: bool) -> Result<Operator<'t>, SubstituteError> {
        let pattern = self.part(closes, Escapes::None)?;
        self.close()?;
        Ok(Operator::Trim { at_end, longest, pattern })
    }

    /// A brace does not end the pattern, only a slash does.
    fn replace(&mut self, place: Place) -> Result<Operator<'t>, SubstituteError> {
        let pattern = self.part(|c| c == '/', Escapes::DollarAndBackslash)?;
        if !self.eat_all('/') {
            return Err(SubstituteError::BadSubstitution);
        }
        let replacement = if self.rest.starts_with('}') {
            None
        } else {
            Some(self.part(closes, Escapes::DollarAndBackslash)?)
        };
        self.close()?;
        Ok(Operator::Replace { place, pattern, replacement })
    }

    /// A name may begin with a digit here. Names that are not ASCII are read and never set.
    fn name(&mut self) -> &'t str {
        let is_part = |c: char| c == '_' || c.is_alphanumeric();
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn close(&mut self) -> Result<(), SubstituteError> {
        if self.eat('}') { Ok(()) } else { Err(SubstituteError::BadSubstitution) }
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Passes over a separator, which may be repeated.
    fn eat_all(&mut self, c: char) -> bool {
        let rest = self.rest.trim_start_matches(c);
        let found = rest.len() < self.rest.len();
        self.rest = rest;
        found
    }

    /// Passes over characters of ASCII that were looked at.
    fn skip(&mut self, count: usize) -> &mut Self {
        self.rest = &self.rest[count..];
        self
    }
}

impl Escapes {
    /// Whether `c` goes and the character behind it stays, whatever it would mean otherwise.
    fn apply_to(self, c: char, after: &str) -> bool {
        match c {
            '$' => self != Self::None && after.starts_with('$'),
            '\\' => self == Self::DollarAndBackslash && after.starts_with(['/', '\\']),
            _ => false,
        }
    }
}

fn closes(c: char) -> bool {
    c == '}'
}
