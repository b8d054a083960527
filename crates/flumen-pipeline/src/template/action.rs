//! Finding what is ours in a text: `{{ … }}` that refers to `.install` or `.nuon`.

use std::ops::Range;

/// What paths begin with; the second is what files made for Nuon say.
const ROOTS: [&str; 2] = [".install", ".nuon"];

/// One `{{ … }}` that refers to an install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Action<'a> {
    /// Braces included.
    pub(super) range: Range<usize>,
    /// What stands between the braces.
    pub(super) inner: &'a str,
    /// Whether the braces are closed on the line that they are opened on.
    pub(super) is_closed: bool,
}

/// All actions of a text that refer to an install, in order. Those of other template languages are
/// not among them.
pub(super) fn actions(text: &str) -> Vec<Action<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        actions_of_line(line, start, &mut found);
        start += line.len();
    }
    found
}

fn actions_of_line<'a>(line: &'a str, offset: usize, found: &mut Vec<Action<'a>>) {
    let mut done = 0;
    while let Some(length) = line[done..].find("}}") {
        let close = done + length;
        let before = &line[done..close];
        // Of several openings the last one belongs to these braces: `{"a":{{{.install.id}}}`.
        if let Some(open) = before.rfind("{{") {
            push_unclosed(&before[..open], offset + done, found);
            let inner = &before[open + 2..];
            if refers_to_install(inner) {
                let range = offset + done + open..offset + close + 2;
                found.push(Action { range, inner, is_closed: true });
            }
        }
        done = close + 2;
    }
    push_unclosed(&line[done..], offset + done, found);
}

/// Notes braces that are opened for us and never closed.
fn push_unclosed<'a>(text: &'a str, offset: usize, found: &mut Vec<Action<'a>>) {
    if let Some(open) = text.rfind("{{") {
        let inner = &text[open + 2..];
        if refers_to_install(inner) {
            found.push(Action {
                range: offset + open..offset + text.len(),
                inner,
                is_closed: false,
            });
        }
    }
}

/// Whether one of the roots stands there as a whole word: `.install.id` does, `.Values.install`,
/// `$.install.id` and `.installed` do not.
fn refers_to_install(inner: &str) -> bool {
    ROOTS.iter().any(|root| {
        inner.match_indices(root).any(|(at, _)| {
            let before = inner[..at].chars().next_back();
            let after = inner[at + root.len()..].chars().next();
            let continues = |c: char| is_segment(c) || c == '$' || c == ')' || c == ']';
            !before.is_some_and(continues) && !after.is_some_and(is_segment)
        })
    })
}

pub(super) fn is_segment(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The segments of `.path.to.value`; none if there is anything else.
pub(super) fn path(inner: &str) -> Option<Vec<&str>> {
    let segments: Vec<&str> = inner.trim().strip_prefix('.')?.split('.').collect();
    let is_path =
        segments.iter().all(|segment| !segment.is_empty() && segment.chars().all(is_segment));
    is_path.then_some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = actions(text);
        let found: Vec<&str> = found.iter().map(|action| &text[action.range.clone()]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn actions_are_ours_if_they_refer_to_an_install() {
        check(
            "a: {{ .install.id }}-{{.nuon.install.id}}",
            &["{{ .install.id }}", "{{.nuon.install.id}}"],
        );
        check("{{ printf \"%s\" .install.id }}", &["{{ printf \"%s\" .install.id }}"]);
        check("{{- .nuon.x -}}", &["{{- .nuon.x -}}"]);
        check("{{ .install }}", &["{{ .install }}"]);
    }

    #[test]
    fn other_template_languages_are_left_alone() {
        let other = [
            "{{ .Values.install.x }}",
            "{{ $labels.instance }} {{ $.install.id }}",
            "{{ .installed }} {{ .nuons.x }}",
            "{{ (index . 0).install }}",
            "no braces: .install.id",
            "}} {{",
        ];
        for text in other {
            check(text, &[]);
        }
    }

    #[test]
    fn braces_around_braces_belong_to_the_text() {
        check("{\"a\":{{{.install.id}}}", &["{{.install.id}}"]);
        check("{{{{.install.id}}}}", &["{{.install.id}}"]);
        check("{{ .Values.x }}{{ .install.id }}", &["{{ .install.id }}"]);
    }

    #[test]
    fn what_is_not_closed_on_its_line_is_told_apart() {
        let text = "{{ .install.id\n}}\n{{ .nuon.x {{ .y }}";
        let closed: Vec<bool> = actions(text).iter().map(|action| action.is_closed).collect();
        assert_eq!(closed, [false, false]);
    }

    #[test]
    fn paths_are_names_with_dots() {
        assert_eq!(path(" .install.inputs.my-key_2 "), Some(vec!["install", "inputs", "my-key_2"]));
        for text in ["install.id", ".install..id", ".install.id | upper", "- .install.id", ".", ""]
        {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
