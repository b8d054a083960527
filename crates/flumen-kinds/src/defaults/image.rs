//! Names of images, as far as it takes to know their tag.

/// Whether an image has the tag `latest`, written or implied. A text that names no image has none.
pub(super) fn is_latest(image: &str) -> bool {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let (name, tag) = match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    };
    let is_image =
        is_name(name) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest) && !is_id(image);
    is_image && tag.map_or(digest.is_none(), |tag| tag == "latest")
}

/// The long id of an image, which is no name.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name(name: &str) -> bool {
    let path = match name.split_once('/') {
        Some((host, path)) if is_host(host) => path,
        _ => name,
    };
    path.split('/').all(is_component)
}

/// Whether the first part of a name is a registry rather than a directory.
fn is_host(part: &str) -> bool {
    let is_told = part.contains(['.', ':'])
        || part == "localhost"
        || part.bytes().any(|byte| byte.is_ascii_uppercase());
    is_told && part.bytes().all(|b| b.is_ascii_alphanumeric() || b".:-[]".contains(&b))
}

/// Words of small letters and digits, with one separator between two: `.`, `_`, `__` or dashes.
fn is_component(part: &str) -> bool {
    let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let bytes = part.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| is_word(*first) && is_word(*last))
        && part.split(|c: char| c.is_ascii() && is_word(c as u8)).all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
        })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= 128
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hash)) = digest.split_once(':') else { return false };
    algorithm.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && hash.len() >= 32
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}
