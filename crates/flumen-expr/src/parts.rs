//! The shape that versions and the versions in constraints share: `v1.2.3-pre+build`.

/// A version cut into its texts; what is absent is empty.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) numbers: [&'a str; 3],
    pub(crate) pre: &'a str,
    pub(crate) build: &'a str,
}

impl<'a> Parts<'a> {
    /// Cuts the longest version off the front of `text` and returns what follows it.
    ///
    /// `in_number` says which bytes a number is made of: a constraint also takes wildcards.
    pub(crate) fn cut(text: &'a str, in_number: fn(u8) -> bool) -> Option<(Self, &'a str)> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (major, mut rest) = split_while(text, in_number);
        if major.is_empty() {
            return None;
        }
        let mut numbers = [major, "", ""];
        for number in &mut numbers[1..] {
            let Some((digits, after)) = after_mark(rest, '.', in_number) else { break };
            (*number, rest) = (digits, after);
        }
        let (pre, rest) = identifiers(rest, '-');
        let (build, rest) = identifiers(rest, '+');
        Some((Self { numbers, pre, build }, rest))
    }
}

/// Dot-separated identifiers behind `mark`; empty when there are none.
fn identifiers(text: &str, mark: char) -> (&str, &str) {
    let Some((_, mut rest)) = after_mark(text, mark, in_identifier) else { return ("", text) };
    while let Some((_, after)) = after_mark(rest, '.', in_identifier) {
        rest = after;
    }
    (&text[1..text.len() - rest.len()], rest)
}

fn in_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn after_mark(text: &str, mark: char, member: fn(u8) -> bool) -> Option<(&str, &str)> {
    let (found, rest) = split_while(text.strip_prefix(mark)?, member);
    (!found.is_empty()).then_some((found, rest))
}

fn split_while(text: &str, member: fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !member(byte)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, numbers: [&str; 3], pre: &str, build: &str, rest: &str) {
        let found = Parts::cut(text, |byte| byte.is_ascii_digit());
        assert_eq!(found, Some((Parts { numbers, pre, build }, rest)));
    }

    #[test]
    fn the_longest_version_is_cut_off() {
        check("1", ["1", "", ""], "", "", "");
        check("v1.20-rc.1+b, 2", ["1", "20", ""], "rc.1", "b", ", 2");
        check("1.2.3.4", ["1", "2", "3"], "", "", ".4");
        check("1.2.-a", ["1", "2", ""], "", "", ".-a");
        check("1.2.3-a..b", ["1", "2", "3"], "a", "", "..b");
        check("1.2.3--+", ["1", "2", "3"], "-", "", "+");
        assert_eq!(Parts::cut("beta", |byte| byte.is_ascii_digit()), None);
        assert_eq!(Parts::cut("ü", |byte| byte.is_ascii_digit()), None);
    }
}
