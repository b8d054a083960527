//! Guesses at what a misspelled word was meant to be.

/// Returns the candidate that is spelled most like `word`, if any is close.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Nobody misspells a longer name, and the comparison is quadratic.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let limit = word.len().max(3) / 3;
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(word, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= limit)
        .map(|(_, candidate)| candidate)
}

/// Number of letters to change, add or remove; a change of case alone is free.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, letter) in a.chars().map(|letter| letter.to_ascii_lowercase()).enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (other, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = *cell;
            left = changed.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let known = ["namePrefix", "namespace", "resources", "images", "crds"];
        assert_eq!(nearest(word, known), expected, "nearest to {word:?}");
    }

    #[test]
    fn misspelled_names_are_recognised() {
        check("nameprefixx", Some("namePrefix"));
        check("resource", Some("resources"));
        check("image", Some("images"));
        check("name_space", Some("namespace"));
        check("crd", Some("crds"));
    }

    #[test]
    fn other_words_are_not() {
        check("spec", None);
        check("", None);
        check("metadata", None);
        check(&"resources".repeat(100), None);
    }
}
