//! A place in the text, with the line and the column that belong to it.
//!
//! go-yaml counts columns in characters. Counting them one by one would cost more than all the rest
//! of scanning, so the column is worked out only when asked for: by subtraction in ASCII texts, else
//! by counting once over the bytes since the last question.

use memchr::{memchr, memchr2};

use super::Mark;
use crate::encoding::Traits;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) pos: usize,
    line: u32,
    /// A place on the current line and its column.
    anchor: usize,
    anchor_column: u32,
    traits: Traits,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str, traits: Traits) -> Self {
        Self { text, pos: 0, line: 0, anchor: 0, anchor_column: 0, traits }
    }

    pub(super) const fn text(&self) -> &'a str {
        self.text
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The byte at `index`; 0, which no text may hold, after the end.
    #[inline]
    pub(super) fn at(&self, index: usize) -> u8 {
        self.text.as_bytes().get(index).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn byte(&self) -> u8 {
        self.at(self.pos)
    }

    #[inline]
    pub(super) fn column(&mut self) -> u32 {
        if self.traits.ascii {
            return self.anchor_column + small(self.pos - self.anchor);
        }
        self.count_characters()
    }

    fn count_characters(&mut self) -> u32 {
        let passed = self.bytes().get(self.anchor..self.pos).unwrap_or_default();
        let characters = passed.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self.anchor = self.pos;
        self.anchor_column += small(characters);
        self.anchor_column
    }

    #[inline]
    pub(super) fn mark(&mut self) -> Mark {
        Mark { line: self.line, column: self.column() }
    }

    /// Steps over bytes that are no line break.
    #[inline]
    pub(super) const fn advance(&mut self, bytes: usize) {
        self.pos += bytes;
    }

    #[inline]
    pub(super) const fn jump(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// Pretends that a line ended here; the end of the text counts as one.
    pub(super) const fn force_new_line(&mut self) {
        self.begin_line();
    }

    const fn begin_line(&mut self) {
        self.line += 1;
        self.anchor = self.pos;
        self.anchor_column = 0;
    }

    #[inline]
    pub(super) const fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    #[inline]
    pub(super) fn is_blank(&self, index: usize) -> bool {
        matches!(self.at(index), b' ' | b'\t')
    }

    #[inline]
    pub(super) fn is_break(&self, index: usize) -> bool {
        matches!(self.at(index), b'\n' | b'\r')
            || self.traits.wide_breaks && self.break_len(index) != 0
    }

    #[inline]
    pub(super) fn is_break_or_end(&self, index: usize) -> bool {
        self.at(index) == 0 || self.is_break(index)
    }

    #[inline]
    pub(super) fn is_blank_or_end(&self, index: usize) -> bool {
        matches!(self.at(index), b' ' | b'\t' | b'\n' | b'\r' | 0)
            || self.traits.wide_breaks && self.break_len(index) != 0
    }

    /// The length of the line break at `index`, or 0: LF, CR, CR LF, NEL, LS and PS.
    fn break_len(&self, index: usize) -> usize {
        match self.at(index) {
            b'\r' if self.at(index + 1) == b'\n' => 2,
            b'\n' | b'\r' => 1,
            0xC2 if self.at(index + 1) == 0x85 => 2,
            0xE2 if self.at(index + 1) == 0x80 && matches!(self.at(index + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    /// Steps over the line break here, if there is one.
    #[inline]
    pub(super) fn skip_break(&mut self) {
        let len = self.break_len(self.pos);
        if len != 0 {
            self.pos += len;
            self.begin_line();
        }
    }

    /// Steps over the line break here and gives what it stands for in a scalar.
    #[inline]
    pub(super) fn read_break(&mut self) -> &'a str {
        let start = self.pos;
        self.skip_break();
        match self.pos - start {
            0 => "",
            3 => self.text.get(start..self.pos).unwrap_or("\n"),
            _ => "\n",
        }
    }

    /// The place of the next line break, or the end of the text.
    #[inline]
    pub(super) fn line_end(&self, from: usize) -> usize {
        let rest = self.bytes().get(from..).unwrap_or_default();
        let found = if self.traits.wide_breaks {
            (0..rest.len()).find(|offset| self.break_len(from + offset) != 0)
        } else if self.traits.carriage_returns {
            memchr2(b'\n', b'\r', rest)
        } else {
            memchr(b'\n', rest)
        };
        found.map_or(self.text.len(), |offset| from + offset)
    }

    /// Whether lines end in nothing but LF.
    #[inline]
    pub(super) const fn has_plain_breaks(&self) -> bool {
        !self.traits.wide_breaks && !self.traits.carriage_returns
    }

    #[inline]
    pub(super) fn skip_spaces(&mut self) {
        while self.byte() == b' ' {
            self.pos += 1;
        }
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank(self.pos) {
            self.pos += 1;
        }
    }

    /// Whether `---` or `...` stands at the start of this line, alone or before a blank.
    pub(super) fn is_document_indicator(&mut self) -> bool {
        matches!(self.byte(), b'-' | b'.') && self.column() == 0 && {
            let rest = self.bytes().get(self.pos..).unwrap_or_default();
            (rest.starts_with(b"---") || rest.starts_with(b"..."))
                && self.is_blank_or_end(self.pos + 3)
        }
    }
}

/// A length within the text; the budget keeps texts below 4 GiB.
#[inline]
pub(super) fn small(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
