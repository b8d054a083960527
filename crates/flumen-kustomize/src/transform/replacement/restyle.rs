//! Printing a tree in the style of the text it was read from.
//!
//! kustomize reads YAML that stands in a text with go-yaml v3 and writes it back with the same: the
//! order of keys, quotes, flow collections and comments stay, indentation becomes two spaces, and
//! sequences are not indented in mappings.

mod comments;
mod scalar;

use std::collections::{BTreeMap, VecDeque};

use flumen_yaml::{
    Budget, Entry, EventKind, Node, Pos, Scalar, Style, Tag, Text, Value, events, resolve,
};
use rustc_hash::{FxHashMap, FxHashSet};

use self::{comments::Comment, scalar::Context};

/// Prints `node`, which was read from `source` and changed since.
pub(super) fn print(node: &Node, source: &Text) -> Option<String> {
    let mut flow = FxHashSet::default();
    let mut scalars = FxHashMap::default();
    let mut columns = BTreeMap::new();
    let mut events = events(source, &Budget::default()).ok()?;
    while let Some(Ok(event)) = events.next() {
        if let EventKind::Scalar { .. }
        | EventKind::MappingStart { .. }
        | EventKind::SequenceStart { .. } = event.kind
        {
            let column = columns.entry(event.pos.line).or_insert(event.pos.column);
            *column = event.pos.column.min(*column);
        }
        match event.kind {
            EventKind::DocumentEnd { .. } => break,
            EventKind::MappingStart { flow: true, .. }
            | EventKind::SequenceStart { flow: true, .. } => {
                flow.insert(event.pos);
            }
            EventKind::Scalar { style, .. } if style != Style::Plain => {
                scalars.insert(event.pos, style);
            }
            _ => {}
        }
    }
    let comments = if source.contains('#') { comments::find(source, &scalars) } else { Vec::new() };
    let out = String::with_capacity(source.len());
    let mut printer = Printer {
        out,
        flow,
        scalars,
        columns,
        comments: comments.into(),
        levels: Vec::new(),
        last_line: 0,
    };
    printer.root(node);
    printer.finish();
    Some(printer.out.trim().to_owned())
}

struct Printer {
    out: String,
    /// Where flow collections begin.
    flow: FxHashSet<Pos>,
    /// Where quoted and block scalars begin.
    scalars: FxHashMap<Pos, Style>,
    /// The lines of the source that hold more than comments, and where they begin.
    columns: BTreeMap<u32, u32>,
    /// Those that are not printed yet.
    comments: VecDeque<Comment>,
    /// The block collections around what was printed last.
    levels: Vec<Level>,
    /// The line of the source that was printed last.
    last_line: u32,
}

/// A block collection: the column of its entries in the source and the indentation they get.
#[derive(Clone, Copy)]
struct Level {
    column: u32,
    indent: usize,
    is_sequence: bool,
}

