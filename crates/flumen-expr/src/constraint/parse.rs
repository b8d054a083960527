//! From text to [`Constraint`], with the corners of the reference library's expressions.

use std::fmt::Write as _;

use super::{
    Comparator, Constraint, ConstraintError, Group, LONGEST, MOST_GROUPS, Operator, Precision,
};
use crate::{Version, parts::Parts};

pub(super) fn constraint(text: &str) -> Result<Constraint, ConstraintError> {
    if text.len() > LONGEST {
        return Err(ConstraintError::TooLong);
    }
    let text = write_out_ranges(text);
    if text.split("||").count() > MOST_GROUPS {
        return Err(ConstraintError::TooManyGroups);
    }
    let groups = text.split("||").map(|alternative| {
        group(alternative).ok_or_else(|| ConstraintError::Improper(alternative.to_owned()))
    });
    Ok(Constraint { groups: groups.collect::<Result<_, _>>()? })
}

/// `1.2 - 2.3` becomes `>= 1.2, <= 2.3 `. This comes before anything else is understood, as in the
/// reference, so that what is odd around a range is odd in the same way.
fn write_out_ranges(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((lower, upper, after)) = range(rest) {
            let _ = write!(written, ">= {lower}, <= {upper} ");
            rest = after;
        } else {
            written.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    written
}

/// A hyphen range at the front, its blanks included.
fn range(text: &str) -> Option<(&str, &str, &str)> {
    let (lower, rest) = cut(skip_blanks(text))?;
    let rest = skip_some_blanks(skip_some_blanks(rest)?.strip_prefix('-')?)?;
    let (upper, rest) = cut(rest)?;
    Some((lower, upper, skip_blanks(rest)))
}

fn cut(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = Parts::cut(text, in_number)?;
    Some((&text[..text.len() - rest.len()], rest))
}

fn group(text: &str) -> Option<Group> {
    let mut comparators = Vec::new();
    let mut rest = skip_blanks(text);
    loop {
        let (comparator, after) = comparator(rest)?;
        comparators.push(comparator);
        rest = skip_blanks(after);
        if rest.is_empty() {
            return Some(Group { comparators });
        }
        match rest.strip_prefix(',') {
            Some(after_comma) => rest = skip_blanks(after_comma),
            None if rest.len() == after.len() => return None, // neither a blank nor a comma
            None => {}
        }
    }
}

fn comparator(text: &str) -> Option<(Comparator, &str)> {
    let end = text.find(|c: char| !"=!<>~^".contains(c)).unwrap_or(text.len());
    let (operator, rest) = text.split_at(end);
    let operator = match operator {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        "<" => Operator::Less,
        ">=" | "=>" => Operator::GreaterEqual,
        "<=" | "=<" => Operator::LessEqual,
        "~" | "~>" => Operator::Tilde,
        "^" => Operator::Caret,
        _ => return None,
    };
    let (mut parts, rest) = Parts::cut(skip_blanks(rest), in_number)?;
    let given = parts.numbers.iter().take_while(|number| !is_open(number)).count();
    // What follows a wildcard has no meaning and is not even read.
    parts.numbers[given..].fill("0");
    let precision = match given {
        0 => Precision::Nothing,
        1 => Precision::Major,
        2 => Precision::Minor,
        _ => Precision::Patch,
    };
    let version = Version::from_parts(&parts)?;
    Some((Comparator { operator, version, precision }, rest))
}

fn is_open(number: &str) -> bool {
    matches!(number, "" | "x" | "X" | "*")
}

/// The bar stands in the reference's expression by mistake. It never makes a version, but it
/// decides where a hyphen range begins when `||` has no blanks around it.
fn in_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'x' | b'X' | b'*' | b'|')
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches(['\t', '\n', '\x0c', '\r', ' '])
}

fn skip_some_blanks(text: &str) -> Option<&str> {
    let rest = skip_blanks(text);
    (rest.len() < text.len()).then_some(rest)
}
