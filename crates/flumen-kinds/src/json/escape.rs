//! The text between two quotes.

use std::borrow::Cow;

/// The text of a string that has been scanned. Bytes that are no UTF-8 and halves of surrogate pairs
/// become replacement characters, as in Go.
pub(super) fn text(raw: &[u8]) -> Cow<'_, str> {
    if !raw.contains(&b'\\') {
        return match std::str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(lossy(raw)),
        };
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(escape) = rest.iter().position(|byte| *byte == b'\\') {
        push(&mut out, &rest[..escape]);
        rest = push_escape(&mut out, &rest[escape + 1..]);
    }
    push(&mut out, rest);
    Cow::Owned(out)
}

fn push(out: &mut String, raw: &[u8]) {
    match std::str::from_utf8(raw) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&lossy(raw)),
    }
}

/// One replacement for each byte, where the standard library has one for each sequence.
fn lossy(raw: &[u8]) -> String {
    let mut out = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out
}

/// Takes what follows a backslash, and gives back what follows that.
fn push_escape<'a>(out: &mut String, rest: &'a [u8]) -> &'a [u8] {
    let Some((kind, after)) = rest.split_first() else { return rest };
    let c = match kind {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return push_unicode(out, after),
        plain => char::from(*plain),
    };
    out.push(c);
    after
}

fn push_unicode<'a>(out: &mut String, rest: &'a [u8]) -> &'a [u8] {
    let Some((unit, after)) = unit(rest) else { return rest };
    if let Some(c) = char::from_u32(unit) {
        out.push(c);
        return after;
    }
    // Half of a pair: the other half must follow at once.
    if let Some((low, after)) = after.strip_prefix(b"\\u").and_then(self::unit)
        && let (0xd800..=0xdbff, 0xdc00..=0xdfff) = (unit, low)
        && let Some(c) = char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
    {
        out.push(c);
        return after;
    }
    out.push(char::REPLACEMENT_CHARACTER);
    after
}

fn unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, after) = rest.split_at_checked(4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}
