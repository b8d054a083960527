//! Directives, tags, anchors: everything that is made of names.

use super::{Fault, Mark, Piece, Scanner, Tag, TokenKind, cursor::small};

impl<'a> Scanner<'a> {
    /// A `%YAML` or `%TAG` line.
    pub(super) fn scan_directive(&mut self) -> Result<TokenKind, Fault> {
        let start = self.cursor.mark();
        self.cursor.advance(1);
        let name = self.take_while(is_name);
        if name.is_empty() {
            return Err(self.fault(start, "could not find expected directive name"));
        }
        if !self.cursor.is_blank_or_end(self.cursor.pos) {
            return Err(self.fault(start, "found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return Err(self.fault(start, "found unknown directive name")),
        };
        self.cursor.skip_blanks();
        if self.cursor.byte() == b'#' {
            self.cursor.jump(self.cursor.line_end(self.cursor.pos));
        }
        if !self.cursor.is_break_or_end(self.cursor.pos) {
            return Err(self.fault(start, "did not find expected comment or line break"));
        }
        self.cursor.skip_break();
        Ok(kind)
    }

    fn version(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.cursor.skip_blanks();
        let major = self.version_number(start)?;
        if self.cursor.byte() != b'.' {
            return Err(self.fault(start, "did not find expected digit or '.' character"));
        }
        self.cursor.advance(1);
        let minor = self.version_number(start)?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn version_number(&mut self, start: Mark) -> Result<u8, Fault> {
        let mut number = 0;
        let mut digits = 0;
        while self.cursor.byte().is_ascii_digit() {
            digits += 1;
            if digits > 2 {
                return Err(self.fault(start, "found extremely long version number"));
            }
            number = number * 10 + (self.cursor.byte() - b'0');
            self.cursor.advance(1);
        }
        if digits == 0 {
            return Err(self.fault(start, "did not find expected version number"));
        }
        Ok(number)
    }

    fn tag_directive(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.cursor.skip_blanks();
        let handle = self.tag_handle(start, true)?.to_owned();
        if !self.cursor.is_blank(self.cursor.pos) {
            return Err(self.fault(start, "did not find expected whitespace"));
        }
        self.cursor.skip_blanks();
        let suffix = self.tag_uri(start, "")?;
        if !self.cursor.is_blank_or_end(self.cursor.pos) {
            return Err(self.fault(start, "did not find expected whitespace or line break"));
        }
        Ok(TokenKind::TagDirective(Box::new(Tag { handle, suffix })))
    }

    /// The name behind `&` or `*`.
    pub(super) fn scan_anchor_name(&mut self, start: Mark) -> Result<Piece, Fault> {
        self.cursor.advance(1);
        let first = self.cursor.pos;
        let name = self.take_while(is_name);
        let ends = self.cursor.is_blank_or_end(self.cursor.pos)
            || matches!(self.cursor.byte(), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            let problem = "did not find expected alphabetic or numeric character";
            return Err(self.fault(start, problem));
        }
        Ok(Piece::Source { start: small(first), end: small(self.cursor.pos) })
    }

    /// A tag: `!<uri>`, `!handle!suffix`, `!suffix` or `!` alone. The handle is empty in the first
    /// and the last.
    pub(super) fn scan_tag(&mut self, start: Mark) -> Result<Tag, Fault> {
        let tag = if self.cursor.at(self.cursor.pos + 1) == b'<' {
            self.cursor.advance(2);
            let suffix = self.tag_uri(start, "")?;
            if self.cursor.byte() != b'>' {
                return Err(self.fault(start, "did not find the expected '>'"));
            }
            self.cursor.advance(1);
            Tag { handle: String::new(), suffix }
        } else {
            let handle = self.tag_handle(start, false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                let handle = handle.to_owned();
                Tag { handle, suffix: self.tag_uri(start, "")? }
            } else {
                let suffix = self.tag_uri(start, handle)?;
                match suffix.as_str() {
                    "" => Tag { handle: String::new(), suffix: "!".to_owned() },
                    _ => Tag { handle: "!".to_owned(), suffix },
                }
            }
        };
        if !self.cursor.is_blank_or_end(self.cursor.pos) {
            return Err(self.fault(start, "did not find expected whitespace or line break"));
        }
        Ok(tag)
    }

    /// `!name!`, or as much of it as there is. A directive needs all of it or a lone `!`.
    fn tag_handle(&mut self, start: Mark, directive: bool) -> Result<&'a str, Fault> {
        let first = self.cursor.pos;
        if self.cursor.byte() != b'!' {
            return Err(self.fault(start, "did not find expected '!'"));
        }
        self.cursor.advance(1);
        let name = self.take_while(is_name);
        if self.cursor.byte() == b'!' {
            self.cursor.advance(1);
        } else if directive && !name.is_empty() {
            return Err(self.fault(start, "did not find expected '!'"));
        }
        Ok(self.cursor.text().get(first..self.cursor.pos).unwrap_or_default())
    }

    /// A tag URI, which continues what was taken for a handle, without its `!`.
    fn tag_uri(&mut self, start: Mark, head: &str) -> Result<String, Fault> {
        let mut uri = head.get(1..).unwrap_or_default().as_bytes().to_vec();
        let mut found = !head.is_empty();
        loop {
            match self.cursor.byte() {
                b'%' => self.uri_escape(start, &mut uri)?,
                byte if is_uri(byte) => {
                    uri.push(byte);
                    self.cursor.advance(1);
                }
                _ => break,
            }
            found = true;
        }
        if !found {
            return Err(self.fault(start, "did not find expected tag URI"));
        }
        Ok(String::from_utf8(uri)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// The `%xx` sequences of one character.
    fn uri_escape(&mut self, start: Mark, uri: &mut Vec<u8>) -> Result<(), Fault> {
        let mut remaining = None;
        while remaining != Some(0) {
            let digit = |offset| char::from(self.cursor.at(self.cursor.pos + offset)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.cursor.byte(), digit(1), digit(2)) else {
                return Err(self.fault(start, "did not find URI escaped octet"));
            };
            let octet = u8::try_from((high << 4) | low).unwrap_or_default();
            let left = match (remaining, octet) {
                (None, 0x00..=0x7F) => 0,
                (None, 0xC0..=0xDF) => 1,
                (None, 0xE0..=0xEF) => 2,
                (None, 0xF0..=0xF7) => 3,
                (None, _) => {
                    return Err(self.fault(start, "found an incorrect leading UTF-8 octet"));
                }
                (Some(left), 0x80..=0xBF) => left - 1,
                (Some(_), _) => {
                    return Err(self.fault(start, "found an incorrect trailing UTF-8 octet"));
                }
            };
            remaining = Some(left);
            uri.push(octet);
            self.cursor.advance(3);
        }
        Ok(())
    }

    fn take_while(&mut self, accept: fn(u8) -> bool) -> &'a str {
        let start = self.cursor.pos;
        while accept(self.cursor.byte()) {
            self.cursor.advance(1);
        }
        self.cursor.text().get(start..self.cursor.pos).unwrap_or_default()
    }
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_uri(byte: u8) -> bool {
    is_name(byte)
        || matches!(
            byte,
            b';' | b'/'
                | b'?'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b','
                | b'.'
                | b'!'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
                | b'['
                | b']'
        )
}
