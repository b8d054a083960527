//! Tells whether bytes are those that were written.
//!
//! The database checks its pages after a crash only, so each row carries a checksum of its own. It
//! is against accidents, not against attackers: who can write the file can also write a checksum.

/// Odd, so that multiplying by it loses nothing; the digits are those of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A checksum that every change of eight bytes in a row changes. Reads a word at a time, because
/// opening a store checks all of it.
pub(crate) fn checksum(parts: [&[u8]; 2]) -> u64 {
    parts.into_iter().fold(FACTOR, |sum, part| {
        let (words, rest) = part.as_chunks::<8>();
        let sum = words.iter().fold(sum, |sum, word| mix(sum, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length keeps apart what differs in zeros at the end.
        mix(mix(sum, u64::from_le_bytes(last)), part.len() as u64)
    })
}

/// Two sums that differ, or two words that differ, give two results that differ.
fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(FACTOR).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let text = *b"some twenty bytes, at least";
        let whole = checksum([b"key", &text]);
        for bit in 0..text.len() * 8 {
            let mut changed = text;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum([b"key", &changed]), whole, "bit {bit}");
        }
    }

    #[test]
    fn lengths_and_the_border_between_parts_count() {
        let sums = [
            checksum([b"", b""]),
            checksum([b"", b"\0"]),
            checksum([b"\0", b""]),
            checksum([b"", &[0; 8]]),
            checksum([&[0; 8], b""]),
        ];
        for (index, sum) in sums.iter().enumerate() {
            assert!(!sums[..index].contains(sum), "{index}");
        }
    }
}
