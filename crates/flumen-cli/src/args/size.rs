//! Sizes as people write them.

/// Parses `1048576`, `512K`, `256MB` or `1GiB`; all units count in steps of 1024.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{unit}` is no unit: write K, M, G or T")),
    };
    let number: u64 =
        digits.trim().parse().map_err(|_| "expected a size such as 512M".to_owned())?;
    number
        .checked_shl(shift)
        .filter(|size| size >> shift == number)
        .ok_or_else(|| "this size is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn units_count_in_steps_of_1024() {
        for (text, expected) in
            [("7", 7), ("7b", 7), ("2k", 2048), ("2KiB", 2048), ("1MB", 1 << 20), ("3G", 3 << 30)]
        {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_sizes() {
        for text in ["", "M", "1X", "-1", "1.5G", "99999999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