impl Printer {
    fn root(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => {
                scalar::print(&mut self.out, scalar, Context::Block { indent: 0 });
            }
            _ if self.is_inline(node) => self.flow(node),
            _ => self.block(node, 0, 0),
        }
    }

    fn is_inline(&self, node: &Node) -> bool {
        match &node.value {
            Value::Scalar(_) => true,
            _ => node.is_nil_or_empty() || (node.pos.is_known() && self.flow.contains(&node.pos)),
        }
    }

    /// A block collection whose first line begins where the cursor is, inside of `depth` others.
    fn block(&mut self, node: &Node, indent: usize, depth: usize) {
        match &node.value {
            Value::Map(map) => {
                for (index, entry) in map.iter().enumerate() {
                    let pos = entry.key_pos;
                    self.start(index, pos.line, Level::of_entry(entry, indent), depth);
                    self.key(entry, Context::Key);
                    self.out.push(':');
                    if self.is_inline(&entry.value) {
                        self.inline_after_space(&entry.value, indent + 2);
                        self.comment_behind(pos.line, entry.value.pos.line);
                        continue;
                    }
                    self.comment_behind(pos.line, pos.line);
                    let indent = if entry.value.is_seq() { indent } else { indent + 2 };
                    self.block_below(&entry.value, indent, depth + 1);
                }
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    let line = item.pos.line;
                    self.start(index, line, Level::of_item(item, indent), depth);
                    self.out.push('-');
                    if self.is_inline(item) {
                        self.inline_after_space(item, indent + 2);
                        self.comment_behind(line, line);
                    } else {
                        self.out.push(' ');
                        self.block(item, indent + 2, depth + 1);
                    }
                }
            }
            Value::Scalar(_) => self.inline_after_space(node, indent),
        }
    }

    /// A block collection that begins on a line of its own, comments first.
    fn block_below(&mut self, node: &Node, indent: usize, depth: usize) {
        let first = match &node.value {
            Value::Map(map) => {
                map.iter().next().map(|entry| (entry.key_pos.line, Level::of_entry(entry, indent)))
            }
            Value::Seq(items) => {
                items.first().map(|item| (item.pos.line, Level::of_item(item, indent)))
            }
            Value::Scalar(_) => None,
        };
        if let Some((line, level)) = first {
            self.comments_above(line, level);
        }
        self.new_line(indent);
        self.block(node, indent, depth);
    }

    /// Begins an entry: comments that stand above it, and its line unless that has begun.
    fn start(&mut self, index: usize, line: u32, level: Level, depth: usize) {
        if index > 0 || depth == 0 {
            self.comments_above(line, level);
        }
        if index > 0 || (depth == 0 && !self.out.is_empty()) {
            self.new_line(level.indent);
        }
        self.levels.truncate(depth);
        self.levels.push(level);
        self.last_line = self.last_line.max(line);
    }

    /// Prints the comments before `line` of the source, each as deep as it stood there.
    ///
    /// An entry that is new has no line; the comments that close what stands before it go first.
    fn comments_above(&mut self, line: u32, level: Level) {
        while let Some(comment) = self.comments.front() {
            let Pos { line: at, column } = comment.pos;
            let next = self.columns.range(at + 1..).next().map(|(&line, &column)| (line, column));
            let is_above = match next {
                _ if line > 0 => at < line,
                _ if comment.is_trailing => false,
                None => !comment.blank_before,
                Some((_, next)) => column >= level.column && next < column,
            };
            if !is_above {
                return;
            }
            let previous = self.columns.range(..at).next_back().map_or(0, |(&line, _)| line);
            // What the comment stood above or belonged to may have been replaced.
            let is_orphan = (line > 0 && next.is_some_and(|(next, _)| next < line))
                || (column > level.column
                    && previous > self.last_line
                    && self.levels.iter().all(|level| level.column != column));
            let place = self.indent_of(column, level);
            let Some(comment) = self.comments.pop_front() else { return };
            if is_orphan || comment.is_trailing {
                continue;
            }
            self.comment_line(&comment.text, place);
            let is_apart = comment.blank_after || (line == 0 && self.is_last_of_group(&comment));
            if is_apart && place == level.indent {
                self.out.push('\n');
            }
        }
    }

    /// The indentation of a comment at a column of the source, before an entry of `level`.
    fn indent_of(&self, column: u32, level: Level) -> usize {
        let levels: Vec<Level> = self.levels.iter().copied().chain([level]).collect();
        let around = levels.iter().enumerate().filter(|(_, level)| level.column <= column);
        let Some((index, around)) = around.max_by_key(|(_, level)| level.column) else {
            return level.indent;
        };
        // Behind the last item of a sequence it belongs to what the item holds.
        match self.levels.get(index + 1) {
            Some(inner) if around.is_sequence && level.column < around.column => inner.indent,
            _ => around.indent,
        }
    }

    fn is_last_of_group(&self, comment: &Comment) -> bool {
        let Pos { line, column } = comment.pos;
        self.comments.front().is_none_or(|next| next.pos != Pos::new(line + 1, column))
    }

    fn comment_line(&mut self, text: &str, indent: usize) {
        if !self.out.is_empty() {
            self.new_line(indent);
        }
        self.out.push_str(text);
    }

    /// Prints the comment behind an entry that begins on one line of the source and whose value
    /// begins on another.
    fn comment_behind(&mut self, first: u32, last: u32) {
        let is_here = |comment: &mut Comment| {
            comment.is_trailing && (comment.pos.line == first || comment.pos.line == last)
        };
        if let Some(comment) = self.comments.pop_front_if(is_here) {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
        if self.columns.contains_key(&last) && last > first {
            self.last_line = self.last_line.max(last);
        }
    }

    /// Prints the comments at the end of the source.
    fn finish(&mut self) {
        let end = self.columns.keys().next_back().copied().unwrap_or(0);
        while let Some(comment) = self.comments.pop_front() {
            if comment.is_trailing || comment.pos.line < end {
                continue;
            }
            if comment.blank_before {
                self.out.push('\n');
            }
            self.comment_line(&comment.text, 0);
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn inline_after_space(&mut self, node: &Node, indent: usize) {
        match &node.value {
            // An empty plain scalar leaves no trace.
            Value::Scalar(scalar) if scalar.text.is_empty() && scalar.tag == Tag::Null => {}
            Value::Scalar(scalar) => {
                self.out.push(' ');
                scalar::print(&mut self.out, scalar, Context::Block { indent });
            }
            _ => {
                self.out.push(' ');
                self.flow(node);
            }
        }
    }

    fn flow(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => scalar::print(&mut self.out, scalar, Context::Flow),
            Value::Seq(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    self.flow(item);
                }
                self.out.push(']');
            }
            Value::Map(map) => {
                self.out.push('{');
                for (index, entry) in map.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    self.key(entry, Context::FlowKey);
                    self.out.push_str(": ");
                    self.flow(&entry.value);
                }
                self.out.push('}');
            }
        }
    }

    fn key(&mut self, entry: &Entry, context: Context) {
        let text = entry.key.clone();
        let style = match self.scalars.get(&entry.key_pos) {
            Some(style) if entry.key_pos.is_known() => *style,
            _ if text.is_empty() => Style::DoubleQuoted,
            _ => Style::Plain,
        };
        let tag = if style == Style::Plain { resolve(&text) } else { Tag::Str };
        scalar::print(&mut self.out, &Scalar { text, tag, style }, context);
    }
}

