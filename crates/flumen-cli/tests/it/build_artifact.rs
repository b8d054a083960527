//! `flumen build artifact`, and paths of that name.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    process::Command,
};

use flumen_archive::{Budget, FileEntry, Meter, Rules, Sink, UnpackOptions, unpack};

use crate::{Scratch, binary, config_map};

/// The names of files, each with its content.
#[derive(Default)]
struct Files(Vec<(String, String)>);

impl Sink for Files {
    fn directory(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let mut text = String::new();
        content.read_to_string(&mut text)?;
        self.0.push((entry.path.display().to_string(), text));
        Ok(())
    }
}

fn packed(scratch: &Scratch, archive: &str) -> Vec<(String, String)> {
    let bytes = fs::read(scratch.path().join(archive)).expect("an archive");
    let mut files = Files::default();
    let options = UnpackOptions::gzip(archive, Rules::Flux);
    let mut meter = Meter::new(Budget::default());
    unpack(&mut bytes.as_slice(), &options, &mut meter, &mut files).expect("it unpacks");
    files.0
}

fn names(scratch: &Scratch, archive: &str) -> Vec<String> {
    packed(scratch, archive).into_iter().map(|(name, _)| name).collect()
}

/// Runs `flumen build artifact …`, which must succeed and say this.
#[track_caller]
fn check(scratch: &Scratch, args: &[&str], said: &str) {
    let outcome = scratch.flumen(&[&["build", "artifact"], args].concat());
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), said));
    assert!(outcome.stdout.is_empty(), "{args:?} printed something");
}

#[test]
fn a_directory_is_packed_as_it_is() {
    let scratch = Scratch::new();
    for name in ["tree/a.yaml", "tree/b.jpg", "tree/.sourceignore", "tree/.git/config"] {
        scratch.write(name, "a.yaml\n");
    }
    let said = "► building artifact from ./tree\n✔ artifact created at ./app.tgz\n";
    check(&scratch, &["--path", "./tree", "--output", "./app.tgz"], said);
    assert_eq!(names(&scratch, "app.tgz"), [".sourceignore", "a.yaml"]);
    let given = ["-p", "./tree", "-o", "./app.tgz", "--ignore-paths=/a.yaml,.git/"];
    check(&scratch, &[&given[..], &["--resolve-symlinks=false"]].concat(), said);
    assert_eq!(names(&scratch, "app.tgz"), [".sourceignore", "b.jpg"]);
    let said = "► building artifact from a/map.yaml\n✔ artifact created at artifact.tgz\n";
    check(&scratch, &["--path", "a/map.yaml"], said);
    assert_eq!(packed(&scratch, "artifact.tgz"), [("map.yaml".to_owned(), config_map("a"))]);
}

#[test]
fn the_standard_input_is_packed_under_a_number() {
    let scratch = Scratch::new();
    scratch.write("input.yaml", "a: b\n\n");
    scratch.write("empty.yaml", "");
    let build = |input: &str, limit: &str| {
        let output = Command::new(binary())
            .args(["build", "artifact", "-p", "-", "-o", "app.tgz", "--max-size", limit])
            .current_dir(scratch.path())
            .env("TMPDIR", "/tmp")
            .stdin(File::open(scratch.path().join(input)).expect("a file"))
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (input, content) in [("input.yaml", "a: b"), ("empty.yaml", "")] {
        let (status, said) = build(input, "1K");
        assert_eq!(status, Some(0), "{said}");
        let files = packed(&scratch, "app.tgz");
        let [(name, text)] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!(text, content);
        assert!(name.trim_end_matches(".yaml").bytes().all(|byte| byte.is_ascii_digit()), "{name}");
        assert!(said.starts_with(&format!("► building artifact from /tmp/{name}\n")), "{said}");
    }
    let (status, said) = build("input.yaml", "3");
    assert_eq!(status, Some(1));
    assert!(said.starts_with("✗ the standard input is larger than 3 bytes"), "{said}");
}

#[test]
fn mistakes_are_told_in_a_line_and_leave_no_file() {
    let scratch = Scratch::new();
    let check = |args: &[&str], said: &str| {
        let outcome = scratch.flumen(&[&["build", "artifact"], args].concat());
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), said));
    };
    let missing = "✗ invalid path './absent', must point to an existing directory or file\n";
    check(&["--path", "./absent", "--output", "./app.tgz"], missing);
    check(&["--output", "./app.tgz"], "✗ invalid path \"\"\n");
    check(&["--path", ""], "✗ invalid path \"\"\n");
    check(&["a"], "✗ invalid path \"\" (`--path a` names the directory)\n");
    check(&["--frobnicate"], "✗ unknown flag: --frobnicate\n");
    check(&["-p"], "✗ flag needs an argument: 'p' in -p\n");
    let refused = scratch.flumen(&["build", "artifact", "--path", "a", "--output", "b"]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("\n✗ building artifact failed, error: "), "{}", refused.stderr);
    assert_eq!(scratch.names("."), ["a", "b", "both"]);
}

#[test]
fn a_directory_of_that_name_is_built_in_any_place_but_the_first() {
    let scratch = Scratch::new();
    scratch.write("artifact/kustomization.yaml", "resources: [map.yaml]\n");
    scratch.write("artifact/map.yaml", &config_map("c"));
    for args in [
        &["build", "./artifact"][..],
        &["build", "artifact/"],
        &["build", "--", "artifact"],
        &["build", "--format", "yaml", "artifact"],
    ] {
        scratch.check(args, &config_map("c"));
    }
    let both = format!("{}---\n{}", config_map("a"), config_map("c"));
    scratch.check(&["build", "a", "artifact"], &both);
    let hint = "(`flumen build ./artifact` builds the directory of this name)";
    scratch.check_refused(&["build", "artifact"], 1, &["✗ invalid path \"\"", hint]);
}
