//! Patterns for one name, as Go's `path/filepath` matches them: `*`, `?`, `[a-z]`, `[^a-z]` and `\`.

/// Returns whether the whole name fits. A malformed pattern fits nothing.
///
/// A star is tried again only at the last one that was seen, so the time is bounded by the product of
/// both lengths.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    // Behind the last star, and the place in the name up to which it reaches.
    let mut retry = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            at += 1;
            retry = Some((at, in_name));
            continue;
        }
        match (name.get(in_name), pattern.get(at)) {
            (None, None) => return true,
            (Some(c), Some(_)) => match step(&pattern[at..], *c) {
                Some((length, true)) => {
                    at += length;
                    in_name += 1;
                    continue;
                }
                Some((_, false)) => {}
                None => return false,
            },
            _ => {}
        }
        match retry {
            Some((star, reach)) if reach < name.len() => {
                at = star;
                in_name = reach + 1;
                retry = Some((star, in_name));
            }
            _ => return false,
        }
    }
}

/// Returns the length of the first element of a pattern, and whether it fits a character.
fn step(pattern: &[char], c: char) -> Option<(usize, bool)> {
    match pattern {
        ['?', ..] => Some((1, c != '/')),
        ['\\', literal, ..] => Some((2, *literal == c)),
        ['[', rest @ ..] => {
            let (length, fits) = class(rest, c)?;
            Some((length + 1, fits))
        }
        [] | ['\\'] => None,
        [literal, ..] => Some((1, *literal == c)),
    }
}

/// A class without its opening bracket; it holds at least one range.
fn class(pattern: &[char], c: char) -> Option<(usize, bool)> {
    let is_negated = pattern.first() == Some(&'^');
    let mut at = usize::from(is_negated);
    let mut fits = false;
    let mut ranges = 0;
    loop {
        if pattern.get(at) == Some(&']') && ranges > 0 {
            return Some((at + 1, fits != is_negated));
        }
        let low = bound(pattern, &mut at)?;
        let high = if pattern.get(at) == Some(&'-') {
            at += 1;
            bound(pattern, &mut at)?
        } else {
            low
        };
        fits |= (low..=high).contains(&c);
        ranges += 1;
    }
}

fn bound(pattern: &[char], at: &mut usize) -> Option<char> {
    let mut c = *pattern.get(*at)?;
    if matches!(c, '-' | ']') {
        return None;
    }
    if c == '\\' {
        *at += 1;
        c = *pattern.get(*at)?;
    }
    *at += 1;
    Some(c)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn names_fit_or_do_not() {
        for (pattern, name, expected) in [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*c", "abc", true),
            ("a*", "abc", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*", "bac", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "aXb", false),
            ("[", "a", false),
            ("[]a]", "]", false),
            ("[\\]a]", "]", true),
            ("[a-]", "a", false),
            ("a\\", "a", false),
            ("", "", true),
            ("", "a", false),
            ("*.tar.gz", "x.tar.gz", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_end() {
        let name = "a".repeat(2_000);
        assert!(!matches(&format!("{}b", "a*".repeat(200)), &name));
    }
}
