//! Packs a directory, a file or a text as Flux does it.

use std::path::Path;

use flumen_archive::PathOptions;

use super::{Metadata, Packed, layer::Layer, pack::flux};
use crate::{Digest, Result};

/// Flux puts a text into a temporary file, and packs that.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Packs a directory, or a single file, as it is.
pub fn pack_path(path: &Path, options: &PathOptions, metadata: &Metadata) -> Result<Packed> {
    let layer = Layer::of(|writer| flumen_archive::pack_path(path, options, writer))?;
    flux(layer, metadata)
}

/// Packs a text that is no file, without the line ends behind it.
pub fn pack_text(text: &[u8], metadata: &Metadata) -> Result<Packed> {
    let layer = Layer::of(|writer| {
        writer.directory(Path::new("."), DIRECTORY_MODE)?;
        let name = text_file_name(text);
        Ok(writer.file(Path::new(&name), FILE_MODE, without_line_ends(text))?)
    })?;
    flux(layer, metadata)
}

/// Returns the name of the file that a text becomes.
///
/// Flux puts it into a file with a random number for its name. Here the number comes from the text, so that the same
/// text is the same artifact.
pub fn text_file_name(text: &[u8]) -> String {
    let number: u64 = Digest::of(without_line_ends(text))
        .hex()
        .bytes()
        .take(16)
        .fold(0, |number, digit| number.wrapping_mul(16).wrapping_add(u64::from(digit & 0xf)));
    format!("{}.yaml", number % 10_000_000_000)
}

fn without_line_ends(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    &text[..end]
}
