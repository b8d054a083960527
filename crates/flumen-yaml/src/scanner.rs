//! Text to tokens, by libyaml's rules as go-yaml v3 has them.
//!
//! The scanner knows indentation and simple keys, nothing of grammar. A simple key (`name: value`
//! without `?`) is only known to be one when its `:` is seen, so tokens wait in a queue until the
//! place where a `Key` token would have to be inserted is settled.
//!
//! go-yaml looks two tokens further ahead than it must. That shows in nothing but the choice between
//! two errors, so a text is first read at [`Pace::Quick`]: tokens are made when they are needed, and
//! the parts of a `key: value` line may be taken without the queue, see [`line`]. Only a text that
//! turns out to be wrong is read again at [`Pace::Reference`], to report what go-yaml reports.

mod block;
mod cursor;
mod directive;
mod line;
mod scalar;
mod token;

use std::{cmp::Ordering, collections::VecDeque};

use cursor::Cursor;
pub(crate) use line::{BlockNode, MappingPart, SequencePart};
pub(crate) use token::{Fault, Mark, Piece, Tag, Token, TokenKind};

use crate::encoding::Traits;

/// go-yaml's own bound on open flow collections and on indentation levels. The budget's depth is
/// lower, but what it counts is seen later.
const MAX_LEVELS: usize = 10_000;

/// Characters between the start of a simple key and its `:`.
const MAX_SIMPLE_KEY: u32 = 1024;

/// How far to look ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As far as needed.
    Quick,
    /// As far as go-yaml does.
    Reference,
}

#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    cursor: Cursor<'a>,
    /// How many tokens to have before the first of them is given out.
    lookahead: usize,
    queue: VecDeque<Token>,
    /// How many tokens have left the queue; gives each token its number.
    taken: usize,
    /// The column of the innermost block collection, -1 outside of any.
    indent: i64,
    outer_indents: Vec<i64>,
    flow_level: usize,
    simple_key_allowed: bool,
    /// Whether a comment here is one that stands for itself, not behind a token on its line.
    collects_comments: bool,
    /// One for the block context and one for each open flow collection.
    simple_keys: Vec<SimpleKey>,
    /// Tokens that may turn out to be keys, by number and by their place in `simple_keys`. go-yaml
    /// forgets some that it still believes in and keeps some that are gone, which decides what it
    /// has looked at when it reports an error.
    awaited: VecDeque<(usize, usize)>,
    /// The text of a scalar that is not a slice of the source.
    scratch: String,
    breaks: String,
}

