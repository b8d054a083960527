//! Writes tar archives in gzip, the same bytes for the same content on any machine.
//!
//! Nothing about the machine enters: owners and times are zero, the gzip header names no file, no
//! time and no system, and the compressor is part of this program.

use std::{fmt, io, path::Path};

use flate2::{Compression, GzBuilder, write::GzEncoder};
use tar::{EntryType, Header};

/// Writes a tar archive entry by entry.
pub struct ArchiveWriter<W: io::Write>(tar::Builder<W>);

impl<W: io::Write> ArchiveWriter<W> {
    pub fn new(into: W) -> Self {
        Self(tar::Builder::new(into))
    }

    /// Adds a directory; its name has no slash at the end, as Flux writes it.
    pub fn directory(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.entry(EntryType::Directory, path, mode, &[])
    }

    pub fn file(&mut self, path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
        self.entry(EntryType::Regular, path, mode, content)
    }

    fn entry(
        &mut self,
        entry_type: EntryType,
        path: &Path,
        mode: u32,
        content: &[u8],
    ) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(entry_type);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        self.0.append_data(&mut header, path, content)
    }

    /// Ends the archive and returns what it was written to.
    pub fn finish(self) -> io::Result<W> {
        self.0.into_inner()
    }
}

impl<W: io::Write> fmt::Debug for ArchiveWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArchiveWriter")
    }
}

/// Compressor of an archive.
#[derive(Debug)]
pub struct Gzip<W: io::Write>(GzEncoder<W>);

impl<W: io::Write> Gzip<W> {
    pub fn new(into: W) -> Self {
        let header = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM);
        Self(header.write(into, Compression::new(LEVEL)))
    }

    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: io::Write> io::Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // All of it, so that the pieces that the compressor gets depend on the content alone.
        self.0.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Flushing would end a block early and change the bytes.
        Ok(())
    }
}

/// Number that RFC 1952 gives to an unknown system.
const UNKNOWN_SYSTEM: u8 = 255;

/// Changing it changes every digest.
const LEVEL: u32 = 6;

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Gzip::new(Vec::new()));
        for (path, content) in files {
            writer.file(Path::new(path), 0o600, content).expect("written");
        }
        writer.finish().and_then(Gzip::finish).expect("finished")
    }

    #[test]
    fn the_header_says_nothing_about_the_machine() {
        let bytes = archive(&[("all.yaml", b"a: b\n")]);
        assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
        let mut plain = Vec::new();
        GzDecoder::new(&*bytes).read_to_end(&mut plain).expect("gzip");
        let mut entries = tar::Archive::new(&*plain);
        let entry = entries.entries().expect("archive").next().expect("one").expect("entry");
        let header = entry.header();
        assert_eq!(
            (header.uid().ok(), header.gid().ok(), header.mtime().ok()),
            (Some(0), Some(0), Some(0))
        );
    }

    #[test]
    fn the_bytes_are_these_and_no_others() {
        // A digest that changes here changes for every user: their artifacts get new names.
        let lines = (0..2_000).map(|line| format!("key-{line}: value {}\n", line * line));
        let content: String = lines.collect();
        let digest = Sha256::digest(archive(&[("all.yaml", content.as_bytes())]));
        assert_eq!(
            format!("{digest:x}"),
            "3dd5eca5292a9737821ec39c09af1c217bc12914abaf98e4b3aae9ffac7d112e"
        );
    }

    #[test]
    fn long_names_are_kept() {
        let name = format!("{}/file.yaml", "directory/".repeat(40));
        let bytes = archive(&[(&name, b"x")]);
        let mut archive = tar::Archive::new(GzDecoder::new(&*bytes));
        let entry = archive.entries().expect("archive").next().expect("one").expect("entry");
        assert_eq!(entry.path().expect("path"), Path::new(&name.replace("//", "/")));
    }
}
