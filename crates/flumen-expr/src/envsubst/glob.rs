//! Patterns of `${v#…}` and `${v%…}`: how much of a value they match at one of its ends.
//!
//! All lengths are tried in one walk over the value, with the set of places in the pattern that can be
//! reached. So the cost is the product of both lengths and not more, whatever the pattern.

use std::{iter::Peekable, mem};

use super::{Effort, SubstituteError};

#[derive(Debug)]
enum Token {
    /// `*`: any characters, or none.
    Any,
    /// `?`: one character.
    One,
    Char(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Where the part of `value` ends that the pattern matches at its start; never an empty match.
pub(super) fn matching_start(
    pattern: &str,
    value: &str,
    longest: bool,
    effort: &mut Effort,
) -> Result<usize, SubstituteError> {
    longest_or_shortest(pattern.chars(), value.chars(), longest, effort)
}

/// Where the part of `value` begins that the pattern matches at its end.
///
/// The reference turns both texts round, the pattern letter by letter. So classes and escapes, which
/// are nothing when read backwards, match nothing here.
pub(super) fn matching_end(
    pattern: &str,
    value: &str,
    longest: bool,
    effort: &mut Effort,
) -> Result<usize, SubstituteError> {
    let matched = longest_or_shortest(pattern.chars().rev(), value.chars().rev(), longest, effort)?;
    Ok(value.len() - matched)
}

/// How many bytes match; none for a pattern that is malformed.
fn longest_or_shortest(
    pattern: impl Iterator<Item = char>,
    value: impl Iterator<Item = char>,
    longest: bool,
    effort: &mut Effort,
) -> Result<usize, SubstituteError> {
    let Some(tokens) = tokens(pattern) else { return Ok(0) };
    // Which tokens may come next; beyond the last one stands a match.
    let mut ahead = vec![false; tokens.len() + 1];
    let mut next = ahead.clone();
    ahead[0] = true;
    pass_stars(&tokens, &mut ahead);
    let mut matched = 0;
    let mut read = 0;
    for c in value {
        effort.spend(tokens.len() + 1)?;
        next.fill(false);
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| ahead[*at]) {
            match token {
                Token::Any => next[at] = true,
                token => next[at + 1] |= token.accepts(c),
            }
        }
        pass_stars(&tokens, &mut next);
        mem::swap(&mut ahead, &mut next);
        read += c.len_utf8();
        if ahead[tokens.len()] {
            matched = read;
            if !longest {
                break;
            }
        }
    }
    Ok(matched)
}

/// A star may stand for nothing: where it can come next, what follows it can too.
fn pass_stars(tokens: &[Token], ahead: &mut [bool]) {
    for (at, token) in tokens.iter().enumerate() {
        if ahead[at] && matches!(token, Token::Any) {
            ahead[at + 1] = true;
        }
    }
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Char(wanted) => *wanted == c,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *negated
            }
        }
    }
}

/// The tokens of a pattern, if it is one.
fn tokens(pattern: impl Iterator<Item = char>) -> Option<Vec<Token>> {
    let mut pattern = pattern.peekable();
    let mut tokens = Vec::new();
    while let Some(c) = pattern.next() {
        tokens.push(match c {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Char(pattern.next()?),
            '[' => class(&mut pattern)?,
            c => Token::Char(c),
        });
    }
    Some(tokens)
}

/// What follows `[`, with the closing bracket. A class has at least one member.
fn class(pattern: &mut Peekable<impl Iterator<Item = char>>) -> Option<Token> {
    let negated = pattern.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let first = member(pattern)?;
        let last = match pattern.next_if_eq(&'-') {
            Some(_) => member(pattern)?,
            None => first,
        };
        ranges.push((first, last));
        if pattern.next_if_eq(&']').is_some() {
            return Some(Token::Class { negated, ranges });
        }
    }
}

fn member(pattern: &mut impl Iterator<Item = char>) -> Option<char> {
    match pattern.next()? {
        '-' | ']' => None,
        '\\' => pattern.next(),
        c => Some(c),
    }
}
