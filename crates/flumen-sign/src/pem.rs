//! PEM: binary content in text, between two lines that say what it is.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::KeyError;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Curve parameters precede older ECDSA keys and repeat what the key says.
const PARAMETERS: &str = "EC PARAMETERS";

/// Columns of the text between the two lines.
const WIDTH: usize = 64;

/// One block of a PEM file. Its content may be a private key.
pub(crate) struct Block<'a> {
    pub(crate) label: &'a str,
    pub(crate) content: Zeroizing<Vec<u8>>,
}

/// The first block that holds a key.
pub(crate) fn read(text: &str) -> Result<Block<'_>, KeyError> {
    let mut rest = text;
    loop {
        let (_, begun) = rest.split_once(BEGIN).ok_or(KeyError::NotPem)?;
        let (label, body) = begun.split_once(DASHES).ok_or(KeyError::NotPem)?;
        let (body, ended) = body.split_once(END).ok_or(KeyError::NotPem)?;
        rest = ended.strip_prefix(label).ok_or(KeyError::NotPem)?;
        if label != PARAMETERS {
            return Ok(Block { label, content: decode(body)? });
        }
    }
}

fn decode(body: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    // Headers are how keys were encrypted before PKCS #8.
    if body.contains("Proc-Type:") {
        return Err(KeyError::OtherEncryption);
    }
    let packed: Zeroizing<Vec<u8>> =
        Zeroizing::new(body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect());
    STANDARD.decode(&*packed).map(Zeroizing::new).map_err(|_| KeyError::NotPem)
}

pub(crate) fn write(label: &str, content: &[u8]) -> String {
    let encoded = STANDARD.encode(content);
    let mut text = format!("{BEGIN}{label}{DASHES}\n");
    for line in encoded.as_bytes().chunks(WIDTH) {
        text.extend(line.iter().copied().map(char::from));
        text.push('\n');
    }
    text + END + label + DASHES + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        for length in [0_usize, 1, 47, 48, 49, 1000] {
            let content: Vec<u8> = (0..=250).cycle().take(length).collect();
            let text = write("SOME KEY", &content);
            assert!(text.lines().all(|line| line.len() <= WIDTH));
            let block = read(&text).expect("a block");
            assert_eq!((block.label, &**block.content), ("SOME KEY", &content[..]));
        }
    }

    #[test]
    fn parameters_are_passed_over() {
        let text = write(PARAMETERS, b"curve") + &write("EC PRIVATE KEY", b"key");
        assert_eq!(read(&text).expect("a block").label, "EC PRIVATE KEY");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "text",
            "-----BEGIN ",
            "-----BEGIN A-----",
            "-----BEGIN A-----\n!\n-----END A-----",
            "-----BEGIN A-----\nAAAA\n-----END B-----",
        ] {
            assert_eq!(read(text).err(), Some(KeyError::NotPem), "{text:?}");
        }
        let old = "-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END A-----";
        assert_eq!(read(old).err(), Some(KeyError::OtherEncryption));
    }
}
