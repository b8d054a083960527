//! Whether a text is JSON.
//!
//! The YAML reader reads JSON, but also much that is not. Where kustomize insists on JSON, this
//! looks first.

use flumen_yaml::Pos;

use crate::Error;

/// Refuses a text that is YAML but no JSON.
pub(crate) fn check(text: &str, first_line: u32) -> Result<(), Error> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    scan.document().map_err(|problem| {
        let before = &text.as_bytes()[..scan.at.min(text.len())];
        let lines = before.split(|byte| *byte == b'\n').count() - 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let pos = Pos::new(first_line.saturating_add(number(lines)), number(column));
        Error::MalformedPatch { message: scan.complaint(problem), pos }
    })
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What was looked for when something else came.
type Wanted = &'static str;

impl Scan<'_> {
    /// Values nest without recursion: the open brackets are a stack.
    fn document(&mut self) -> Result<(), Wanted> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.next() {
                Some(b'{') => {
                    if self.peek() == Some(b'}') {
                        self.next();
                    } else {
                        self.key()?;
                        open.push(b'}');
                        continue;
                    }
                }
                Some(b'[') => {
                    if self.peek() == Some(b']') {
                        self.next();
                    } else {
                        open.push(b']');
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(byte) if byte == b'-' || byte.is_ascii_digit() => {
                    self.at -= 1;
                    self.number()?;
                }
                Some(b't') => self.word(b"rue")?,
                Some(b'f') => self.word(b"alse")?,
                Some(b'n') => self.word(b"ull")?,
                other => return Err(self.back(other, "looking for beginning of value")),
            }
            loop {
                let Some(close) = open.last().copied() else {
                    return match self.next() {
                        None => Ok(()),
                        other => Err(self.back(other, "after top-level value")),
                    };
                };
                match self.next() {
                    Some(b',') => {
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => drop(open.pop()),
                    other if close == b'}' => {
                        return Err(self.back(other, "after object key:value pair"));
                    }
                    other => return Err(self.back(other, "after array element")),
                }
            }
        }
    }

    fn key(&mut self) -> Result<(), Wanted> {
        match self.next() {
            Some(b'"') => self.string()?,
            other => return Err(self.back(other, "looking for beginning of object key string")),
        }
        match self.next() {
            Some(b':') => Ok(()),
            other => Err(self.back(other, "after object key")),
        }
    }

    fn string(&mut self) -> Result<(), Wanted> {
        loop {
            match self.take() {
                Some(b'"') => return Ok(()),
                Some(b'\\') => match self.take() {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                    Some(b'u') => {
                        for _ in 0..4 {
                            match self.take() {
                                Some(byte) if byte.is_ascii_hexdigit() => {}
                                other => {
                                    return Err(
                                        self.back(other, "in \\u hexadecimal character escape")
                                    );
                                }
                            }
                        }
                    }
                    other => return Err(self.back(other, "in string escape code")),
                },
                Some(byte) if byte >= b' ' => {}
                other => return Err(self.back(other, "in string literal")),
            }
        }
    }

    fn number(&mut self) -> Result<(), Wanted> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.digits() {
            0 => return Err("in numeric literal"),
            count if count > 1 && self.bytes.get(self.at - count) == Some(&b'0') => {
                self.at -= count - 1;
                return Err("after array element");
            }
            _ => {}
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err("after decimal point in numeric literal");
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err("in exponent of numeric literal");
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn word(&mut self, rest: &[u8]) -> Result<(), Wanted> {
        for wanted in rest {
            match self.take() {
                Some(byte) if byte == *wanted => {}
                other => return Err(self.back(other, "in literal")),
            }
        }
        Ok(())
    }

    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        self.peek();
        self.take()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// Steps back to a byte that was not wanted.
    fn back(&mut self, byte: Option<u8>, wanted: Wanted) -> Wanted {
        self.at -= usize::from(byte.is_some());
        wanted
    }

    /// The words of Go's JSON decoder.
    fn complaint(&self, wanted: Wanted) -> String {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match String::from_utf8_lossy(rest.get(..4.min(rest.len())).unwrap_or_default())
            .chars()
            .next()
        {
            Some(found) => format!("invalid character {found:?} {wanted}"),
            None => "unexpected end of JSON input".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check as check_json;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match check_json(text, 1) {
            Ok(()) => "JSON".to_owned(),
            Err(error) => format!("{:?} {error}", error.pos()),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn json_is_accepted() {
        for text in [
            "[]",
            " [ { } , [ ] ] \n",
            r#"[{"a": [1, -2.5e+10, 0, 0.1], "b": {"c": null, "d": true, "e": false}}]"#,
            r#"["\"\\\/\b\f\n\r\t\u00e9é"]"#,
        ] {
            check(text, "JSON");
        }
    }

    #[test]
    fn what_only_yaml_allows_is_refused() {
        check(
            "[{op: add}]",
            "1:3 invalid character 'o' looking for beginning of object key string",
        );
        check("[1,\n2,]", "2:3 invalid character ']' looking for beginning of value");
        check(
            r#"[{"a": 1,}]"#,
            "1:10 invalid character '}' looking for beginning of object key string",
        );
        check("[1] # x", "1:5 invalid character '#' after top-level value");
        check("['a']", "1:2 invalid character '\\'' looking for beginning of value");
        check("[01]", "1:3 invalid character '1' after array element");
        check("[1", "1:3 unexpected end of JSON input");
        check("[nul]", "1:5 invalid character ']' in literal");
        check("[\"a\nb\"]", "1:4 invalid character '\\n' in string literal");
    }

    #[test]
    fn deep_texts_need_no_stack() {
        let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        check(&text, "JSON");
    }
}
