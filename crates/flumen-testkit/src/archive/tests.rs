use super::*;

fn archive(files: &[(&str, &[u8])]) -> Archive {
    let files = files
        .iter()
        .map(|(path, bytes)| Entry {
            path: (*path).to_owned(),
            content: Content::File(bytes.to_vec()),
        })
        .collect();
    Archive { files, ..Archive::default() }
}

#[track_caller]
fn check_round_trip(archive: &Archive, text: &str) {
    assert_eq!(archive.write(), text);
    assert_eq!(&Archive::parse(text).expect("reads back"), archive);
}

#[track_caller]
fn check_refused(text: &str, message: &str) {
    assert_eq!(Archive::parse(text).expect_err("is refused").to_string(), message);
}

#[test]
fn plain_files_stand_as_they_are() {
    let mut archive = archive(&[("a.yaml", b"a: 1\n\nb: 2\n"), ("dir/empty", b"")]);
    archive.header = vec!["Two files.".to_owned(), String::new()];
    archive.sections.push(("stdout".to_owned(), b"a: 1\n".to_vec()));
    check_round_trip(
        &archive,
        "# Two files.\n#\n-- a.yaml --\na: 1\n\nb: 2\n-- dir/empty --\n== stdout ==\na: 1\n",
    );
}

#[test]
fn a_missing_final_newline_is_remarked() {
    check_round_trip(&archive(&[("key", b"secret")]), "-- key (no final newline) --\nsecret\n");
}

#[test]
fn carriage_returns_and_marks_are_escaped() {
    check_round_trip(
        &archive(&[("dos.yaml", "\u{feff}a: \\1\r\nb: 2".as_bytes())]),
        "-- dos.yaml (escaped) --\n\\u{feff}a: \\\\1\\r\nb: 2\\\n",
    );
}

#[test]
fn content_that_looks_like_a_section_is_escaped() {
    check_round_trip(
        &archive(&[("notes", b"-- a --\n== b ==\n")]),
        "-- notes (escaped) --\n\\u{2d}- a --\n\\u{3d}= b ==\n",
    );
}

#[test]
fn binary_content_is_base64() {
    for length in 0..70u8 {
        let mut bytes = vec![0xff];
        bytes.extend((0..length).map(|byte| byte.wrapping_mul(37)));
        let archive = archive(&[("blob", &bytes)]);
        assert_eq!(Archive::parse(&archive.write()).expect("reads back"), archive);
    }
    check_round_trip(&archive(&[("blob", b"\xff\xfe")]), "-- blob (base64) --\n//4=\n");
}

#[test]
fn links_and_directories_have_no_content() {
    let text = "-- link -> ../target --\n-- empty/ --\n";
    let archive = Archive::parse(text).expect("reads");
    assert_eq!(archive.files[0].content, Content::Symlink("../target".to_owned()));
    assert_eq!(archive.files[1].content, Content::Directory);
    assert_eq!(archive.write(), text);
    check_refused(
        "-- empty/ --\nx\n",
        "section `empty` has no content of its own, but lines follow it",
    );
}

#[test]
fn malformed_archives_are_refused() {
    check_refused("stray\n", "line 1: expected `# …` or a section before any content");
    check_refused("-- a --\n-- a --\n", "line 2: section `a` appears twice");
    check_refused("-- ../a --\n", "line 1: `../a` leaves the tree");
    check_refused("-- /a --\n", "line 1: `/a` leaves the tree");
    check_refused("-- a (base64) --\n?\n", "section `a`: not base64");
    check_refused("-- a (escaped) --\n\\q\n", "section `a`: unknown escape");
}

#[test]
fn unpacking_writes_the_tree() {
    let scratch = tempfile::tempdir().expect("scratch directory");
    let archive = Archive::parse("-- a/b --\ntext\n-- a/c/ --\n").expect("reads");
    archive.unpack(scratch.path()).expect("unpacks");
    assert_eq!(fs::read_to_string(scratch.path().join("a/b")).expect("file"), "text\n");
    assert!(scratch.path().join("a/c").is_dir());
}
