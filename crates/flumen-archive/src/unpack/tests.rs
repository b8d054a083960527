use flate2::{Compression as Level, write::GzEncoder};
use tar::Header;

use super::*;
use crate::Budget;

/// Everything that came out.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Sink for Names {
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        self.0.push(format!("{}/", path.display()));
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let size = io::copy(content, &mut io::sink())?;
        self.0.push(format!("{} {:o} {size}", entry.path.display(), entry.mode));
        Ok(())
    }
}

/// An entry with whatever name, type and link.
fn entry(name: &str, entry_type: EntryType, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(entry_type);
    header.set_mode(0o4755);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: &str) -> Vec<u8> {
    entry(name, EntryType::Regular, "", b"content")
}

fn gzip(archive: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    io::Write::write_all(&mut encoder, archive).expect("memory");
    encoder.finish().expect("memory")
}

fn options(rules: Rules) -> UnpackOptions<'static> {
    UnpackOptions::gzip("layer x", rules)
}

fn unpack_bytes(archive: &[u8], budget: Budget) -> Result<Vec<String>, UnpackError> {
    unpack_by(&options(Rules::Strict), archive, budget)
}

fn unpack_by(
    options: &UnpackOptions<'_>,
    mut archive: &[u8],
    budget: Budget,
) -> Result<Vec<String>, UnpackError> {
    let mut names = Names::default();
    unpack(&mut archive, options, &mut Meter::new(budget), &mut names)?;
    Ok(names.0)
}

fn unpack_entries(entries: &[Vec<u8>]) -> Result<Vec<String>, UnpackError> {
    unpack_bytes(&archive(entries), Budget::default())
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut archive = entries.concat();
    archive.resize(archive.len() + 1024, 0);
    gzip(&archive)
}