impl Level {
    const fn of_entry(entry: &Entry, indent: usize) -> Self {
        Self { column: entry.key_pos.column, indent, is_sequence: false }
    }

    fn of_item(item: &Node, indent: usize) -> Self {
        // The dash stands two columns before the item.
        let column = item.pos.column.saturating_sub(2).max(1);
        Self { column, indent, is_sequence: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what a text becomes when it is read and printed.
    #[track_caller]
    fn check(source: &str, expected: &str) {
        let source = Text::from(source);
        let nodes = flumen_yaml::read(&source, 1, &Budget::default()).expect("valid");
        let printed = print(nodes.first().expect("one document"), &source).expect("readable");
        assert_eq!(printed, expected);
    }

    #[test]
    fn style_survives_and_indentation_becomes_uniform() {
        check(
            "b:   1\na:\n    - x\n    -   y: 'q'\n        z: \"w\"\n",
            "b: 1\na:\n- x\n- y: 'q'\n  z: \"w\"",
        );
        check("a: [x,   {b: c,d: [ ]}]\n", "a: [x, {b: c, d: []}]");
        check("a:\n  b:\n\n    c: ~\n  d:\ne: {}\n", "a:\n  b:\n    c: ~\n  d:\ne: {}");
        check("a: |\n   x\n    y\n\nb: |-\n  z\n", "a: |\n  x\n   y\nb: |-\n  z");
        check("- - a\n  - b\n- c\n", "- - a\n  - b\n- c");
        check("a: 'it''s'\nb: \"tab\\t\"\n", "a: 'it''s'\nb: \"tab\\t\"");
        check("\"a b\": 1\n'c': 2\n3: x\n", "\"a b\": 1\n'c': 2\n3: x");
        check("a: >\n  x\n  y\n\n  z\nb: >-\n  x\n", "a: >\n  x y\n\n  z\n\nb: >-\n  x");
        check("a: 'x\n\n  y'\n", "a: 'x\n\n  y'");
        check("text", "text");
    }

    #[test]
    fn comments_stay_with_what_they_belong_to() {
        check("# only\n\n---\na: 1\n", "# only\na: 1");
        check("# top\n\n# of a\na: 1\n", "# top\n\n# of a\na: 1");
        check("a: 1\n\n# of b\nb: 2\n\n# tail\n", "a: 1\n# of b\nb: 2\n\n# tail");
        check(
            "a: # key\n    x: 1   # x\n    # end of a\n\nb: 2\n",
            "a: # key\n  x: 1 # x\n  # end of a\nb: 2",
        );
        check(
            "a:\n  - p #p\n  # next\n  - q\n  # end\n\nb: 2\n",
            "a:\n- p #p\n# next\n- q\n# end\n\nb: 2",
        );
        check(
            "a: |\n  # text\nb: '# text'\nc: x#y # z\n",
            "a: |\n  # text\nb: '# text'\nc: x#y # z",
        );
        check(
            "l:\n  # one\n  - x: 1\n    # y\n    y: 2\n\n  # two\n  - x: 3\n",
            "l:\n# one\n- x: 1\n  # y\n  y: 2\n# two\n- x: 3",
        );
        check(
            "a:\n  b:\n    c: 1\n    # deep\n  # mid\n# d\nd: 1\n",
            "a:\n  b:\n    c: 1\n    # deep\n  # mid\n# d\nd: 1",
        );
    }
}
