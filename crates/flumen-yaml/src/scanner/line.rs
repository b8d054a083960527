//! Shortcuts for the lines that manifests are made of: `key: value` in a block mapping.
//!
//! Each of these does what [`Scanner::fetch`] would do over several tokens, when it can see that
//! nothing else is possible, and otherwise leaves the scanner as if it had not been called. They
//! apply only at [`Pace::Quick`](super::Pace::Quick) and while no token waits in the queue.

use super::{Fault, Mark, Piece, Scanner};
use crate::{Style, scanner::cursor::small};

impl Scanner<'_> {
    /// Takes `name:` at the indentation of the current block mapping: the tokens `Key`, `Scalar` and
    /// `Value`.
    pub(crate) fn take_key(&mut self) -> Option<(Piece, Mark)> {
        let (start, end) = self.key_ahead()?;
        let mark = self.cursor.mark();
        if i64::from(mark.column) != self.indent {
            return None;
        }
        self.cursor.jump(end + 1);
        self.simple_key_allowed = false;
        self.collects_comments = false;
        self.taken += 3;
        Some((Piece::Source { start: small(start), end: small(end) }, mark))
    }

    /// Where a plain key of unremarkable characters begins and ends, if one comes next.
    fn key_ahead(&mut self) -> Option<(usize, usize)> {
        if self.lookahead > 1
            || self.flow_level > 0
            || !self.queue.is_empty()
            || self.last_key().possible
        {
            return None;
        }
        self.skip_to_token();
        let start = self.cursor.pos;
        if !self.simple_key_allowed || !self.cursor.byte().is_ascii_alphanumeric() {
            return None;
        }
        let rest = self.cursor.bytes().get(start..)?;
        let len = rest.iter().position(|&byte| !is_key(byte))?;
        let end = start + len;
        let ends = self.cursor.at(end) == b':'
            && self.cursor.is_blank_or_end(end + 1)
            && len <= super::MAX_SIMPLE_KEY as usize;
        ends.then_some((start, end))
    }

    /// Takes a scalar on the line of the key that [`take_key`](Self::take_key) gave.
    pub(crate) fn take_value(&mut self) -> Result<Option<(Piece, Style, Mark)>, Fault> {
        self.cursor.skip_blanks();
        let next = self.cursor.pos + 1;
        let byte = self.cursor.byte();
        let is_plain = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'.' | b'_' | b'(' | b'$' | b'<' => {
                true
            }
            b'-' if !self.cursor.is_blank_or_end(next) => true,
            b'\'' | b'"' | b'|' | b'>' => false,
            _ => return Ok(None),
        };
        let mark = self.cursor.mark();
        let (piece, style) = match byte {
            _ if is_plain => self.scan_plain(mark)?,
            b'\'' | b'"' => self.scan_quoted(mark, byte == b'\'')?,
            _ => {
                self.simple_key_allowed = true;
                self.scan_block_scalar(mark, byte == b'|')?
            }
        };
        self.taken += 1;
        Ok(Some((piece, style, mark)))
    }
}

const fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}
