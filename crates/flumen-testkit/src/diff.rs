//! Differences as a person reads them.

use similar::TextDiff;

/// Longer than this and the beginning tells as much as the whole.
const MAX_LINES: usize = 80;

/// A unified difference from `want` to `got`, or `None` when they are the same bytes.
pub fn difference(want: &[u8], got: &[u8]) -> Option<String> {
    if want == got {
        return None;
    }
    let (want, got) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
    let diff = TextDiff::from_lines(want.as_ref(), got.as_ref());
    let text = diff.unified_diff().context_radius(3).header("expected", "got").to_string();
    // Not `lines`, which would drop the carriage returns we want to see.
    let mut lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(visible).collect();
    if lines.len() > MAX_LINES {
        let hidden = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("… {hidden} more lines"));
    }
    Some(lines.join("\n"))
}

/// Shows what a terminal would swallow: carriage returns and blanks at the end of a line.
fn visible(line: &str) -> String {
    let text = line.replace('\r', "␍");
    match text.strip_suffix(' ') {
        Some(rest) if text.len() > 1 => format!("{rest}␠"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(want: &str, got: &str, expected: Option<&str>) {
        assert_eq!(difference(want.as_bytes(), got.as_bytes()).as_deref(), expected);
    }

    #[test]
    fn equal_texts_have_none() {
        check("a\n", "a\n", None);
    }

    #[test]
    fn changed_lines_are_shown_with_context() {
        check(
            "a\nb\nc\n",
            "a\nB\nc\n",
            Some("--- expected\n+++ got\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"),
        );
    }

    #[test]
    fn invisible_characters_are_shown() {
        check("a\n", "a\r\n", Some("--- expected\n+++ got\n@@ -1 +1 @@\n-a\n+a␍"));
        check("a\n", "a \n", Some("--- expected\n+++ got\n@@ -1 +1 @@\n-a\n+a␠"));
    }
}
