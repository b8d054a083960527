//! Literal (`|`) and folded (`>`) block scalars.

use super::{Fault, Mark, Piece, Scanner};
use crate::Style;

/// What becomes of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl Scanner<'_> {
    /// A block scalar, whose indicator is at the cursor.
    pub(super) fn scan_block_scalar(
        &mut self,
        start: Mark,
        literal: bool,
    ) -> Result<(Piece, Style), Fault> {
        let (chomping, increment) = self.block_header(start)?;
        let mut indent = match increment {
            0 => 0,
            _ => self.indent.max(0) + increment,
        };
        self.scratch.clear();
        self.breaks.clear();
        self.block_breaks(start, &mut indent)?;
        let mut leading_break = "";
        let mut previous_blank = false;
        while i64::from(self.cursor.column()) == indent && !self.cursor.at_end() {
            let blank = self.cursor.is_blank(self.cursor.pos);
            if !literal && leading_break == "\n" && !previous_blank && !blank {
                if self.breaks.is_empty() {
                    self.scratch.push(' ');
                }
            } else {
                self.scratch.push_str(leading_break);
            }
            self.scratch.push_str(&self.breaks);
            self.breaks.clear();
            previous_blank = blank;
            let line_end = self.cursor.line_end(self.cursor.pos);
            let line = self.cursor.text().get(self.cursor.pos..line_end).unwrap_or_default();
            self.scratch.push_str(line);
            self.cursor.jump(line_end);
            leading_break = self.cursor.read_break();
            self.block_breaks(start, &mut indent)?;
        }
        if chomping != Chomping::Strip {
            self.scratch.push_str(leading_break);
        }
        if chomping == Chomping::Keep {
            self.scratch.push_str(&self.breaks);
        }
        self.collects_comments = true;
        let style = if literal { Style::Literal } else { Style::Folded };
        Ok((self.made(start)?, style))
    }

    /// The rest of the line behind `|` or `>`: chomping and indentation in either order, a comment.
    fn block_header(&mut self, start: Mark) -> Result<(Chomping, i64), Fault> {
        self.cursor.advance(1);
        let mut chomping = self.chomping();
        let increment = self.indentation(start)?;
        if chomping.is_none() && increment != 0 {
            chomping = self.chomping();
        }
        self.cursor.skip_blanks();
        if self.cursor.byte() == b'#' {
            self.cursor.jump(self.cursor.line_end(self.cursor.pos));
        }
        if !self.cursor.is_break_or_end(self.cursor.pos) {
            return Err(self.fault(start, "did not find expected comment or line break"));
        }
        self.cursor.skip_break();
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.cursor.byte() {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.cursor.advance(1);
        Some(chomping)
    }

    /// The number of the indentation indicator, 0 if there is none.
    fn indentation(&mut self, start: Mark) -> Result<i64, Fault> {
        let byte = self.cursor.byte();
        if byte == b'0' {
            return Err(self.fault(start, "found an indentation indicator equal to 0"));
        }
        if !byte.is_ascii_digit() {
            return Ok(0);
        }
        self.cursor.advance(1);
        Ok(i64::from(byte - b'0'))
    }

    /// Takes empty lines, and the indentation of the line behind them. The first time, `indent` is
    /// 0 and gets the indentation that is found.
    fn block_breaks(&mut self, start: Mark, indent: &mut i64) -> Result<(), Fault> {
        let mut deepest = 0;
        loop {
            let mut column = i64::from(self.cursor.column());
            while (*indent == 0 || column < *indent) && self.cursor.byte() == b' ' {
                self.cursor.advance(1);
                column += 1;
            }
            deepest = deepest.max(column);
            if self.cursor.byte() == b'\t' && (*indent == 0 || column < *indent) {
                let problem = "found a tab character where an indentation space is expected";
                return Err(self.fault(start, problem));
            }
            if !self.cursor.is_break(self.cursor.pos) {
                break;
            }
            let read = self.cursor.read_break();
            self.breaks.push_str(read);
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
