//! `${…}` in text, as Flux replaces it after a build.
//!
//! The notation looks like a shell's and is none: all operators with a default mean the same, trimming
//! never matches the empty text, and replacing knows no patterns. What the reference does is what
//! manifests rely on, so every oddity that shows in a result is kept.
//!
//! A template is read as a whole before any variable is looked up: a mistake in its grammar is reported
//! even if a variable before it is not set.

mod glob;
mod parse;

use std::{borrow::Cow, collections::BTreeMap};

use self::parse::{Case, Expansion, Operator, Part, Place};

/// What one substitution may cost, in bytes of text that are made or looked at. An object of a
/// cluster has at most one and a half million of them.
const MAX_EFFORT: usize = 16 << 20;

/// What becomes of a variable that is not set and for which no default is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    Empty,
    Refused,
}

/// Why a template has no result. The words are the reference's; values are never in them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubstituteError {
    #[error("bad substitution")]
    BadSubstitution,
    #[error("missing closing brace")]
    MissingBrace,
    #[error("unable to parse variable name")]
    Name,
    #[error("unable to parse substitution within function")]
    Argument,
    /// The reference crashes here.
    #[error("the substring of {0:?} has a negative length")]
    NegativeLength(String),
    #[error("variable not set (strict mode): {0:?}")]
    Unset(String),
    #[error("expressions within expressions go deeper than {limit} levels")]
    TooDeep { limit: usize },
    #[error("the substitution takes more than {limit} bytes of work")]
    TooMuch { limit: usize },
}

/// Replaces every `${…}` in `template` and every `$$` by `$`.
pub fn substitute(
    template: &str,
    variables: &BTreeMap<String, String>,
    unset: Unset,
) -> Result<String, SubstituteError> {
    let parts = parse::template(template)?;
    let mut evaluation = Evaluation { variables, unset, effort: Effort(MAX_EFFORT) };
    let mut output = String::with_capacity(template.len());
    for part in &parts {
        output.push_str(&evaluation.text_of(part)?);
    }
    Ok(output)
}

struct Evaluation<'v> {
    variables: &'v BTreeMap<String, String>,
    unset: Unset,
    effort: Effort,
}

impl<'v> Evaluation<'v> {
    fn text_of<'p>(&mut self, part: &'p Part<'_>) -> Result<Cow<'p, str>, SubstituteError> {
        let text = match part {
            Part::Text(text) => Cow::Borrowed(text.as_ref()),
            Part::Expansion(expansion) => Cow::Owned(self.expand(expansion)?),
        };
        self.effort.spend(text.len())?;
        Ok(text)
    }

    /// The arguments come first: a variable in them that is not set is missed even if nothing of it
    /// would be in the result.
    fn expand(&mut self, expansion: &Expansion<'_>) -> Result<String, SubstituteError> {
        let name = expansion.name;
        match &expansion.operator {
            Operator::Value => self.value(name).map(ToOwned::to_owned),
            Operator::Length => self.value(name).map(|value| value.len().to_string()),
            Operator::Default(parts) => {
                let mut default = String::new();
                for part in parts {
                    default.push_str(&self.text_of(part)?);
                }
                let value = self.variables.get(name).filter(|value| !value.is_empty());
                Ok(value.cloned().unwrap_or(default))
            }
            Operator::Case { case, first_only } => {
                let value = self.value(name)?;
                let changed = if *first_only { 1 } else { usize::MAX };
                let chars = value.chars().enumerate();
                Ok(chars.map(|(at, c)| if at < changed { case.of(c) } else { c }).collect())
            }
            Operator::Substring { offset, length } => {
                let offset = self.text_of(offset)?;
                let length = length.as_ref().map(|length| self.text_of(length)).transpose()?;
                substring(self.value(name)?, &offset, length.as_deref())
                    .ok_or_else(|| SubstituteError::NegativeLength(name.to_owned()))
            }
            Operator::Trim { at_end, longest, pattern } => {
                let pattern = self.text_of(pattern)?;
                let value = self.value(name)?;
                let effort = &mut self.effort;
                let rest = if *at_end {
                    &value[..glob::matching_end(&pattern, value, *longest, effort)?]
                } else {
                    &value[glob::matching_start(&pattern, value, *longest, effort)?..]
                };
                Ok(rest.to_owned())
            }
            Operator::Replace { place, pattern, replacement } => {
                let pattern = self.text_of(pattern)?;
                let replacement =
                    replacement.as_ref().map(|text| self.text_of(text)).transpose()?;
                self.replace(name, *place, &pattern, replacement.as_deref())
            }
        }
    }

    fn replace(
        &mut self,
        name: &str,
        place: Place,
        pattern: &str,
        replacement: Option<&str>,
    ) -> Result<String, SubstituteError> {
        let value = self.value(name)?;
        let with = replacement.unwrap_or_default();
        Ok(match place {
            Place::First => value.replacen(pattern, with, 1),
            Place::All => {
                let count = value.matches(pattern).count();
                let length = value.len().saturating_add(count.saturating_mul(with.len()));
                self.effort.spend(length)?;
                value.replace(pattern, with)
            }
            // Without a replacement these two do nothing, unlike the others.
            Place::Start => match (value.strip_prefix(pattern), replacement) {
                (Some(rest), Some(with)) => format!("{with}{rest}"),
                _ => value.to_owned(),
            },
            Place::End => match (value.strip_suffix(pattern), replacement) {
                (Some(rest), Some(with)) => format!("{rest}{with}"),
                _ => value.to_owned(),
            },
        })
    }

    fn value(&self, name: &str) -> Result<&'v str, SubstituteError> {
        match self.variables.get(name) {
            Some(value) => Ok(value),
            None if self.unset == Unset::Empty => Ok(""),
            None => Err(SubstituteError::Unset(name.to_owned())),
        }
    }
}

impl Case {
    /// One character for one, as Go does it; Rust has the longer forms of `ß` and its like.
    fn of(self, c: char) -> char {
        match self {
            Self::Upper => {
                let mut upper = c.to_uppercase();
                if upper.len() == 1 { upper.next().unwrap_or(c) } else { c }
            }
            Self::Lower => c.to_lowercase().next().unwrap_or(c),
        }
    }
}

/// Bytes of a value, or nothing for a negative length. Numbers that are none leave the value as it is.
///
/// A cut through a character leaves a replacement character for each byte of what is left of it, because
/// the result must be text.
fn substring(value: &str, offset: &str, length: Option<&str>) -> Option<String> {
    let whole = || Some(value.to_owned());
    let Ok(offset) = offset.parse::<i64>() else { return whole() };
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let begin = if offset < 0 { offset.saturating_add(size).max(0) } else { offset };
    let end = match length.map(str::parse::<i64>) {
        None => size,
        Some(Ok(length)) => begin.saturating_add(length).min(size),
        Some(Err(_)) => return whole(),
    };
    if begin >= size && end >= size {
        return Some(String::new());
    }
    if end < begin {
        return None;
    }
    let bytes = value.as_bytes().get(usize::try_from(begin).ok()?..usize::try_from(end).ok()?)?;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

/// What may still be spent.
struct Effort(usize);

impl Effort {
    fn spend(&mut self, cost: usize) -> Result<(), SubstituteError> {
        self.0 = self.0.checked_sub(cost).ok_or(SubstituteError::TooMuch { limit: MAX_EFFORT })?;
        Ok(())
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
