//! Hashes of templates, in the letters that generated names have.

use serde_json::Value;

/// FNV-1a, as names of revisions are made with.
pub(crate) fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// A hash of a value, and of how often another value had the same one.
pub(crate) fn of(value: &Value, collisions: Option<i64>) -> String {
    let mut text = value.to_string();
    if let Some(collisions) = collisions {
        text.push_str(&collisions.to_string());
    }
    safe(&fnv(text.as_bytes()).to_string())
}

/// Some letters that look random and are always the same for a seed.
pub(crate) fn letters(seed: &str, count: usize) -> String {
    let mut hash = u64::from(fnv(seed.as_bytes())) << 32;
    hash |= u64::from(fnv(format!("{seed}/").as_bytes()));
    let mut letters = String::new();
    for _ in 0..count {
        // The alphabet has 27 letters.
        letters.push(char::from(LETTERS[usize::try_from(hash % 27).unwrap_or_default()]));
        hash /= 27;
    }
    letters
}

const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Replaces each digit by a letter or digit that cannot be part of a word.
fn safe(digits: &str) -> String {
    digits.bytes().map(|digit| char::from(LETTERS[usize::from(digit) % LETTERS.len()])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        assert_eq!(fnv(b""), 0x811c_9dc5);
        assert_eq!(fnv(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn collisions_change_the_hash() {
        let template = json!({"spec": {}});
        assert_eq!(of(&template, None), of(&template, None));
        assert_ne!(of(&template, None), of(&template, Some(1)));
    }
}
