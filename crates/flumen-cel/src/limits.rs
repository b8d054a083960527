//! What an expression may look like before anything parses it.
//!
//! Parser and evaluation call themselves for every level of an expression. These limits keep both far
//! from the end of the stack of a thread of two megabytes.

use cel::IdedExpr;

use crate::{
    lexer::{Token, tokens},
    program::children,
};

const MAX_BYTES: usize = 16 * 1024;
const MAX_TOKENS: usize = 1000;
const MAX_NESTING: usize = 50;

/// Levels of the tree: chains such as `a.b.c` and `a + b + c` add to it, and macros add some.
const MAX_DEPTH: usize = 300;

/// Why an expression is not even looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("the expression is longer than {MAX_BYTES} bytes")]
    Bytes,
    #[error("the expression has more than {MAX_TOKENS} words and signs")]
    Tokens,
    #[error("the expression is nested more than {MAX_NESTING} levels deep")]
    Nesting,
    #[error("the expression has chains of more than {MAX_DEPTH} parts")]
    Depth,
}

pub(crate) fn check(source: &str) -> Result<(), TooLarge> {
    if source.len() > MAX_BYTES {
        return Err(TooLarge::Bytes);
    }
    // Conditions nest to their right until the bracket that holds them is closed.
    let (mut depth, mut enclosing) = (0usize, Vec::new());
    for (count, Token { text, .. }) in tokens(source).enumerate() {
        if count >= MAX_TOKENS {
            return Err(TooLarge::Tokens);
        }
        match text {
            "(" | "[" | "{" => {
                enclosing.push(depth);
                depth += 1;
            }
            ")" | "]" | "}" => depth = enclosing.pop().unwrap_or(0),
            "?" => depth += 1,
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(TooLarge::Nesting);
        }
    }
    Ok(())
}

pub(crate) fn check_depth(tree: &IdedExpr) -> Result<(), TooLarge> {
    fn fits(expr: &IdedExpr, left: usize) -> bool {
        left > 0 && children(expr).into_iter().all(|child| fits(child, left - 1))
    }
    if fits(tree, MAX_DEPTH) { Ok(()) } else { Err(TooLarge::Depth) }
}

#[cfg(test)]
mod tests {
    use super::{TooLarge, check};

    #[test]
    fn ordinary_expressions_pass() {
        assert_eq!(check("a.b ? c[0] : d.all(e, e in ['(((', \"[[\"]) // (((("), Ok(()));
        assert_eq!(check(&"(a) + ".repeat(100)), Ok(()));
    }

    #[test]
    fn what_grows_without_measure_is_refused() {
        assert_eq!(check(&"a".repeat(20_000)), Err(TooLarge::Bytes));
        assert_eq!(check(&"a.".repeat(2_000)), Err(TooLarge::Tokens));
        assert_eq!(check(&"- ".repeat(2_000)), Err(TooLarge::Tokens));
        for opening in ["(", "[", "{", "f(", "a ? b : ", "a[", "x.all(e, "] {
            assert_eq!(check(&opening.repeat(60)), Err(TooLarge::Nesting), "{opening}");
        }
    }
}
