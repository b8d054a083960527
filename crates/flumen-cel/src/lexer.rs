//! The words and signs of an expression, with their places.
//!
//! The parser has its own; these are for measuring an expression before it is parsed, and for saying
//! where in it the checker found a mistake.

/// A part of an expression that cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    /// In bytes from the start.
    pub start: usize,
}

pub(crate) fn tokens(source: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &source[at..];
            let space = rest.len() - rest.trim_start().len();
            let comment = if rest[space..].starts_with("//") {
                rest[space..].find('\n').unwrap_or(rest.len() - space)
            } else {
                0
            };
            at += space + comment;
            if space + comment == 0 {
                break;
            }
        }
        let rest = &source[at..];
        let length = length(rest)?;
        let token = Token { text: &rest[..length], start: at };
        at += length;
        Some(token)
    })
}

/// How many bytes the first token has.
fn length(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if let Some(length) = quoted(rest) {
        return Some(length);
    }
    if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(number(rest));
    }
    if is_word(first) {
        return Some(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    let pairs = ["&&", "||", "==", "!=", "<=", ">="];
    let is_pair = pairs.iter().any(|pair| rest.starts_with(pair));
    Some(if is_pair { 2 } else { first.len_utf8() })
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Digits with their letters, one sign after an exponent, and a dot before further digits.
fn number(rest: &str) -> usize {
    let hexadecimal = rest.starts_with("0x");
    let bytes = rest.as_bytes();
    let continues = |at: usize| match bytes[at] {
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        b'+' | b'-' => !hexadecimal && matches!(bytes[at - 1], b'e' | b'E'),
        byte => is_word(byte.into()),
    };
    (1..bytes.len()).find(|&at| !continues(at)).unwrap_or(bytes.len())
}

/// A string in any of its spellings. One that does not end takes the rest.
fn quoted(rest: &str) -> Option<usize> {
    let prefix =
        rest.find(|c: char| !matches!(c, 'r' | 'R' | 'b' | 'B')).filter(|len| *len <= 2)?;
    let raw = rest[..prefix].contains(['r', 'R']);
    let body = &rest[prefix..];
    let fence = ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|it| body.starts_with(it))?;
    let mut at = fence.len();
    while at < body.len() {
        if body[at..].starts_with(fence) {
            return Some(prefix + at + fence.len());
        }
        let escaped = body[at..].starts_with('\\') && !raw;
        let mut chars = body[at..].chars();
        let step = chars.next().map_or(1, char::len_utf8);
        at += if escaped { step + chars.next().map_or(0, char::len_utf8) } else { step };
    }
    Some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let found: Vec<_> = tokens(source).map(|token| token.text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_signs_numbers() {
        check("a.b&&!c||d<=1", &["a", ".", "b", "&&", "!", "c", "||", "d", "<=", "1"]);
        check("1.5e-3+0xFFu - .5", &["1.5e-3", "+", "0xFFu", "-", ".5"]);
        check("x ? y : z // why\n+ 1", &["x", "?", "y", ":", "z", "+", "1"]);
        check("a.?b[?0]", &["a", ".", "?", "b", "[", "?", "0", "]"]);
        check("1.a + 1.5.b", &["1", ".", "a", "+", "1.5", ".", "b"]);
        check("ü", &["ü"]);
        check(" // only", &[]);
    }

    #[test]
    fn strings_are_whole() {
        check(r#"'a\'b' + "c(" "#, &[r"'a\'b'", "+", r#""c(""#]);
        check(r"r'\' b'x' rb'y'", &[r"r'\'", "b'x'", "rb'y'"]);
        check("'''a'b''' \"\"\"c\"d\"\"\"", &["'''a'b'''", "\"\"\"c\"d\"\"\""]);
        check("'never ends", &["'never ends"]);
        check("'ends in a \\", &["'ends in a \\"]);
    }
}
