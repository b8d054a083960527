//! Text to tokens. Accepts what Go accepts, and says what Go says of the rest.

use std::{borrow::Cow, fmt::Write as _};

use super::{Tape, Token, escape};

/// Levels of arrays and objects in a text.
const MAX_DEPTH: usize = 10_000;

const BEGIN_VALUE: &str = "looking for beginning of value";
const BEGIN_KEY: &str = "looking for beginning of object key string";

/// The tokens of a text, or what is wrong with it.
pub(crate) fn scan(text: &[u8]) -> Result<Tape<'_>, String> {
    let mut scanner = Scanner { text, place: 0, tokens: Vec::with_capacity(text.len() / 8) };
    scanner.run()?;
    Ok(Tape(scanner.tokens))
}

struct Scanner<'a> {
    text: &'a [u8],
    place: usize,
    tokens: Vec<Token<'a>>,
}

/// What may come next.
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    /// A comma or the end of what is open.
    Separator,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), String> {
        let mut open: Vec<usize> = Vec::new();
        let mut expect = Expect::Value;
        loop {
            self.skip_space();
            let byte = self.text.get(self.place).copied();
            expect = match (expect, byte) {
                (Expect::Separator, byte) => match (open.last(), byte) {
                    (None, None) => return Ok(()),
                    (None, Some(byte)) => return Err(invalid(byte, "after top-level value")),
                    (Some(_), None) => return Err(unexpected_end()),
                    (Some(start), Some(byte)) => {
                        let is_object = matches!(self.tokens[*start], Token::Object(_));
                        self.place += 1;
                        match (byte, is_object) {
                            (b',', true) => Expect::Key,
                            (b',', false) => Expect::Value,
                            (b'}', true) | (b']', false) => {
                                self.close(&mut open);
                                Expect::Separator
                            }
                            (byte, true) => {
                                return Err(invalid(byte, "after object key:value pair"));
                            }
                            (byte, false) => return Err(invalid(byte, "after array element")),
                        }
                    }
                },
                (_, None) => return Err(unexpected_end()),
                (Expect::KeyOrEnd, Some(b'}')) | (Expect::ValueOrEnd, Some(b']')) => {
                    self.place += 1;
                    self.close(&mut open);
                    Expect::Separator
                }
                (Expect::Key | Expect::KeyOrEnd, Some(byte)) => {
                    if byte != b'"' {
                        return Err(invalid(byte, BEGIN_KEY));
                    }
                    self.key()?;
                    Expect::Value
                }
                (Expect::Value | Expect::ValueOrEnd, Some(byte @ (b'{' | b'['))) => {
                    open.push(self.tokens.len());
                    if open.len() > MAX_DEPTH {
                        return Err(invalid(byte, "exceeded max depth"));
                    }
                    self.place += 1;
                    if byte == b'{' {
                        self.tokens.push(Token::Object(0));
                        Expect::KeyOrEnd
                    } else {
                        self.tokens.push(Token::Array(0));
                        Expect::ValueOrEnd
                    }
                }
                (Expect::Value | Expect::ValueOrEnd, Some(byte)) => {
                    self.literal(byte)?;
                    Expect::Separator
                }
            };
        }
    }

    fn close(&mut self, open: &mut Vec<usize>) {
        let end = self.tokens.len();
        if let Some(start) = open.pop() {
            match &mut self.tokens[start] {
                Token::Array(place) | Token::Object(place) => *place = end,
                _ => {}
            }
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.place) {
            self.place += 1;
        }
    }

    /// The next byte. Go looks at a space behind the end, to see whether it completes a literal.
    fn peek(&self) -> u8 {
        self.text.get(self.place).copied().unwrap_or(b' ')
    }

    fn key(&mut self) -> Result<(), String> {
        let key = self.string()?;
        self.tokens.push(Token::String(key));
        self.skip_space();
        match self.text.get(self.place) {
            Some(b':') => self.place += 1,
            Some(byte) => return Err(invalid(*byte, "after object key")),
            None => return Err(unexpected_end()),
        }
        Ok(())
    }

    fn literal(&mut self, first: u8) -> Result<(), String> {
        let token = match first {
            b'"' => Token::String(self.string()?),
            b'-' | b'0'..=b'9' => Token::Number(Cow::Borrowed(self.number()?)),
            b't' => self.word("true", Token::Bool(true))?,
            b'f' => self.word("false", Token::Bool(false))?,
            b'n' => self.word("null", Token::Null)?,
            _ => return Err(invalid(first, BEGIN_VALUE)),
        };
        self.tokens.push(token);
        Ok(())
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, String> {
        for expected in word.bytes() {
            let byte = self.peek();
            if byte != expected {
                let expected = char::from(expected);
                return Err(invalid(byte, &format!("in literal {word} (expecting '{expected}')")));
            }
            self.place += 1;
        }
        Ok(token)
    }

    fn number(&mut self) -> Result<&'a str, String> {
        let start = self.place;
        if self.peek() == b'-' {
            self.place += 1;
        }
        match self.peek() {
            b'0' => self.place += 1,
            b'1'..=b'9' => self.digits(),
            byte => return Err(invalid(byte, "in numeric literal")),
        }
        if self.peek() == b'.' {
            self.place += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let b'e' | b'E' = self.peek() {
            self.place += 1;
            if let b'+' | b'-' = self.peek() {
                self.place += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(std::str::from_utf8(&self.text[start..self.place]).unwrap_or_default())
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        if !self.peek().is_ascii_digit() {
            return Err(invalid(self.peek(), context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_ascii_digit() {
            self.place += 1;
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.place += 1;
        let start = self.place;
        loop {
            let byte = *self.text.get(self.place).ok_or_else(unexpected_end)?;
            self.place += 1;
            match byte {
                b'"' => return Ok(escape::text(&self.text[start..self.place - 1])),
                b'\\' => self.escape()?,
                0..0x20 => return Err(invalid(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        let byte = self.peek();
        self.place += 1;
        match byte {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let byte = self.peek();
                    if !byte.is_ascii_hexdigit() {
                        return Err(invalid(byte, "in \\u hexadecimal character escape"));
                    }
                    self.place += 1;
                }
                Ok(())
            }
            _ => Err(invalid(byte, "in string escape code")),
        }
    }
}

fn unexpected_end() -> String {
    "unexpected end of JSON input".to_owned()
}

fn invalid(byte: u8, context: &str) -> String {
    let mut message = String::from("invalid character '");
    match byte {
        b'\'' => message.push_str("\\'"),
        b'\\' => message.push_str("\\\\"),
        0x07 => message.push_str("\\a"),
        0x08 => message.push_str("\\b"),
        0x0b => message.push_str("\\v"),
        0x0c => message.push_str("\\f"),
        b'\n' => message.push_str("\\n"),
        b'\r' => message.push_str("\\r"),
        b'\t' => message.push_str("\\t"),
        0x20..=0x7e | 0xa1..=0xac | 0xae.. => message.push(char::from(byte)),
        0..0x80 => _ = write!(message, "\\x{byte:02x}"),
        _ => _ = write!(message, "\\u{byte:04x}"),
    }
    message.push_str("' ");
    message.push_str(context);
    message
}
