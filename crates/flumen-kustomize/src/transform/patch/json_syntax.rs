//! Whether a text is JSON.
//!
//! A patch that begins with a bracket must be JSON, although it is read by the YAML reader: kustomize
//! refuses flow collections that YAML would allow, such as those with plain keys.

/// Levels of nesting, the same limit that reading has.
const MAX_DEPTH: usize = 1_000;

pub(super) fn is_json(text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    rest.value(0).is_some() && rest.skip_space().is_empty()
}

/// What is left of the text. Each method takes what it recognises, or nothing if there is a mistake.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn skip_space(&mut self) -> &[u8] {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let spaces = self.0.iter().take_while(|byte| is_space(byte)).count();
        self.0 = &self.0[spaces..];
        self.0
    }

    fn take(&mut self, wanted: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(wanted)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match *self.skip_space().first()? {
            b'{' => self.list(depth, b"}", |rest| {
                rest.skip_space();
                rest.string()?;
                rest.skip_space();
                rest.take(b":")?;
                rest.value(depth + 1)
            }),
            b'[' => self.list(depth, b"]", |rest| rest.value(depth + 1)),
            b'"' => self.string(),
            b't' => self.take(b"true"),
            b'f' => self.take(b"false"),
            b'n' => self.take(b"null"),
            _ => self.number(),
        }
    }

    /// Items with commas between them, from the opening sign to the closing one.
    fn list(
        &mut self,
        depth: usize,
        end: &[u8],
        item: impl Fn(&mut Self) -> Option<()>,
    ) -> Option<()> {
        if depth >= MAX_DEPTH {
            return None;
        }
        self.0 = self.0.get(1..)?;
        self.skip_space();
        if self.take(end).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            self.skip_space();
            if self.take(end).is_some() {
                return Some(());
            }
            self.take(b",")?;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.take(b"\"")?;
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            match byte {
                b'"' => return Some(()),
                b'\\' => {
                    let (&escaped, rest) = self.0.split_first()?;
                    self.0 = rest;
                    match escaped {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            let (digits, rest) = self.0.split_at_checked(4)?;
                            if !digits.iter().all(u8::is_ascii_hexdigit) {
                                return None;
                            }
                            self.0 = rest;
                        }
                        _ => return None,
                    }
                }
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b"-");
        if self.take(b"0").is_none() {
            self.digits()?;
        }
        if self.take(b".").is_some() {
            self.digits()?;
        }
        if self.take(b"e").or_else(|| self.take(b"E")).is_some() {
            let _ = self.take(b"+").or_else(|| self.take(b"-"));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = &self.0[count..];
        (count > 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn json_is_told_from_flow_yaml() {
        let good = [
            "[]",
            " [ {} , [\"a\\u00e9\\n\"], -1.5e+3, true, null, 0 ] ",
            "{\"a\": {\"b\": [1, 2]}}",
        ];
        let bad =
            ["", "[", "[a]", "[1,]", "{a: 1}", "[\"a\\x\"]", "[01]", "[1] x", "[+1]", "['a']"];
        for text in good {
            assert!(is_json(text), "{text}");
        }
        for text in bad {
            assert!(!is_json(text), "{text}");
        }
        assert!(!is_json(&"[".repeat(100_000)));
    }
}
