//! The comments of a text and where they go when the text is laid out anew.

use flumen_yaml::{Pos, Style};
use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(super) struct Comment {
    pub(super) pos: Pos,
    /// From the `#` on.
    pub(super) text: String,
    /// Whether something else stands before it on its line.
    pub(super) is_trailing: bool,
    pub(super) blank_before: bool,
    pub(super) blank_after: bool,
}

/// Finds all comments. `scalars` says where quoted and block scalars begin, in which a `#` is no
/// comment; in others it cannot stand behind a space.
pub(super) fn find(source: &str, scalars: &FxHashMap<Pos, Style>) -> Vec<Comment> {
    let lines: Vec<&str> = source.lines().collect();
    let is_blank = |index: Option<usize>| {
        index.and_then(|index| lines.get(index)).is_some_and(|line| line.trim().is_empty())
    };
    let mut comments = Vec::new();
    let mut scan = Scan { quote: None, block: None };
    for (index, line) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        if let Some((column, text)) = scan.line(line, number, scalars) {
            comments.push(Comment {
                pos: Pos::new(number, column),
                is_trailing: !line.trim_start().starts_with('#'),
                text,
                blank_before: is_blank(index.checked_sub(1)),
                blank_after: is_blank(Some(index + 1)) && !is_before_marker(&lines, index),
            });
        }
    }
    comments
}

/// Whether the next line that is not blank begins the document.
fn is_before_marker(lines: &[&str], index: usize) -> bool {
    let next = lines.iter().skip(index + 1).find(|line| !line.trim().is_empty());
    next.is_some_and(|line| line.starts_with("---"))
}

/// What a line begins in.
struct Scan {
    quote: Option<char>,
    block: Option<Block>,
}

/// A block scalar: the indentation of the line it begins on, and its own, once that is known.
struct Block {
    outer: usize,
    inner: Option<usize>,
}

impl Scan {
    /// The column and text of the comment on a line, if it has one.
    fn line(
        &mut self,
        line: &str,
        number: u32,
        scalars: &FxHashMap<Pos, Style>,
    ) -> Option<(u32, String)> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(block) = &mut self.block {
            if line.trim().is_empty() || indent >= block.inner.unwrap_or(block.outer + 1) {
                if !line.trim().is_empty() {
                    block.inner.get_or_insert(indent);
                }
                return None;
            }
            self.block = None;
        }
        let mut previous = None;
        let mut chars = (1_u32..).zip(line.chars()).peekable();
        while let Some((column, char)) = chars.next() {
            match self.quote {
                Some('"') if char == '\\' => {
                    chars.next();
                }
                Some('\'')
                    if char == '\'' && chars.next_if(|(_, next)| *next == '\'').is_some() => {}
                Some(quote) => {
                    if char == quote {
                        self.quote = None;
                    }
                }
                None => match scalars.get(&Pos::new(number, column)) {
                    Some(Style::SingleQuoted | Style::DoubleQuoted) => self.quote = Some(char),
                    Some(Style::Literal | Style::Folded) => {
                        self.block = Some(Block { outer: indent, inner: None });
                    }
                    _ if char == '#'
                        && previous.is_none_or(|before| matches!(before, ' ' | '\t')) =>
                    {
                        let rest: String = chars.map(|(_, char)| char).collect();
                        return Some((column, format!("#{}", rest.trim_end())));
                    }
                    _ => {}
                },
            }
            previous = Some(char);
        }
        None
    }
}
