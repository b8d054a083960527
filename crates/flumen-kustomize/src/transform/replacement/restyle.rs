//! Printing a tree in the style of the text it was read from.
//!
//! kustomize reads YAML that stands in a text with go-yaml v3 and writes it back with the same: the
//! order of keys, quotes, flow collections and comments stay, indentation becomes two spaces, and
//! sequences are not indented in mappings.

mod comments;
mod scalar;

use std::collections::VecDeque;

use flumen_yaml::{Budget, EventKind, Node, Pos, Scalar, Style, Tag, Text, Value, events, resolve};
use rustc_hash::{FxHashMap, FxHashSet};

use self::{comments::Comment, scalar::Context};

/// Prints `node`, which was read from `source` and changed since.
pub(super) fn print(node: &Node, source: &Text) -> Option<String> {
    let mut flow = FxHashSet::default();
    let mut scalars = FxHashMap::default();
    for event in events(source, &Budget::default()).ok()? {
        let event = event.ok()?;
        match event.kind {
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
    let mut printer = Printer { out, flow, comments: comments.into(), levels: Vec::new() };
    printer.root(node);
    printer.finish();
    Some(printer.out.trim().to_owned())
}

struct Printer {
    out: String,
    /// Where flow collections begin.
    flow: FxHashSet<Pos>,
    /// Those that are not printed yet.
    comments: VecDeque<Comment>,
    /// The block collections around what was printed last.
    levels: Vec<Level>,
}

/// A block collection: the column of its entries in the source and the indentation they get.
#[derive(Clone, Copy)]
struct Level {
    column: u32,
    indent: usize,
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
                    self.start(index, pos.line, Level { column: pos.column, indent }, depth);
                    self.key(&entry.key, Context::Key);
                    self.out.push(':');
                    if self.is_inline(&entry.value) {
                        self.inline_after_space(&entry.value, indent + 2);
                        self.comment_behind(entry.value.pos.line.max(pos.line));
                        continue;
                    }
                    self.comment_behind(pos.line);
                    let indent = if entry.value.is_seq() { indent } else { indent + 2 };
                    self.block_below(&entry.value, indent, depth + 1);
                }
            }
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Pos { line, column } = item.pos;
                    // The dash stands two columns before the item.
                    let column = column.saturating_sub(2).max(1);
                    self.start(index, line, Level { column, indent }, depth);
                    self.out.push('-');
                    if self.is_inline(item) {
                        self.inline_after_space(item, indent + 2);
                        self.comment_behind(line);
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
            Value::Map(map) => map.iter().next().map(|entry| entry.key_pos),
            Value::Seq(items) => items
                .first()
                .map(|item| Pos::new(item.pos.line, item.pos.column.saturating_sub(2).max(1))),
            Value::Scalar(_) => None,
        };
        if let Some(pos) = first {
            self.comments_above(pos.line, Level { column: pos.column, indent });
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
    }

    /// Prints the comments before `line` of the source, each as deep as it stood there. An entry that
    /// is new has no line; the comments directly behind the last one of the source go before it.
    fn comments_above(&mut self, line: u32, level: Level) {
        while let Some(comment) = self.comments.front() {
            let is_above = if line == 0 { !comment.blank_before } else { comment.pos.line < line };
            if !is_above {
                return;
            }
            let column = comment.pos.column;
            let levels = self.levels.iter().chain([&level]);
            let place = levels
                .filter(|level| level.column <= column)
                .max_by_key(|level| level.column)
                .map_or(level.indent, |level| level.indent);
            let Some(comment) = self.comments.pop_front() else { return };
            self.comment_line(&comment.text, place);
            let is_apart = comment.blank_after || (line == 0 && self.is_last_of_group(&comment));
            if is_apart && place == level.indent {
                self.out.push('\n');
            }
        }
    }

    fn is_last_of_group(&self, comment: &Comment) -> bool {
        self.comments.front().is_none_or(|next| next.pos.line > comment.pos.line + 1)
    }

    fn comment_line(&mut self, text: &str, indent: usize) {
        if !self.out.is_empty() {
            self.new_line(indent);
        }
        self.out.push_str(text);
    }

    /// Prints the comment that stands behind something on a line of the source.
    fn comment_behind(&mut self, line: u32) {
        let is_here = |comment: &mut Comment| comment.is_trailing && comment.pos.line == line;
        if let Some(comment) = self.comments.pop_front_if(is_here) {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
    }

    /// Prints the comments at the end of the source.
    fn finish(&mut self) {
        while let Some(comment) = self.comments.pop_front() {
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
                    self.key(&entry.key, Context::FlowKey);
                    self.out.push_str(": ");
                    self.flow(&entry.value);
                }
                self.out.push('}');
            }
        }
    }

    fn key(&mut self, key: &Text, context: Context) {
        let style = if key.is_empty() { Style::DoubleQuoted } else { Style::Plain };
        scalar::print(
            &mut self.out,
            &Scalar { text: key.clone(), tag: resolve(key), style },
            context,
        );
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
        check("text", "text");
    }

    #[test]
    fn comments_stay_with_what_they_belong_to() {
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
