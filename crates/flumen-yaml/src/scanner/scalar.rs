//! Plain and quoted scalars.
//!
//! Nearly all of them lie on one line and say what they mean, so they become slices of the source.
//! The rest, folded over lines or with escapes, is put together in the scanner's scratch buffer.

use memchr::{memchr2, memchr3};

use super::{Fault, Mark, Piece, Scanner, cursor::small};
use crate::{Style, Text};

impl Scanner<'_> {
    /// A plain scalar that begins at the cursor.
    pub(super) fn scan_plain(&mut self, start: Mark) -> Result<(Piece, Style), Fault> {
        match self.plain_on_one_line() {
            Some(piece) => Ok((piece, Style::Plain)),
            None => self.scan_folded_plain(start),
        }
    }

    /// A plain scalar in the block context that ends with its line, before one that is indented less
    /// than a further line of the scalar would have to be.
    #[inline]
    fn plain_on_one_line(&mut self) -> Option<Piece> {
        if self.flow_level > 0 || !self.cursor.has_plain_breaks() {
            return None;
        }
        let start = self.cursor.pos;
        let bytes = self.cursor.bytes();
        let mut end = start;
        loop {
            end += bytes.get(end..)?.iter().position(|&byte| ENDS_PLAIN[usize::from(byte)])?;
            match bytes[end] {
                b'\n' => break,
                b':' if !self.cursor.is_blank_or_end(end + 1) => end += 1,
                b'#' if !self.cursor.is_blank(end - 1) => end += 1,
                _ => return None,
            }
        }
        let indentation = bytes.get(end + 1..)?.iter().position(|&byte| byte != b' ')?;
        let is_alone = i64::try_from(indentation).is_ok_and(|column| column <= self.indent)
            && !matches!(bytes[end + 1 + indentation], b'\n' | b'\t');
        let text_end = self.trim_blanks(start, end);
        if !is_alone || text_end - start > self.largest_scalar {
            return None;
        }
        self.cursor.jump(end);
        self.cursor.skip_break();
        self.cursor.advance(indentation);
        self.simple_key_allowed = true;
        self.collects_comments = true;
        Some(Piece::Source { start: small(start), end: small(text_end) })
    }

    fn scan_folded_plain(&mut self, start: Mark) -> Result<(Piece, Style), Fault> {
        let indent = self.indent + 1;
        let in_flow = self.flow_level > 0;
        // The slice that ends the scalar so far; what came on earlier lines is in the scratch.
        let mut segment = (self.cursor.pos, self.cursor.pos);
        let mut joined = false;
        let mut after_break = false;
        let mut leading_break = "";
        loop {
            if self.cursor.byte() == b'#' || self.cursor.is_document_indicator() {
                break;
            }
            let line_start = self.cursor.pos;
            let stop = if in_flow { self.plain_end_in_flow() } else { self.plain_end_in_block() };
            let text_end = self.trim_blanks(line_start, stop);
            if text_end > line_start {
                if after_break {
                    if !joined {
                        self.scratch.clear();
                        joined = true;
                    }
                    self.join(segment, leading_break);
                    after_break = false;
                }
                segment = (line_start, text_end);
            }
            self.cursor.jump(stop);
            if !self.cursor.is_break(stop) {
                break;
            }
            while self.cursor.is_blank_or_end(self.cursor.pos) && !self.cursor.at_end() {
                if self.cursor.is_break(self.cursor.pos) {
                    let read = self.cursor.read_break();
                    if after_break {
                        self.breaks.push_str(read);
                    } else {
                        after_break = true;
                        leading_break = read;
                        self.breaks.clear();
                    }
                    continue;
                }
                if self.cursor.byte() == b'\t' && i64::from(self.cursor.column()) < indent {
                    let problem = "found a tab character that violates indentation";
                    return Err(self.fault(start, problem));
                }
                self.cursor.advance(1);
            }
            if !in_flow && i64::from(self.cursor.column()) < indent {
                break;
            }
        }
        if after_break {
            self.simple_key_allowed = true;
            self.collects_comments = true;
        }
        Ok((self.finish(start, segment, joined)?, Style::Plain))
    }

    /// Where a plain scalar in the block context ends on this line: before `: `, before ` #` or at
    /// the line's end.
    fn plain_end_in_block(&self) -> usize {
        let start = self.cursor.pos;
        let line_end = self.cursor.line_end(start);
        let bytes = self.cursor.bytes();
        let mut from = start;
        while let Some(offset) = memchr2(b':', b'#', bytes.get(from..line_end).unwrap_or_default())
        {
            let hit = from + offset;
            let ends = match self.cursor.at(hit) {
                b':' => self.cursor.is_blank_or_end(hit + 1),
                _ => hit > start && self.cursor.is_blank(hit - 1),
            };
            if ends {
                return hit;
            }
            from = hit + 1;
        }
        line_end
    }

    fn plain_end_in_flow(&self) -> usize {
        let start = self.cursor.pos;
        let mut index = start;
        loop {
            match self.cursor.at(index) {
                b',' | b'?' | b'[' | b']' | b'{' | b'}' | b'\n' | b'\r' | 0 => return index,
                b':' if self.cursor.is_blank_or_end(index + 1) => return index,
                b'#' if index > start && self.cursor.is_blank(index - 1) => return index,
                0xC2 | 0xE2 if self.cursor.is_break(index) => return index,
                _ => index += 1,
            }
        }
    }

    fn trim_blanks(&self, start: usize, mut end: usize) -> usize {
        while end > start && self.cursor.is_blank(end - 1) {
            end -= 1;
        }
        end
    }

    /// Puts a finished part of a folded scalar into the scratch, and the line breaks behind it.
    fn join(&mut self, segment: (usize, usize), leading_break: &str) {
        let part = self.cursor.text().get(segment.0..segment.1).unwrap_or_default();
        self.scratch.push_str(part);
        self.push_folded(leading_break);
    }

    /// One line break becomes a space; of several, the first vanishes. LS and PS stay.
    fn push_folded(&mut self, leading_break: &str) {
        if leading_break != "\n" {
            self.scratch.push_str(leading_break);
        } else if self.breaks.is_empty() {
            self.scratch.push(' ');
        }
        self.scratch.push_str(&self.breaks);
        self.breaks.clear();
    }

    fn finish(
        &mut self,
        start: Mark,
        segment: (usize, usize),
        joined: bool,
    ) -> Result<Piece, Fault> {
        if !joined {
            return self.sliced(start, segment.0, segment.1);
        }
        let part = self.cursor.text().get(segment.0..segment.1).unwrap_or_default();
        self.scratch.push_str(part);
        self.made(start)
    }

    /// A part of the source.
    #[inline]
    fn sliced(&self, mark: Mark, start: usize, end: usize) -> Result<Piece, Fault> {
        if end - start > self.largest_scalar {
            return Err(too_large(mark));
        }
        Ok(Piece::Source { start: small(start), end: small(end) })
    }

    /// The scratch as a text of its own.
    pub(super) fn made(&mut self, mark: Mark) -> Result<Piece, Fault> {
        if self.scratch.len() > self.largest_scalar {
            return Err(too_large(mark));
        }
        let text = Text::from(self.scratch.as_str());
        // One giant scalar must not hold its memory for the rest of the stream.
        if self.scratch.capacity() > 1 << 20 {
            self.scratch = String::new();
        }
        Ok(Piece::Made(text))
    }

    /// A quoted scalar, whose opening quote is at the cursor.
    pub(super) fn scan_quoted(
        &mut self,
        start: Mark,
        single: bool,
    ) -> Result<(Piece, Style), Fault> {
        let style = if single { Style::SingleQuoted } else { Style::DoubleQuoted };
        self.cursor.advance(1);
        if let Some(end) = self.closing_quote_on_line(single) {
            let piece = self.sliced(start, self.cursor.pos, end)?;
            self.cursor.jump(end + 1);
            return Ok((piece, style));
        }
        self.scratch.clear();
        loop {
            if self.cursor.is_document_indicator() {
                return Err(self.fault(start, "found unexpected document indicator"));
            }
            if self.cursor.at_end() {
                return Err(self.fault(start, "found unexpected end of stream"));
            }
            let mut after_break = self.quoted_run(start, single)?;
            if self.cursor.byte() == if single { b'\'' } else { b'"' } {
                break;
            }
            self.quoted_blanks(&mut after_break);
        }
        self.cursor.advance(1);
        Ok((self.made(start)?, style))
    }

    /// The end of a quoted scalar that holds neither escapes nor line breaks.
    fn closing_quote_on_line(&self, single: bool) -> Option<usize> {
        if !self.cursor.has_plain_breaks() {
            return None;
        }
        let start = self.cursor.pos;
        let rest = self.cursor.bytes().get(start..)?;
        let end = if single {
            start + memchr2(b'\'', b'\n', rest)?
        } else {
            start + memchr3(b'"', b'\\', b'\n', rest)?
        };
        let closes = match self.cursor.at(end) {
            b'"' => true,
            b'\'' => self.cursor.at(end + 1) != b'\'',
            _ => false,
        };
        closes.then_some(end)
    }

    /// Takes characters up to a blank, a line break or the closing quote; true after an escaped line
    /// break.
    fn quoted_run(&mut self, start: Mark, single: bool) -> Result<bool, Fault> {
        let mut run = self.cursor.pos;
        while !self.cursor.is_blank_or_end(self.cursor.pos) {
            let byte = self.cursor.byte();
            match byte {
                b'\'' if single => {
                    self.push_source(run);
                    if self.cursor.at(self.cursor.pos + 1) != b'\'' {
                        return Ok(false);
                    }
                    self.scratch.push('\'');
                    self.cursor.advance(2);
                    run = self.cursor.pos;
                }
                b'"' if !single => break,
                b'\\' if !single => {
                    self.push_source(run);
                    if self.cursor.is_break(self.cursor.pos + 1) {
                        self.cursor.advance(1);
                        self.cursor.skip_break();
                        return Ok(true);
                    }
                    self.escape(start)?;
                    run = self.cursor.pos;
                }
                _ => self.cursor.advance(1),
            }
        }
        self.push_source(run);
        Ok(false)
    }

    fn push_source(&mut self, from: usize) {
        let part = self.cursor.text().get(from..self.cursor.pos).unwrap_or_default();
        self.scratch.push_str(part);
    }

    /// Takes blanks and line breaks inside quotes: blanks are kept unless a line ends behind them.
    fn quoted_blanks(&mut self, after_break: &mut bool) {
        let blanks = self.cursor.pos;
        let mut leading_break = "";
        let escaped = *after_break;
        self.breaks.clear();
        let mut blanks_end = blanks;
        loop {
            if self.cursor.is_blank(self.cursor.pos) {
                self.cursor.advance(1);
                if !*after_break {
                    blanks_end = self.cursor.pos;
                }
            } else if self.cursor.is_break(self.cursor.pos) {
                let read = self.cursor.read_break();
                if *after_break {
                    self.breaks.push_str(read);
                } else {
                    *after_break = true;
                    leading_break = read;
                }
            } else {
                break;
            }
        }
        if !*after_break {
            let part = self.cursor.text().get(blanks..blanks_end).unwrap_or_default();
            self.scratch.push_str(part);
        } else if escaped {
            self.scratch.push_str(&self.breaks);
        } else {
            self.push_folded(leading_break);
        }
    }

    /// Takes the escape sequence at the cursor.
    fn escape(&mut self, start: Mark) -> Result<(), Fault> {
        let (character, digits) = match self.cursor.at(self.cursor.pos + 1) {
            b'0' => ('\0', 0),
            b'a' => ('\x07', 0),
            b'b' => ('\x08', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\x0B', 0),
            b'f' => ('\x0C', 0),
            b'r' => ('\r', 0),
            b'e' => ('\x1B', 0),
            b' ' => (' ', 0),
            b'"' => ('"', 0),
            b'\'' => ('\'', 0),
            b'\\' => ('\\', 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{A0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => ('\0', 2),
            b'u' => ('\0', 4),
            b'U' => ('\0', 8),
            _ => return Err(self.fault(start, "found unknown escape character")),
        };
        self.cursor.advance(2);
        if digits == 0 {
            self.scratch.push(character);
            return Ok(());
        }
        let mut code = 0_u32;
        for offset in 0..digits {
            let Some(digit) = char::from(self.cursor.at(self.cursor.pos + offset)).to_digit(16)
            else {
                return Err(self.fault(start, "did not find expected hexdecimal number"));
            };
            code = (code << 4) | digit;
        }
        let Some(character) = char::from_u32(code) else {
            return Err(self.fault(start, "found invalid Unicode character escape code"));
        };
        self.scratch.push(character);
        self.cursor.advance(digits);
        Ok(())
    }
}

#[cold]
fn too_large(mark: Mark) -> Fault {
    Fault::scanner(mark, mark, "the scalar is too large: it exceeds the limit")
}

/// The bytes at which a plain scalar in the block context may end.
const ENDS_PLAIN: [bool; 256] = {
    let mut ends = [false; 256];
    ends[b'\n' as usize] = true;
    ends[b':' as usize] = true;
    ends[b'#' as usize] = true;
    ends
};
