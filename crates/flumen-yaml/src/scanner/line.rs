//! Shortcuts for the lines that manifests are made of: `key: value` and `- item` in block style.
//!
//! Each of these does what [`Scanner::fetch`] would do over several tokens, when it can see that
//! nothing else is possible, and otherwise leaves the scanner as if it had not been called. They
//! apply only at [`Pace::Quick`](super::Pace::Quick) and while no token waits in the queue.

use super::{
    Fault, Mark, Piece, Scanner, cursor::small, fetch::MAX_LEVELS, simple_key::MAX_SIMPLE_KEY,
};
use crate::Style;

/// A node in the block context.
pub(crate) enum BlockNode {
    Scalar(Piece, Style),
    /// A mapping has begun, and this is its first key, `:` included.
    Mapping(Piece),
    /// A sequence has begun; its first `-` comes next.
    Sequence,
    /// The same, at the indentation of the mapping around it.
    IndentlessSequence,
}

/// How a block mapping goes on.
pub(crate) enum MappingPart {
    /// A key, `:` included.
    Key(Piece, Mark),
    End,
}

/// How a block sequence goes on.
pub(crate) enum SequencePart {
    /// A `-`.
    Entry(Mark),
    End,
}

impl Scanner<'_> {
    /// Steps to the next token if the shortcuts apply; gives its column.
    #[inline]
    fn column_ahead(&mut self) -> Option<i64> {
        if self.lookahead > 1
            || self.flow_level > 0
            || !self.queue.is_empty()
            || self.simple_keys[0].possible
        {
            return None;
        }
        if matches!(self.cursor.byte(), b' ' | b'\n' | b'\r' | b'\t' | b'#' | 0x80..) {
            self.skip_to_token();
        }
        (self.simple_key_allowed && !self.cursor.at_end()).then(|| i64::from(self.cursor.column()))
    }

    /// Takes the next part of the current block mapping: the tokens `Key`, `Scalar` and `Value`, or
    /// `BlockEnd`.
    pub(crate) fn take_mapping_part(&mut self) -> Option<MappingPart> {
        let column = self.column_ahead()?;
        if column == self.indent {
            let end = self.key_end()?;
            let mark = self.cursor.mark();
            return Some(MappingPart::Key(self.take_key(end), mark));
        }
        if column > self.indent {
            return None;
        }
        self.take_block_end();
        Some(MappingPart::End)
    }

    /// Takes the next part of the current block sequence: `BlockEntry` or, unless the sequence is an
    /// indentless one, `BlockEnd`.
    pub(crate) fn take_sequence_part(&mut self, indentless: bool) -> Option<SequencePart> {
        let column = self.column_ahead()?;
        if column == self.indent && self.is_entry() {
            let mark = self.cursor.mark();
            self.cursor.advance(1);
            self.collects_comments = true;
            self.taken += 1;
            return Some(SequencePart::Entry(mark));
        }
        let ends = column < self.indent
            || indentless && column == self.indent && self.cursor.byte() != b'-';
        if ends && !indentless {
            self.take_block_end();
        }
        ends.then_some(SequencePart::End)
    }

    fn take_block_end(&mut self) {
        self.indent = self.outer_indents.pop().unwrap_or(-1);
        self.taken += 1;
    }

    /// Takes the key that ends at `end`, and its `:`.
    fn take_key(&mut self, end: usize) -> Piece {
        let start = self.cursor.pos;
        self.cursor.jump(end + 1);
        self.simple_key_allowed = false;
        self.collects_comments = false;
        self.taken += 3;
        Piece::Source { start: small(start), end: small(end) }
    }

    /// Where the plain key ends that begins here, if there is one of unremarkable characters.
    #[inline]
    fn key_end(&self) -> Option<usize> {
        let start = self.cursor.pos;
        if !self.cursor.byte().is_ascii_alphanumeric() {
            return None;
        }
        let rest = self.cursor.bytes().get(start + 1..)?;
        let len = 1 + rest.iter().position(|&byte| !IS_KEY[usize::from(byte)])?;
        let end = start + len;
        let ends = self.cursor.at(end) == b':'
            && self.cursor.is_blank_or_end(end + 1)
            && small(len) <= MAX_SIMPLE_KEY;
        ends.then_some(end)
    }

    fn is_entry(&self) -> bool {
        self.cursor.byte() == b'-' && self.cursor.is_blank_or_end(self.cursor.pos + 1)
    }

    /// Takes a scalar on the line of the key that was just taken.
    pub(crate) fn take_value(&mut self) -> Result<Option<(Piece, Style, Mark)>, Fault> {
        self.cursor.skip_blanks();
        if !self.starts_scalar() {
            return Ok(None);
        }
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_scalar(mark)?;
        self.taken += 1;
        Ok(Some((piece, style, mark)))
    }

    /// Whether one of the common characters that begin a scalar comes next.
    fn starts_scalar(&self) -> bool {
        match self.cursor.byte() {
            b'/' | b'.' | b'_' | b'(' | b'$' | b'<' | b'\'' | b'"' | b'|' | b'>' => true,
            b'-' => !self.cursor.is_blank_or_end(self.cursor.pos + 1),
            byte => byte.is_ascii_alphanumeric(),
        }
    }

    fn scan_scalar(&mut self, mark: Mark) -> Result<(Piece, Style), Fault> {
        let byte = self.cursor.byte();
        match byte {
            b'\'' | b'"' => self.scan_quoted(mark, byte == b'\''),
            b'|' | b'>' => {
                self.simple_key_allowed = true;
                self.scan_block_scalar(mark, byte == b'|')
            }
            _ => self.scan_plain(mark),
        }
    }

    /// Takes the start of a node that begins a line or follows a `-`.
    pub(crate) fn take_block_node(
        &mut self,
        indentless_sequence: bool,
    ) -> Result<Option<(BlockNode, Mark)>, Fault> {
        let Some(column) = self.column_ahead() else { return Ok(None) };
        let is_entry = self.is_entry();
        let mark = self.cursor.mark();
        if column <= self.indent {
            let fits = indentless_sequence && is_entry && column == self.indent;
            return Ok(fits.then_some((BlockNode::IndentlessSequence, mark)));
        }
        let key_end = self.key_end();
        if is_entry || key_end.is_some() {
            if self.outer_indents.len() >= MAX_LEVELS {
                return Ok(None);
            }
            self.outer_indents.push(self.indent);
            self.indent = column;
            self.taken += 1;
            let node = match key_end {
                Some(end) => BlockNode::Mapping(self.take_key(end)),
                None => BlockNode::Sequence,
            };
            return Ok(Some((node, mark)));
        }
        if !self.starts_scalar() || self.cursor.is_document_indicator() {
            return Ok(None);
        }
        // It is a scalar, unless a `:` makes it a key; then `fetch` shall have it.
        let before = self.cursor;
        self.simple_key_allowed = false;
        self.collects_comments = false;
        let scanned = self.scan_scalar(mark);
        if self.cursor.mark().line == mark.line && self.is_before_colon() || scanned.is_err() {
            self.cursor = before;
            self.simple_key_allowed = true;
            return Ok(None);
        }
        let (piece, style) = scanned?;
        self.taken += 1;
        Ok(Some((BlockNode::Scalar(piece, style), mark)))
    }

    fn is_before_colon(&self) -> bool {
        let mut next = self.cursor.pos;
        while self.cursor.is_blank(next) {
            next += 1;
        }
        self.cursor.at(next) == b':'
    }
}

const IS_KEY: [bool; 256] = {
    let mut is_key = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        is_key[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
        byte += 1;
    }
    is_key
};
