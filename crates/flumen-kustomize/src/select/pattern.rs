//! Regular expressions of selectors.
//!
//! They have Go's syntax and must match as a whole. Almost all of them are plain names, some have
//! `.*` in them or are lists of names; those are matched without compiling anything, because a build
//! may hold thousands of selectors and its start must stay cheap.

use flumen_yaml::Text;
use regex_lite::Regex;

use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// The empty pattern.
    Any,
    Literal(Text),
    /// Any of these.
    Wildcards(Vec<Vec<Piece>>),
    Regex(Box<Regex>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Char(char),
    /// `.`
    One,
    /// `.*`
    Many,
}

impl Pattern {
    /// A pattern that has to match the whole text.
    pub(crate) fn whole(pattern: &Text) -> Result<Self> {
        if pattern.is_empty() {
            return Ok(Self::Any);
        }
        if !pattern.contains(is_meta) {
            return Ok(Self::Literal(pattern.clone()));
        }
        match pattern.split('|').map(wildcards).collect() {
            Some(alternatives) => Ok(Self::Wildcards(alternatives)),
            None => compile(&format!("^(?:{pattern})$")),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => literal == text,
            Self::Wildcards(alternatives) => {
                alternatives.iter().any(|pieces| matches_pieces(pieces, text))
            }
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

/// A pattern that may match anywhere in a text.
#[derive(Clone, Debug)]
pub(crate) enum Search {
    Literal(Text),
    Regex(Box<Regex>),
}

impl Search {
    pub(crate) fn new(pattern: &str) -> Result<Self> {
        if pattern.contains(is_meta) {
            return match compile(pattern)? {
                Pattern::Regex(regex) => Ok(Self::Regex(regex)),
                _ => Ok(Self::Literal(Text::default())),
            };
        }
        Ok(Self::Literal(Text::from(pattern)))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => text.contains(literal.as_str()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

fn compile(pattern: &str) -> Result<Pattern> {
    let regex = Regex::new(pattern)
        .map_err(|error| Error::new(format!("error parsing regexp: {error}: `{pattern}`")))?;
    Ok(Pattern::Regex(Box::new(regex)))
}

const fn is_meta(char: char) -> bool {
    matches!(
        char,
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$'
    )
}

/// The pieces of a pattern that consists of characters, `.`, `.*` and `.+` alone.
fn wildcards(pattern: &str) -> Option<Vec<Piece>> {
    // The whole pattern is anchored anyway.
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = match pattern.strip_suffix('$') {
        Some(shorter) if !shorter.ends_with('\\') => shorter,
        _ => pattern,
    };
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '.' if chars.next_if_eq(&'*').is_some() => pieces.push(Piece::Many),
            '.' if chars.next_if_eq(&'+').is_some() => pieces.extend([Piece::One, Piece::Many]),
            '.' => pieces.push(Piece::One),
            '\\' => pieces.push(Piece::Char(chars.next_if(char::is_ascii_punctuation)?)),
            char if is_meta(char) => return None,
            char => pieces.push(Piece::Char(char)),
        }
        // `.*?`, `a*`, `.{2}` and the like are for the real thing.
        if chars.peek().is_some_and(|next| matches!(next, '*' | '+' | '?' | '{')) {
            return None;
        }
    }
    Some(pieces)
}

/// Matches by the usual method for file patterns: on a mismatch, let the last `.*` take one
/// character more. A dot does not match a line break.
fn matches_pieces(pieces: &[Piece], text: &str) -> bool {
    let mut piece = 0;
    let mut rest = text.chars();
    let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        let matched = match pieces.get(piece) {
            Some(Piece::Many) => {
                piece += 1;
                retry = Some((piece, rest.clone()));
                continue;
            }
            Some(Piece::One) => rest.next().is_some_and(|char| char != '\n'),
            Some(Piece::Char(wanted)) => rest.next() == Some(*wanted),
            None if rest.as_str().is_empty() => return true,
            None => false,
        };
        if matched {
            piece += 1;
            continue;
        }
        let Some((after, from)) = &mut retry else { return false };
        if from.next().is_none_or(|char| char == '\n') {
            return false;
        }
        piece = *after;
        rest = from.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a pattern against texts that match and texts that do not.
    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let compiled = Pattern::whole(&Text::from(pattern)).expect("the pattern is valid");
        for text in matching {
            assert!(compiled.matches(text), "{pattern} should match {text:?}");
        }
        for text in others {
            assert!(!compiled.matches(text), "{pattern} should not match {text:?}");
        }
        if !pattern.is_empty() {
            // The short cuts must agree with the engine.
            let engine = compile(&format!("^(?:{pattern})$")).expect("the engine takes it too");
            for text in matching.iter().chain(others) {
                assert_eq!(compiled.matches(text), engine.matches(text), "{pattern} on {text:?}");
            }
        }
    }

    #[test]
    fn patterns_match_as_a_whole() {
        check("", &["", "anything"], &[]);
        check("web", &["web"], &["web-1", "a-web", ""]);
        check("web-.*", &["web-", "web-1", "web-a-b"], &["web", "aweb-1", "web-\n"]);
        check(".*-web-.*-x", &["a-web-b-x", "-web--x", "a-web-web-x-x"], &["a-web-x", "web-b-x"]);
        check("a.c", &["abc", "a.c", "aéc"], &["ac", "abbc", "a\nc"]);
        check("a.+", &["ab", "abc"], &["a"]);
        check("^web$|db", &["web", "db"], &["webdb", "web|db", ""]);
        check(r"a\.b", &["a.b"], &["axb"]);
        check("(web|db)-[0-9]+", &["web-1", "db-23"], &["web-", "x-1"]);
        check("ab*", &["a", "abb"], &["ab*"]);
        check(r"\d+", &["12"], &["a", "٣"]);
        check("!web", &["!web"], &["web", "db"]);
        check("a|", &["a", ""], &["b"]);
    }

    #[test]
    fn plain_names_need_no_compiling() {
        let whole = |pattern| Pattern::whole(&Text::from(pattern)).expect("valid");
        assert!(matches!(whole("my-app"), Pattern::Literal(_)));
        assert!(matches!(whole("networking.k8s.io"), Pattern::Wildcards(_)));
        assert!(matches!(whole("^(a|b)$"), Pattern::Regex(_)));
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        let error = Pattern::whole(&Text::from("a(b")).expect_err("the group is open");
        assert!(error.to_string().starts_with("error parsing regexp: "), "{error}");
        assert!(error.to_string().ends_with("`^(?:a(b)$`"), "{error}");
    }

    #[test]
    fn a_search_matches_anywhere() {
        let search = |pattern| Search::new(pattern).expect("valid");
        assert!(search("web").matches("my-web-app"));
        assert!(!search("^web").matches("my-web-app"));
        assert!(search("w.b").matches("my-web-app"));
    }
}
