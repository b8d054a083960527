//! The one place that asks for the time and for randomness.

use jiff::Timestamp;
use uuid::Uuid;

pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// As metadata has it: whole seconds.
pub(crate) fn text(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(crate) fn uid() -> String {
    Uuid::new_v4().to_string()
}

/// Letters of generated names, without vowels and look-alikes, so that no words arise.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
const MAX_NAME: usize = 63;

/// A name that begins with a prefix, cut so that the whole is short enough for a label.
pub(crate) fn generate_name(prefix: &str) -> String {
    let room = MAX_NAME - SUFFIX;
    let end = (0..=room.min(prefix.len())).rev().find(|end| prefix.is_char_boundary(*end));
    let mut name = prefix[..end.unwrap_or_default()].to_owned();
    name.push_str(&random_suffix());
    name
}

pub(crate) fn random_suffix() -> String {
    let random = Uuid::new_v4();
    random.as_bytes()[..SUFFIX]
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]))
        .collect()
}
