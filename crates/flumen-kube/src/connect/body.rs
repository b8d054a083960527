//! The body of an answer, decompressed as it arrives.

use std::io::{self, Write as _};

use bytes::{Buf as _, Bytes};
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header::CONTENT_ENCODING};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::transport::Fault;

/// Compressed bytes to expand at once. gzip expands at most a thousandfold, so the limit on answers
/// takes effect before memory runs out.
const STEP: usize = 8 << 10;

pub(crate) struct Body {
    incoming: Incoming,
    gzip: Option<Box<Gunzip>>,
}

impl Body {
    pub(super) fn new(headers: &HeaderMap, incoming: Incoming) -> Self {
        let is_gzip = |value: &http::HeaderValue| {
            value.as_bytes().eq_ignore_ascii_case(b"gzip")
                || value.as_bytes().eq_ignore_ascii_case(b"x-gzip")
        };
        let gzip = headers.get(CONTENT_ENCODING).filter(|value| is_gzip(value));
        Self { incoming, gzip: gzip.map(|_| Box::default()) }
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Option<Result<Bytes, Fault>> {
        loop {
            if let Some(gzip) = &mut self.gzip
                && let Some(bytes) = gzip.next().transpose()
            {
                return Some(bytes.map_err(Fault::Compression));
            }
            let data = match self.incoming.frame().await {
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Some(Err(Fault::Body(error))),
                None => {
                    let rest = self.gzip.take()?.finish().map_err(Fault::Compression);
                    return Some(rest);
                }
            };
            match &mut self.gzip {
                Some(gzip) => gzip.input = data,
                None => return Some(Ok(data)),
            }
        }
    }
}

struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    /// What has arrived and is not expanded yet.
    input: Bytes,
    has_begun: bool,
}

impl Default for Gunzip {
    fn default() -> Self {
        let decoder = MultiGzDecoder::new(Vec::new());
        Self { decoder, input: Bytes::new(), has_begun: false }
    }
}

impl Gunzip {
    /// Expands input until there is something to show for it, or no input is left.
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        while !self.input.is_empty() {
            self.has_begun = true;
            let step = self.input.len().min(STEP);
            match self.decoder.write(&self.input[..step])? {
                0 => return Err(io::ErrorKind::InvalidData.into()),
                taken => self.input.advance(taken),
            }
            let output = std::mem::take(self.decoder.get_mut());
            if !output.is_empty() {
                return Ok(Some(output.into()));
            }
        }
        Ok(None)
    }

    /// Returns the rest of the content; fails if some of it is missing.
    fn finish(mut self) -> io::Result<Bytes> {
        if self.has_begun {
            self.decoder.try_finish()?;
        }
        Ok(std::mem::take(self.decoder.get_mut()).into())
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).expect("in memory");
        encoder.finish().expect("in memory")
    }

    /// What comes out of pieces of this size, and the largest piece of it.
    fn expanded(bytes: &[u8], size: usize) -> io::Result<(Vec<u8>, usize)> {
        let (mut gunzip, mut all, mut largest) = (Gunzip::default(), Vec::new(), 0);
        for piece in bytes.chunks(size) {
            gunzip.input = Bytes::copy_from_slice(piece);
            while let Some(output) = gunzip.next()? {
                largest = largest.max(output.len());
                all.extend_from_slice(&output);
            }
        }
        all.extend_from_slice(&gunzip.finish()?);
        Ok((all, largest))
    }

    #[test]
    fn pieces_of_any_size_are_joined() {
        let text = b"one two three ".repeat(1000);
        let once = gzip(&text);
        for size in [1, 2, 7, 100, once.len()] {
            assert_eq!(expanded(&once, size).expect("gzip").0, text, "{size}");
            let twice = once.repeat(2);
            assert_eq!(expanded(&twice, size).expect("gzip").0, text.repeat(2), "{size}");
        }
        assert_eq!(expanded(b"", 1).expect("nothing").0, b"");
    }

    #[test]
    fn broken_input_is_an_error() {
        let text = b"one two three ".repeat(100);
        let whole = gzip(&text);
        for end in 1..whole.len() {
            for size in [1, whole.len()] {
                assert!(expanded(&whole[..end], size).is_err(), "{end}");
            }
        }
        for index in 0..whole.len() {
            let mut broken = whole.clone();
            broken[index] ^= 0x55;
            // The header has fields without a checksum.
            let expanded = expanded(&broken, 5).map(|(bytes, _)| bytes);
            assert!(expanded.is_err() || (index < 10 && expanded.is_ok_and(|it| it == text)));
        }
        assert!(expanded(&[&whole[..], b"more"].concat(), 9).is_err());
    }

    #[test]
    fn much_from_little_comes_in_pieces() {
        let zeros = gzip(&vec![0; 64 << 20]);
        let (bytes, largest) = expanded(&zeros, zeros.len()).expect("gzip");
        assert_eq!(bytes.len(), 64 << 20);
        assert!(largest <= 1040 * STEP, "{largest}");
    }
}
