//! Finding the comments of a file that are schemas; see [`flumen_patch::Hints`].

use std::sync::Arc;

use flumen_patch::Hints;
use flumen_yaml::Pos;
use memchr::memmem;

/// The schemas in comments of a text whose first line has the number `first_line`; mostly none.
pub(crate) fn find(text: &str, first_line: u32) -> Option<Arc<Hints>> {
    memmem::find(text.as_bytes(), b"# {").or_else(|| memmem::find(text.as_bytes(), b"#{"))?;
    let mut comments = Vec::new();
    let mut above = None;
    for (number, line) in (first_line..).zip(text.lines()) {
        let content = line.trim_start_matches([' ', '-']);
        if content.starts_with('#') {
            above = Some(content);
            continue;
        }
        let column = u32::try_from(line.len() - content.len() + 1).unwrap_or(u32::MAX);
        let key = Pos::new(number, column);
        let beside = content.find(" #").map(|at| &content[at + 1..]);
        if let Some(comment) = beside.filter(|comment| is_candidate(comment)).or(above) {
            comments.push((key, comment));
        }
        above = None;
    }
    let hints = Hints::new(comments);
    (!hints.is_empty()).then(|| Arc::new(hints))
}

fn is_candidate(comment: &str) -> bool {
    comment.trim_start_matches('#').trim_start().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn ordinary_comments_are_no_schemas() {
        assert!(find("a: b # plain\n# {not json\nc: d\n", 1).is_none());
        assert!(find("a: # {\"type\": \"array\"}\n- b\n", 1).is_some());
        assert!(find("# {\"type\": \"array\"}\na:\n- b\n", 1).is_some());
    }
}
