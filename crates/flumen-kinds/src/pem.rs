//! Texts in PEM, found as Go finds them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// One text and what it is said to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) has_headers: bool,
    pub(crate) content: Vec<u8>,
}

/// All texts, in their order. What is broken is passed over.
pub(crate) fn blocks(text: &[u8]) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Open<'_>> = None;
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        if let Some(label) = between(line, BEGIN) {
            // Whatever was open before has no end.
            open = Some(Open::new(label));
        } else if line.starts_with(END) {
            let block = open.take().filter(|open| between(line, END) == Some(open.label));
            found.extend(block.and_then(Open::close));
        } else if let Some(open) = &mut open {
            open.push(line);
        }
    }
    found
}

/// The label of a line that begins like this and ends with dashes.
fn between<'a>(line: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(start)?.strip_suffix(DASHES)
}

/// A text whose end was not seen yet.
struct Open<'a> {
    label: &'a [u8],
    has_headers: bool,
    content: Vec<u8>,
}

impl<'a> Open<'a> {
    fn new(label: &'a [u8]) -> Self {
        Self { label, has_headers: false, content: Vec::new() }
    }

    fn push(&mut self, line: &[u8]) {
        if self.content.is_empty() && line.contains(&b':') {
            self.has_headers = true;
            return;
        }
        self.content.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }

    fn close(self) -> Option<Block> {
        let content = STANDARD.decode(&self.content).ok()?;
        let label = String::from_utf8_lossy(self.label).into_owned();
        Some(Block { label, has_headers: self.has_headers, content })
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, blocks};

    #[track_caller]
    fn check(text: &str, expected: &[(&str, bool, &[u8])]) {
        let expected: Vec<Block> = expected
            .iter()
            .map(|(label, has_headers, content)| Block {
                label: (*label).to_owned(),
                has_headers: *has_headers,
                content: content.to_vec(),
            })
            .collect();
        assert_eq!(blocks(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn texts_are_found_among_others() {
        check("", &[]);
        check("-----BEGIN A-----\naGk=\n-----END A-----", &[("A", false, b"hi")]);
        check(
            "of mine:\r\n-----BEGIN A-----  \r\na Gk=\r\n-----END A-----\r\n-----BEGIN B C-----\n-----END B C-----\n",
            &[("A", false, b"hi"), ("B C", false, b"")],
        );
        check("-----BEGIN A-----\nProc: 4\n\naGk=\n-----END A-----\n", &[("A", true, b"hi")]);
    }

    #[test]
    fn what_is_broken_is_passed_over() {
        check("-----BEGIN A-----\naGk=\n", &[]);
        check("x-----BEGIN A-----\naGk=\n-----END A-----\n", &[]);
        check("-----BEGIN A-----\naGk=\n-----END B-----\n", &[]);
        check("-----BEGIN A-----\na:\n?\n-----END A-----\n", &[]);
        check(
            "-----BEGIN A-----\naGk\n-----BEGIN B-----\naGk=\n-----END B-----\n",
            &[("B", false, b"hi")],
        );
    }
}
