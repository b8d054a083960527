//! Parts of blobs, asked for or sent.

use axum::http::{HeaderMap, HeaderValue, header};

/// What to send of a blob.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// From the first of these positions up to the second, both included.
    Part(u64, u64),
    Impossible,
}

impl Wanted {
    /// Reads the `Range` header. What is not understood is ignored, as HTTP asks.
    pub(super) fn of(headers: &HeaderMap, size: u64) -> Self {
        let text = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
        let Some((first, last)) = text
            .and_then(|text| text.trim().strip_prefix("bytes="))
            // Several ranges need an answer of several parts; all of the blob is a right answer too.
            .filter(|text| !text.contains(','))
            .and_then(|text| text.split_once('-'))
        else {
            return Self::All;
        };
        let (first, last) = (first.trim(), last.trim());
        let (first, last) = match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => (first, last),
            (Some(first), None) if last.is_empty() => (first, u64::MAX),
            (None, Some(tail)) if first.is_empty() => (size.saturating_sub(tail), u64::MAX),
            _ => return Self::All,
        };
        if first < size { Self::Part(first, last.min(size - 1)) } else { Self::Impossible }
    }
}

/// Digits alone; Rust would take a sign, too.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Where a chunk of an upload belongs: `0-99`, as the specification of registries has it.
///
/// `None` if there is no such header, an error if it cannot be read.
pub(super) fn chunk(headers: &HeaderMap) -> Result<Option<(u64, u64)>, ()> {
    let Some(value) = headers.get(header::CONTENT_RANGE) else { return Ok(None) };
    let text = value.to_str().map_err(|_| ())?.trim();
    // HTTP's own form has a unit in front and the total behind.
    let text = text.strip_prefix("bytes ").or_else(|| text.strip_prefix("bytes=")).unwrap_or(text);
    let text = text.split_once('/').map_or(text, |(range, _)| range);
    let (first, last) = text.split_once('-').ok_or(())?;
    match (number(first), number(last)) {
        // The length of the chunk must be a number, too.
        (Some(first), Some(last)) if first <= last && last < u64::MAX => Ok(Some((first, last))),
        _ => Err(()),
    }
}

/// How far an upload has come.
pub(super) fn received(size: u64) -> HeaderValue {
    // The form has no way to say that nothing is there yet; everyone says this.
    let last = size.saturating_sub(1);
    HeaderValue::try_from(format!("0-{last}")).unwrap_or(HeaderValue::from_static("0-0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(range: &str, size: u64) -> Wanted {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_str(range).expect("a value"));
        Wanted::of(&headers, size)
    }

    #[test]
    fn parts_are_cut_to_what_is_there() {
        assert_eq!(wanted("bytes=0-3", 10), Wanted::Part(0, 3));
        assert_eq!(wanted("bytes=5-", 10), Wanted::Part(5, 9));
        assert_eq!(wanted("bytes=5-99", 10), Wanted::Part(5, 9));
        assert_eq!(wanted("bytes=-3", 10), Wanted::Part(7, 9));
        assert_eq!(wanted("bytes=-99", 10), Wanted::Part(0, 9));
    }

    #[test]
    fn what_lies_behind_the_end_is_impossible() {
        for range in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(wanted(range, 10), Wanted::Impossible, "{range}");
        }
        assert_eq!(wanted("bytes=-1", 0), Wanted::Impossible);
    }

    #[test]
    fn the_rest_is_ignored() {
        for range in [
            "bytes=3-1",
            "bytes=0-1,3-4",
            "lines=1-2",
            "bytes=",
            "bytes=-",
            "bytes=a-b",
            "bytes=1-x",
        ] {
            assert_eq!(wanted(range, 10), Wanted::All, "{range}");
        }
    }
}