/// A place where a simple key may have begun.
#[derive(Clone, Copy, Debug, Default)]
struct SimpleKey {
    possible: bool,
    /// Nothing but a key can stand here, because the column is that of a block mapping.
    required: bool,
    token_number: usize,
    mark: Mark,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, traits: Traits, pace: Pace) -> Self {
        let lookahead = match pace {
            Pace::Quick => 1,
            Pace::Reference => 3,
        };
        Self {
            cursor: Cursor::new(text, traits),
            lookahead,
            queue: VecDeque::with_capacity(16),
            taken: 0,
            indent: -1,
            outer_indents: Vec::new(),
            flow_level: 0,
            simple_key_allowed: true,
            collects_comments: true,
            simple_keys: vec![SimpleKey::default()],
            awaited: VecDeque::new(),
            scratch: String::new(),
            breaks: String::new(),
        }
    }

    /// The next token, without taking it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<&Token, Fault> {
        self.settle_head()?;
        // The queue holds at least one token now; the fallback cannot happen.
        const END: &Token =
            &Token { kind: TokenKind::StreamEnd, mark: Mark { line: 0, column: 0 } };
        Ok(self.queue.front().unwrap_or(END))
    }

    /// Takes the token that was peeked at.
    #[inline]
    pub(crate) fn take(&mut self) -> TokenKind {
        self.taken += 1;
        self.queue.pop_front().map_or(TokenKind::StreamEnd, |token| token.kind)
    }

    pub(crate) fn mark(&mut self) -> Mark {
        self.cursor.mark()
    }

    #[inline]
    fn settle_head(&mut self) -> Result<(), Fault> {
        while self.queue.len() < self.lookahead || self.head_may_be_key()? {
            self.fetch()?;
        }
        Ok(())
    }

    /// Whether a `Key` token may still have to be put before the first token of the queue.
    #[inline]
    fn head_may_be_key(&mut self) -> Result<bool, Fault> {
        while let Some(&(number, level)) = self.awaited.front() {
            match number.cmp(&self.taken) {
                Ordering::Less => self.awaited.pop_front(),
                Ordering::Equal => return self.simple_key_is_valid(level),
                Ordering::Greater => break,
            };
        }
        Ok(false)
    }

    /// Reads one more token, and those that it implies, into the queue.
    fn fetch(&mut self) -> Result<(), Fault> {
        let before = self.cursor.mark();
        self.skip_to_token();
        self.collects_comments = false;
        let column = i64::from(self.cursor.column());
        self.unroll_indent(column, before);
        if self.cursor.at_end() {
            return self.fetch_stream_end();
        }
        let byte = self.cursor.byte();
        if column == 0 {
            if byte == b'%' {
                return self.fetch_directive();
            }
            if self.cursor.is_document_indicator() {
                let kind = match byte {
                    b'-' => TokenKind::DocumentStart,
                    _ => TokenKind::DocumentEnd,
                };
                return self.fetch_document_indicator(kind);
            }
        }
        let next = self.cursor.pos + 1;
        let in_flow = self.flow_level > 0;
        match byte {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.cursor.is_blank_or_end(next) => self.fetch_block_entry(),
            b'?' if in_flow || self.cursor.is_blank_or_end(next) => self.fetch_key(),
            b':' if in_flow || self.cursor.is_blank_or_end(next) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(byte == b'*'),
            b'!' => self.fetch_tag(),
            b'|' | b'>' if !in_flow => self.fetch_block_scalar(byte == b'|'),
            b'\'' | b'"' => self.fetch_quoted(byte == b'\''),
            b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(self.no_token()),
            _ => self.fetch_plain(),
        }
    }

    #[cold]
    fn no_token(&mut self) -> Fault {
        let mark = self.cursor.mark();
        self.fault(mark, "found character that cannot start any token")
    }

    /// A fault of the construct that began at `context`, found at the cursor.
    #[cold]
    fn fault(&mut self, context: Mark, problem: &'static str) -> Fault {
        Fault::scanner(context, self.cursor.mark(), problem)
    }

    fn push(&mut self, kind: TokenKind, mark: Mark) {
        self.queue.push_back(Token { kind, mark });
    }

    /// Steps over blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        let mut comment_end = None;
        loop {
            if self.flow_level > 0 || !self.simple_key_allowed {
                self.cursor.skip_blanks();
            } else {
                self.cursor.skip_spaces();
                if self.cursor.byte() == b'\t' {
                    self.skip_to_next_comment(comment_end);
                }
            }
            if self.cursor.byte() == b'#' {
                self.cursor.jump(self.cursor.line_end(self.cursor.pos));
                if self.collects_comments {
                    comment_end = Some(self.cursor.pos);
                }
            }
            if !self.cursor.is_break(self.cursor.pos) {
                return;
            }
            self.cursor.skip_break();
            self.collects_comments = true;
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    /// go-yaml collects comments that follow each other, and while it does so it looks for the next
    /// one past blanks of any kind. Thus a tab before a comment is fine after a comment, while
    /// elsewhere it is a character that no token starts with.
    fn skip_to_next_comment(&mut self, comment_end: Option<usize>) {
        const REACH: usize = 512;
        let Some(end) = comment_end else { return };
        let mut next = end + 1;
        while next < end + REACH && (self.cursor.is_blank(next) || self.cursor.is_break(next)) {
            next += 1;
        }
        if next >= end + REACH || self.cursor.at(next) != b'#' {
            return;
        }
        while self.cursor.pos < next {
            if self.cursor.is_break(self.cursor.pos) {
                self.cursor.skip_break();
            } else {
                self.cursor.advance(1);
            }
        }
    }

    /// Takes in a comment behind `?`, `,` or a lone `:`, where a tab may stand before it.
    fn skip_line_comment(&mut self) {
        const REACH: usize = 512;
        let mut next = self.cursor.pos;
        while self.cursor.is_blank(next) && next - self.cursor.pos < REACH {
            next += 1;
        }
        if self.cursor.at(next) == b'#' && next - self.cursor.pos < REACH {
            self.cursor.jump(self.cursor.line_end(next));
        }
    }

    /// Closes the block collections that are indented deeper than `column`.
    fn unroll_indent(&mut self, column: i64, mark: Mark) {
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

    fn last_key(&mut self) -> &mut SimpleKey {
        if self.simple_keys.is_empty() {
            self.simple_keys.push(SimpleKey::default());
        }
        let last = self.simple_keys.len() - 1;
        &mut self.simple_keys[last]
    }

    /// Notes that a simple key may begin here.
    #[inline]
    fn save_simple_key(&mut self) -> Result<(), Fault> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let mark = self.cursor.mark();
        let key = SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == i64::from(mark.column),
            token_number: self.taken + self.queue.len(),
            mark,
        };
        self.remove_simple_key()?;
        *self.last_key() = key;
        self.awaited.push_back((key.token_number, self.simple_keys.len() - 1));
        Ok(())
    }

    /// Gives up the possible simple key of the current level.
    #[inline]
    fn remove_simple_key(&mut self) -> Result<(), Fault> {
        let key = *self.last_key();
        if key.possible {
            if key.required {
                return Err(self.fault(key.mark, "could not find expected ':'"));
            }
            self.last_key().possible = false;
            self.forget_awaited(key.token_number);
        }
        Ok(())
    }

    fn forget_awaited(&mut self, token_number: usize) {
        let found = self.awaited.iter().rposition(|&(number, _)| number <= token_number);
        if let Some(index) = found.filter(|&index| self.awaited[index].0 == token_number) {
            self.awaited.remove(index);
        }
    }

    /// Whether the key at `level` may still get its `:` here; a key is bound to one line.
    fn simple_key_is_valid(&mut self, level: usize) -> Result<bool, Fault> {
        let Some(&key) = self.simple_keys.get(level).filter(|key| key.possible) else {
            return Ok(false);
        };
        let here = self.cursor.mark();
        if key.mark.line == here.line && key.mark.column + MAX_SIMPLE_KEY >= here.column {
            return Ok(true);
        }
        if key.required {
            return Err(self.fault(key.mark, "could not find expected ':'"));
        }
        self.simple_keys[level].possible = false;
        Ok(false)
    }

    fn fetch_stream_end(&mut self) -> Result<(), Fault> {
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

    fn fetch_directive(&mut self) -> Result<(), Fault> {
        self.fetch_boundary()?;
        let mark = self.cursor.mark();
        let kind = self.scan_directive()?;
        self.collects_comments = true;
        self.push(kind, mark);
        Ok(())
    }

    fn fetch_document_indicator(&mut self, kind: TokenKind) -> Result<(), Fault> {
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

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Fault> {
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

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.simple_keys.pop() {
                self.forget_awaited(key.token_number);
            }
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Fault> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        self.skip_line_comment();
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Fault> {
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

    fn fetch_key(&mut self) -> Result<(), Fault> {
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

    fn fetch_value(&mut self) -> Result<(), Fault> {
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

    fn fetch_anchor(&mut self, alias: bool) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let name = self.scan_anchor_name(mark)?;
        let kind = if alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) };
        self.push(kind, mark);
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let tag = self.scan_tag(mark)?;
        self.push(TokenKind::Tag(Box::new(tag)), mark);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), Fault> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_block_scalar(mark, literal)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }

    fn fetch_quoted(&mut self, single: bool) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_quoted(mark, single)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let mark = self.cursor.mark();
        let (piece, style) = self.scan_plain(mark)?;
        self.push(TokenKind::Scalar(piece, style), mark);
        Ok(())
    }
}
