//! Patterns, with the messages that Go has for those it cannot read.

mod classes;

pub use regex_lite::Regex;
use regex_lite::RegexBuilder;

/// Compiles a pattern, which must not become larger than `limit` bytes by repetition.
pub fn pattern(source: &str, limit: usize) -> Result<Regex, String> {
    // Some of what Go refuses would compile here.
    let compiled = match problem(source) {
        Some(problem) => Err(problem),
        None => classes::spelled_out(source).and_then(|source| {
            RegexBuilder::new(&source).size_limit(limit).build().map_err(|error| error.to_string())
        }),
    };
    compiled.map_err(|problem| format!("error parsing regexp: {problem}"))
}

/// What Go would say first about a pattern, if anything.
fn problem(source: &str) -> Option<String> {
    let mut scan = Scan { rest: source, source, depth: 0, may_repeat: false, repeated: None };
    let found = scan.run();
    found.or_else(|| (scan.depth > 0).then(|| format!("missing closing ): `{source}`")))
}

struct Scan<'a> {
    source: &'a str,
    rest: &'a str,
    depth: usize,
    /// Whether something stands before that can be repeated.
    may_repeat: bool,
    /// The sign that repeated it already.
    repeated: Option<&'a str>,
}

impl<'a> Scan<'a> {
    fn run(&mut self) -> Option<String> {
        while let Some(first) = self.rest.chars().next() {
            let before = self.rest;
            let mut is_repetition = false;
            match first {
                '(' => {
                    match self.group() {
                        Ok(is_open) => self.depth += usize::from(is_open),
                        Err(problem) => return Some(problem),
                    }
                    self.may_repeat = false;
                }
                ')' => {
                    if self.depth == 0 {
                        return Some(format!("unexpected ): `{}`", self.source));
                    }
                    self.depth -= 1;
                    self.advance(1);
                    self.may_repeat = true;
                }
                '|' => {
                    self.advance(1);
                    self.may_repeat = false;
                }
                '[' => {
                    if let Some(problem) = self.class() {
                        return Some(problem);
                    }
                    self.may_repeat = true;
                }
                '*' | '+' | '?' | '{' => match self.repetition(before) {
                    Ok(true) => is_repetition = true,
                    Ok(false) => self.may_repeat = true,
                    Err(problem) => return Some(problem),
                },
                '\\' => {
                    if let Some(problem) = self.escape() {
                        return Some(problem);
                    }
                    self.may_repeat = true;
                }
                other => {
                    self.advance(other.len_utf8());
                    self.may_repeat = true;
                }
            }
            self.repeated = is_repetition.then(|| &before[..before.len() - self.rest.len()]);
        }
        None
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// An opening bracket with what may follow it; whether it is still open then.
    fn group(&mut self) -> Result<bool, String> {
        let Some(flags) = self.rest.strip_prefix("(?") else {
            self.advance(1);
            return Ok(true);
        };
        if let Some(named) = flags.strip_prefix("P<").or_else(|| flags.strip_prefix('<')) {
            if flags.starts_with("<=") || flags.starts_with("<!") {
                return Err(format!("invalid or unsupported Perl syntax: `(?{}`", &flags[..2]));
            }
            return match named.find('>') {
                Some(end) => {
                    let consumed = self.rest.len() - named.len() + end + 1;
                    self.advance(consumed);
                    Ok(true)
                }
                None => Err(format!("invalid named capture: `{}`", self.rest)),
            };
        }
        let end = flags.find([':', ')']).unwrap_or(flags.len());
        let is_flags = flags[..end].chars().all(|c| "imsU-".contains(c));
        if is_flags && end < flags.len() {
            self.advance(2 + end + 1);
            // `(?i)` is closed at once.
            return Ok(flags[end..].starts_with(':'));
        }
        let shown = flags.chars().next().map_or(0, char::len_utf8);
        Err(format!("invalid or unsupported Perl syntax: `(?{}`", &flags[..shown]))
    }

    fn class(&mut self) -> Option<String> {
        let start = self.rest;
        let mut chars = start.char_indices().skip(1).peekable();
        if chars.peek().is_some_and(|(_, c)| *c == '^') {
            chars.next();
        }
        let mut is_first = true;
        while let Some((at, char)) = chars.next() {
            match char {
                ']' if !is_first => {
                    self.advance(at + 1);
                    return None;
                }
                '[' if start[at..].starts_with("[:") => {
                    if let Some(end) = start[at..].find(":]") {
                        while chars.peek().is_some_and(|(next, _)| *next < at + end + 2) {
                            chars.next();
                        }
                    }
                }
                '\\' => {
                    chars.next();
                }
                low => {
                    let rest = &start[at + low.len_utf8()..];
                    let high = rest.strip_prefix('-').and_then(|it| it.chars().next());
                    if let Some(high) = high.filter(|c| *c != ']' && *c != '\\')
                        && high < low
                    {
                        return Some(format!("invalid character class range: `{low}-{high}`"));
                    }
                }
            }
            is_first = false;
        }
        Some(format!("missing closing ]: `{start}`"))
    }

    /// Whether a sign repeats what is before it; `{` may be a plain character.
    fn repetition(&mut self, before: &'a str) -> Result<bool, String> {
        let mut length = 1;
        if before.starts_with('{') {
            let Some((end, is_valid)) = counts(before) else {
                self.advance(1);
                return Ok(false);
            };
            if !is_valid {
                return Err(format!("invalid repeat count: `{}`", &before[..end]));
            }
            length = end;
        }
        let sign = &before[..length];
        if !self.may_repeat {
            return Err(format!("missing argument to repetition operator: `{sign}`"));
        }
        if let Some(former) = self.repeated {
            return Err(format!("invalid nested repetition operator: `{former}{sign}`"));
        }
        // A question mark after the sign belongs to it: as few as possible.
        let is_lazy = before[length..].starts_with('?');
        self.advance(length + usize::from(is_lazy));
        Ok(true)
    }

    fn escape(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        chars.next();
        let Some(escaped) = chars.next() else {
            return Some("trailing backslash at end of expression: ``".to_owned());
        };
        let known = "AbBzdDsSwWaftnrvxpPQECpP".contains(escaped)
            || escaped.is_ascii_punctuation()
            || escaped.is_ascii_digit() && escaped == '0';
        let length = 1 + escaped.len_utf8();
        if !known {
            return Some(format!("invalid escape sequence: `{}`", &self.rest[..length]));
        }
        self.advance(length);
        None
    }
}

/// `{2}`, `{2,}` or `{2,3}`: its length, and whether the counts are allowed.
fn counts(text: &str) -> Option<(usize, bool)> {
    const MOST: u32 = 1000;
    let end = text.find('}')?;
    let (least, most) = match text[1..end].split_once(',') {
        Some((least, most)) => (least, Some(most)),
        None => (&text[1..end], None),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(least) || most.is_some_and(|most| !most.is_empty() && !is_number(most)) {
        return None;
    }
    let value = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
    let least = value(least);
    let most = most.filter(|it| !it.is_empty()).map_or(least, value);
    Some((end + 1, least <= MOST && most <= MOST && least <= most))
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let error = pattern(source, 100_000).expect_err("not a pattern");
        assert_eq!(error, format!("error parsing regexp: {expected}"));
    }

    #[test]
    fn mistakes_are_told_as_go_tells_them() {
        check("(", "missing closing ): `(`");
        check("a)", "unexpected ): `a)`");
        check("[a", "missing closing ]: `[a`");
        check("x[z-a]", "invalid character class range: `z-a`");
        check("*", "missing argument to repetition operator: `*`");
        check("a|*", "missing argument to repetition operator: `*`");
        check("a**", "invalid nested repetition operator: `**`");
        check("a{1001}", "invalid repeat count: `{1001}`");
        check("(?=a)", "invalid or unsupported Perl syntax: `(?=`");
        check("(?!a)", "invalid or unsupported Perl syntax: `(?!`");
        check("\\", "trailing backslash at end of expression: ``");
        check("\\q", "invalid escape sequence: `\\q`");
    }

    #[test]
    fn classes_of_unicode_are_known() {
        let matches =
            |source: &str, text: &str| pattern(source, 100_000).expect("a pattern").is_match(text);
        assert!(matches(r"^\p{L}+$", "größe"));
        assert!(matches(r"^[\p{Lu}\d]+$", "Ä1"));
        assert!(matches(r"^\pN\PN$", "٣x"));
        assert!(matches(r"^\p{Greek}[^\p{Greek}]$", "αa"));
        assert!(!matches(r"\p{^Greek}", "α"));
        check(r"\p{Klingon}", "invalid character class range: `\\p{Klingon}`");
        check(r"[\p{l}]", "invalid character class range: `\\p{l}`");
    }

    #[test]
    fn ordinary_patterns_compile() {
        for source in
            ["^a+$", "(?i)x", "[]a]", "[a\\]]+?", "(?:a|b){2,3}", "\\d+\\.\\w", "(?P<n>a)"]
        {
            assert!(pattern(source, 100_000).is_ok(), "{source}");
        }
    }
}
