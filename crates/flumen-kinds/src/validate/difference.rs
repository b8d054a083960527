//! How two values of a type differ, line by line.

use std::fmt::Write as _;

use serde_json::Value;

use crate::internal;

const CONTEXT: usize = 3;
/// Larger parts are shown as changed as a whole, so that no request can make this slow.
const CELLS_LIMIT: usize = 1 << 21;

/// A unified difference of two structs, as messages about immutable fields end.
pub(super) fn difference(of: &str, old: &Value, new: &Value) -> String {
    let (old, new) = (internal::pretty(of, old), internal::pretty(of, new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    unified(&old, &new)
}

fn unified(old: &[&str], new: &[&str]) -> String {
    let edits = edits(old, new);
    let mut text = String::new();
    for group in groups(&edits) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_lines = last.old_end - first.old_start;
        let new_lines = last.new_end - first.new_start;
        let (before, after) =
            (range(first.old_start, old_lines), range(first.new_start, new_lines));
        let _ = writeln!(text, "@@ -{before} +{after} @@");
        for edit in group {
            if edit.same {
                for line in &old[edit.old_start..edit.old_end] {
                    let _ = writeln!(text, " {line}");
                }
                continue;
            }
            for line in &old[edit.old_start..edit.old_end] {
                let _ = writeln!(text, "-{line}");
            }
            for line in &new[edit.new_start..edit.new_end] {
                let _ = writeln!(text, "+{line}");
            }
        }
    }
    text
}

fn range(start: usize, length: usize) -> String {
    match length {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

#[derive(Clone, Copy, Debug)]
struct Edit {
    same: bool,
    old_start: usize,
    old_end: usize,
    new_start: usize,
    new_end: usize,
}

/// Runs of equal and of different lines, by the longest common block first.
fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let mut blocks = Vec::new();
    let mut open = vec![(0, old.len(), 0, new.len())];
    while let Some((a, b, c, d)) = open.pop() {
        let (i, j, length) = longest(old, new, (a, b), (c, d));
        if length == 0 {
            continue;
        }
        blocks.push((i, j, length));
        open.push((a, i, c, j));
        open.push((i + length, b, j + length, d));
    }
    blocks.sort_unstable();
    blocks.push((old.len(), new.len(), 0));
    let mut edits = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (a, b, length) in blocks {
        if i < a || j < b {
            edits.push(Edit { same: false, old_start: i, old_end: a, new_start: j, new_end: b });
        }
        (i, j) = (a + length, b + length);
        let joins = edits.last_mut().filter(|edit: &&mut Edit| edit.same && edit.old_end == a);
        match joins {
            Some(edit) => (edit.old_end, edit.new_end) = (i, j),
            None if length > 0 => {
                edits.push(Edit { same: true, old_start: a, old_end: i, new_start: b, new_end: j });
            }
            None => {}
        }
    }
    edits
}

/// The longest block that both have, the first of them if there are several.
fn longest(
    old: &[&str],
    new: &[&str],
    (a, b): (usize, usize),
    (c, d): (usize, usize),
) -> (usize, usize, usize) {
    let mut best = (a, c, 0);
    if (b - a).saturating_mul(d - c) > CELLS_LIMIT {
        return best;
    }
    let mut runs = vec![0_usize; d - c + 1];
    for (i, line) in old[a..b].iter().enumerate() {
        let mut diagonal = 0;
        for (j, other) in new[c..d].iter().enumerate() {
            let above = runs[j + 1];
            let run = if line == other { diagonal + 1 } else { 0 };
            runs[j + 1] = run;
            diagonal = above;
            if run > best.2 {
                best = (a + i + 1 - run, c + j + 1 - run, run);
            }
        }
    }
    best
}

/// Changes with the lines around them. Those that are near each other are one group.
fn groups(edits: &[Edit]) -> Vec<Vec<Edit>> {
    let mut groups = Vec::new();
    let mut group: Vec<Edit> = Vec::new();
    for (n, edit) in edits.iter().enumerate() {
        let mut edit = *edit;
        if !edit.same {
            group.push(edit);
            continue;
        }
        let length = edit.old_end - edit.old_start;
        let (first, last) = (n == 0, n + 1 == edits.len());
        if !first && !last && length <= 2 * CONTEXT {
            group.push(edit);
            continue;
        }
        if !first {
            let kept = length.min(CONTEXT);
            let (old_end, new_end) = (edit.old_start + kept, edit.new_start + kept);
            group.push(Edit { old_end, new_end, ..edit });
            groups.push(std::mem::take(&mut group));
        }
        if !last {
            let kept = length.min(CONTEXT);
            (edit.old_start, edit.new_start) = (edit.old_end - kept, edit.new_end - kept);
            group.push(edit);
        }
    }
    if group.iter().any(|edit| !edit.same) {
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split(' ').collect(), new.split(' ').collect());
        assert_eq!(unified(&old, &new), expected);
    }

    #[test]
    fn changes_have_three_lines_around_them() {
        check(
            "a b c d e f g h",
            "a b c d X f g h",
            "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n",
        );
        check("a", "b", "@@ -1 +1 @@\n-a\n+b\n");
        check("a b", "a b c", "@@ -1,2 +1,3 @@\n a\n b\n+c\n");
    }

    #[test]
    fn changes_far_apart_are_shown_apart() {
        check(
            "a b c d e f g h i j",
            "X b c d e f g h i Y",
            "@@ -1,4 +1,4 @@\n-a\n+X\n b\n c\n d\n@@ -7,4 +7,4 @@\n g\n h\n i\n-j\n+Y\n",
        );
    }
}
