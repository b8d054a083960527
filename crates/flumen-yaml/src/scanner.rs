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
mod fetch;
mod line;
mod scalar;
mod simple_key;
mod token;

use std::collections::VecDeque;

use cursor::Cursor;
pub(crate) use line::{BlockNode, MappingPart, SequencePart};
use simple_key::SimpleKey;
pub(crate) use token::{Fault, Mark, Piece, Tag, Token, TokenKind};

use crate::encoding::Traits;

/// How far to look ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As far as needed.
    Quick,
    /// As far as go-yaml does.
    Reference,
}

/// What stands for a token that cannot be missing.
const END: &Token = &Token { kind: TokenKind::StreamEnd, mark: Mark { line: 0, column: 0 } };

#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    cursor: Cursor<'a>,
    /// How many tokens to have before the first of them is given out.
    lookahead: usize,
    largest_scalar: usize,
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

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, traits: Traits, pace: Pace, largest_scalar: usize) -> Self {
        let lookahead = match pace {
            Pace::Quick => 1,
            Pace::Reference => 3,
        };
        Self {
            cursor: Cursor::new(text, traits),
            lookahead,
            largest_scalar,
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
        // The queue holds at least one token now.
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
}
