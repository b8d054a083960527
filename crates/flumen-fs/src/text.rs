//! Small text files that the user names, such as keys and configurations.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// Reads a text file; one of more than `max_bytes` is an error.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(max_bytes.saturating_add(1)).read_to_string(&mut text)?;
    if length as u64 > max_bytes {
        return Err(io::Error::other("it is too large for what it should be"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beyond_the_limit_is_refused() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let path = dir.path().join("key");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read_text(&path, 5).expect("read"), "12345");
        assert!(read_text(&path, 4).is_err());
    }
}
