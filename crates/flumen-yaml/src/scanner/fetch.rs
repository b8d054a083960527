//! One function for each kind of token: what it does to indentation and simple keys, and the tokens
//! that it implies.

use super::{Fault, Mark, Scanner, SimpleKey, Token, TokenKind};

/// go-yaml's own bound on open flow collections and on indentation levels. The budget's depth is
/// lower, but what it counts is seen later.
pub(super) const MAX_LEVELS: usize = 10_000;

impl Scanner<'_> {
    pub(super) fn fetch_stream_end(&mut self) -> Result<(), Fault> {
        if self.cursor.column() != 0 {
            self.cursor.force_new_line();
        }
        self.fetch_boundary()?;
        let mark = self.cursor.mark();
        self.push(TokenKind::StreamEnd, mark);
        Ok(())
    }

    /// What the end of a document does to indentation and keys.
    fn fetch_boundary(&mut self) -> Result<(), Fault> {
        let mark = self.cursor.mark();
        self.unroll_indent(-1, mark);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    pub(super) fn fetch_directive(&mut self) -> Result<(), Fault> {
        self.fetch_boundary()?;
        let mark = self.cursor.mark();
        let kind = self.scan_directive()?;
        self.collects_comments = true;
        self.push(kind, mark);
        Ok(())
    }

    pub(super) fn fetch_document_indicator(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.fetch_boundary()?;
        self.collects_comments = true;
        self.push_indicator(kind, 3);
        Ok(())
    }

    fn push_indicator(&mut self, kind: TokenKind, len: usize) {
        let mark = self.cursor.mark();
        self.cursor.advance(len);
        self.push(kind, mark);
    }

    pub(super) fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.save_simple_key()?;
        let token_number = self.taken + self.queue.len();
        let mark = self.cursor.mark();
        self.simple_keys.push(SimpleKey { token_number, mark, ..SimpleKey::default() });
        self.flow_level += 1;
        if self.flow_level > MAX_LEVELS {
            return Err(self.fault(mark, "exceeded max depth of 10000"));
        }
        self.simple_key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    pub(super) fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let key = self.simple_keys.pop();
            // After `[]` this means the bracket itself. go-yaml forgets it, too, but has the token
            // behind it at hand by then.
            if let Some(key) = key
                && self.lookahead > 1
            {
                self.forget_awaited(key.token_number);
            }
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    pub(super) fn fetch_flow_entry(&mut self) -> Result<(), Fault> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        self.skip_line_comment();
        Ok(())
    }

    pub(super) fn fetch_block_entry(&mut self) -> Result<(), Fault> {
        // A `-` in the flow context is an error too, but one that the parser reports.
        if self.flow_level == 0 {
            let mark = self.cursor.mark();
            if !self.simple_key_allowed {
                let problem = "block sequence entries are not allowed in this context";
                return Err(self.fault(mark, problem));
            }
            self.roll_indent(TokenKind::BlockSequenceStart, mark, None)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.collects_comments = true;
        self.push_indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    pub(super) fn fetch_key(&mut self) -> Result<(), Fault> {
        if self.flow_level == 0 {
            let mark = self.cursor.mark();
            if !self.simple_key_allowed {
                return Err(self.fault(mark, "mapping keys are not allowed in this context"));
            }
            self.roll_indent(TokenKind::BlockMappingStart, mark, None)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key { explicit: true }, 1);
        self.skip_line_comment();
        Ok(())
    }

    pub(super) fn fetch_value(&mut self) -> Result<(), Fault> {
        let level = self.simple_keys.len() - 1;
        if self.simple_key_is_valid(level)? {
            let SimpleKey { token_number, mark, .. } = self.simple_keys[level];
            self.insert(token_number, Token { kind: TokenKind::Key { explicit: false }, mark });
            self.roll_indent(TokenKind::BlockMappingStart, mark, Some(token_number))?;
            self.simple_keys[level].possible = false;
            self.forget_awaited(token_number);
            self.simple_key_allowed = false;
            self.push_indicator(TokenKind::Value, 1);
            return Ok(());
        }
        if self.flow_level == 0 {
            let mark = self.cursor.mark();
            if !self.simple_key_allowed {
                return Err(self.fault(mark, "mapping values are not allowed in this context"));
            }
            self.roll_indent(TokenKind::BlockMappingStart, mark, None)?;
        }
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Value, 1);
        self.skip_line_comment();
        Ok(())
    }

    pub(super) fn fetch_anchor(&mut self, alias: bool) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let name = self.scan_anchor_name(mark)?;
        let kind = if alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) };
        self.push(kind, mark);
        Ok(())
    }

    pub(super) fn fetch_tag(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let tag = self.scan_tag(mark)?;
        self.push(TokenKind::Tag(Box::new(tag)), mark);
        Ok(())
    }

    pub(super) fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), Fault> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_block_scalar(mark, literal)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }

    pub(super) fn fetch_quoted(&mut self, single: bool) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_quoted(mark, single)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }

    pub(super) fn fetch_plain(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_plain(mark)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }

    /// Closes the block collections that are indented deeper than `column`.
    pub(super) fn unroll_indent(&mut self, column: i64, mark: Mark) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, mark);
            self.indent = self.outer_indents.pop().unwrap_or(-1);
        }
    }

    /// Opens a block collection if `mark` is indented deeper than the current one. The token goes to
    /// the end of the queue, or before the token `number`.
    fn roll_indent(
        &mut self,
        kind: TokenKind,
        mark: Mark,
        number: Option<usize>,
    ) -> Result<(), Fault> {
        let column = i64::from(mark.column);
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.outer_indents.push(self.indent);
        self.indent = column;
        if self.outer_indents.len() > MAX_LEVELS {
            let context = self.last_key().mark;
            return Err(self.fault(context, "exceeded max depth of 10000"));
        }
        match number {
            None => self.push(kind, mark),
            Some(number) => self.insert(number, Token { kind, mark }),
        }
        Ok(())
    }

    fn insert(&mut self, number: usize, token: Token) {
        // A token that go-yaml no longer waited for may have been taken.
        let index = number.checked_sub(self.taken).unwrap_or(self.queue.len());
        self.queue.insert(index.min(self.queue.len()), token);
    }
}