#[track_caller]
fn check_refused(entries: &[Vec<u8>], expected: &str) {
    let error = unpack_entries(entries).expect_err("refused").to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn files_and_directories_come_out_without_dangerous_bits() {
    let entries = [entry("./a", EntryType::Directory, "", b""), file("a/b"), file("./c")];
    assert_eq!(unpack_entries(&entries).expect("fine"), ["a/", "a/b 755 7", "c 755 7"]);
}

#[test]
fn names_that_lead_outside_are_refused() {
    check_refused(&[file("../a")], "leads outside");
    check_refused(&[file("a/../../b")], "leads outside");
    check_refused(&[file("/etc/passwd")], "absolute");
    check_refused(&[entry("..", EntryType::Directory, "", b"")], "leads outside");
    check_refused(&[file("..\\a")], "backslash");
    check_refused(&[file("a\u{1b}[2J")], "control character");
    check_refused(&[file("./")], "without a name");
    let deep = "d/".repeat(101);
    let error = safe_path("x", deep.as_bytes(), &EntryLimits::default()).expect_err("refused");
    assert!(error.to_string().contains("lies too deep"), "{error}");
}

#[test]
fn limits_of_entries_are_those_of_the_caller() {
    #[track_caller]
    fn check(limits: EntryLimits, expected: &str) {
        let archive = archive(&[file("a/b")]);
        let options = UnpackOptions { limits, ..options(Rules::Strict) };
        let error = unpack_by(&options, &archive, Budget::default()).expect_err("refused");
        assert_eq!(error.to_string(), expected);
    }
    let limits = EntryLimits { file_bytes: 7, depth: 2, path_bytes: 3 };
    let options = UnpackOptions { limits, ..options(Rules::Strict) };
    let fits = unpack_by(&options, &archive(&[file("a/b")]), Budget::default());
    assert_eq!(fits.expect("within the limits"), ["a/b 755 7"]);
    check(
        EntryLimits { file_bytes: 6, ..limits },
        "the entry `a/b` of layer x is too large: the limit is 6 bytes",
    );
    check(
        EntryLimits { depth: 1, ..limits },
        "unsafe archive: the entry `a/b` of layer x lies too deep",
    );
    check(
        EntryLimits { path_bytes: 2, ..limits },
        "unsafe archive: the entry `a/b` of layer x has a name that is too long",
    );
}

#[test]
fn links_stay_out_and_keep_their_names() {
    let link = |target: &str| entry("a/l", EntryType::Symlink, target, b"");
    assert_eq!(unpack_entries(&[link("../x"), file("y")]).expect("fine"), ["y 755 7"]);
    check_refused(&[link("../../x")], "link that leads outside");
    check_refused(&[link("/etc")], "link that leads outside");
    check_refused(&[link("x"), file("a/l")], "duplicate");
    check_refused(&[link("x"), file("a/l/below")], "duplicate");
    check_refused(&[entry("h", EntryType::Link, "x", b"")], "hard link");
}

#[test]
fn other_kinds_of_entries_are_refused() {
    check_refused(&[entry("d", EntryType::Char, "", b"")], "device");
    check_refused(&[entry("p", EntryType::Fifo, "", b"")], "fifo");
    check_refused(&[entry("z", EntryType::new(b'Z'), "", b"")], "unsupported type");
    check_refused(&[file("a"), file("a")], "duplicate");
    check_refused(&[file("a"), file("./a")], "duplicate");
    let sparse = entry("x", EntryType::XHeader, "", b"22 GNU.sparse.major=1\n");
    check_refused(&[sparse, file("a")], "sparse");
}

#[test]
fn sources_are_unpacked_as_flux_does_it() {
    let options = options(Rules::Flux);
    let unpack = |entries: &[Vec<u8>]| unpack_by(&options, &archive(entries), Budget::default());
    let link = |name: &str, target: &str| entry(name, EntryType::Symlink, target, b"");
    let hard = |name: &str, content: &[u8]| entry(name, EntryType::Link, "a", content);
    let entries =
        [link("l", "/etc"), file("l"), link("m", "../.."), file("m/b"), file("a"), file("a")];
    let expected = ["l 755 7", "m/b 755 7", "a 755 7", "a 755 7"];
    assert_eq!(unpack(&entries).expect("fine"), expected);
    assert_eq!(unpack(&[file("a"), hard("h", b"")]).expect("fine"), ["a 755 7", "h 755 0"]);
    for refused in [
        file("../a"),
        file("/a"),
        link("../l", "x"),
        link("/l", "x"),
        hard("../h", b""),
        hard("h", b"content"),
        entry("d", EntryType::Char, "", b""),
        entry("p", EntryType::Fifo, "", b""),
    ] {
        assert!(matches!(unpack(&[refused]), Err(UnpackError::UnsafeEntry { .. })));
    }
    let many = archive(&[link("a", "x"), hard("b", b""), file("c")]);
    let few = Budget { bytes: 10, files: 2 };
    let error = unpack_by(&options, &many, few).expect_err("too many");
    assert!(matches!(error, UnpackError::TooManyFiles { limit: 2, .. }), "{error}");
}

#[test]
fn budgets_hold_before_anything_is_read() {
    let budget = Budget { bytes: 10, files: 2 };
    let two = archive(&[file("a"), file("b")]);
    assert!(matches!(unpack_bytes(&two, budget), Err(UnpackError::TooLarge { limit: 10, .. })));
    let dir = |name: &str| entry(name, EntryType::Directory, "", b"");
    let three = archive(&[dir("a"), dir("b"), dir("c")]);
    assert!(matches!(
        unpack_bytes(&three, budget),
        Err(UnpackError::TooManyFiles { limit: 2, .. })
    ));
    // A header that claims far more than there is.
    let mut header = Header::new_ustar();
    header.set_path("bomb").expect("a name");
    header.set_size(1 << 40);
    header.set_cksum();
    let bomb = gzip(header.as_bytes());
    assert!(matches!(unpack_bytes(&bomb, Budget::default()), Err(UnpackError::TooLarge { .. })));
}

#[test]
fn endless_headers_and_padding_are_cut() {
    let endless = vec![b'n'; 3 << 20];
    check_refused(&[entry("x", EntryType::XHeader, "", &endless), file("a")], "limit");
    check_refused(&[entry("x", EntryType::GNULongName, "", &endless), file("a")], "limit");
    let mut archive = file("a");
    archive.resize(4 << 20, 0);
    let error = unpack_bytes(&gzip(&archive), Budget::default()).expect_err("padding");
    assert!(error.to_string().contains("limit"), "{error}");
}

#[test]
fn broken_streams_are_refused() {
    let mut archive = file("a");
    archive.resize(archive.len() + 1024, 0);
    let good = gzip(&archive);
    assert!(unpack_bytes(&good, Budget::default()).is_ok());
    let mut wrong_checksum = good.clone();
    let at = wrong_checksum.len() - 6;
    wrong_checksum[at] ^= 1;
    for broken in [&b""[..], b"hello world, no gzip", &good[..good.len() / 2], &wrong_checksum] {
        let error = unpack_bytes(broken, Budget::default()).expect_err("broken");
        assert!(matches!(error, UnpackError::Invalid { .. }), "{error}");
    }
}
