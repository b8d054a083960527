//! The pages of `examples/` say what comes out; this runs what they say.
//!
//! In a block marked `console` a line `$ flumen …` is run in the directory of the page, `$ cat …`
//! shows a file, and the lines up to the next `$` are what must come out of it. With
//! `FLUMEN_EXAMPLES=update` the pages are rewritten instead, and `FLUMEN_TEST_BIN` names the
//! program that answers: that is how the builds were recorded from kustomize.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use flumen_testkit::{PATIENCE, difference, repository_root, run};

fn program() -> PathBuf {
    env::var_os("FLUMEN_TEST_BIN").map_or_else(|| crate::binary().to_owned(), PathBuf::from)
}

/// What a command of a page prints.
fn answer(command: &str, directory: &Path) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["flumen", arguments @ ..] => {
            let outcome =
                run(&program(), arguments, directory, PATIENCE).expect("the program starts");
            format!("{}{}", String::from_utf8_lossy(&outcome.stdout), outcome.stderr)
        }
        ["cat", file] => fs::read_to_string(directory.join(file)).expect("the file is there"),
        _ => panic!("an example may use `flumen` and `cat`, but this is `{command}`"),
    }
}

/// The page as it must be: every command followed by what it prints.
fn renewed(page: &str, directory: &Path) -> (String, usize) {
    let mut text = String::new();
    let (mut in_console, mut after_command, mut commands) = (false, false, 0);
    for line in page.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
            after_command = false;
        }
        let command = if in_console { line.strip_prefix("$ ") } else { None };
        if command.is_none() && after_command {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        if let Some(command) = command {
            text.push_str(&answer(command, directory));
            commands += 1;
            after_command = true;
        }
    }
    (text, commands)
}

#[test]
fn examples_print_what_their_pages_say() {
    let mut pages = 0;
    let mut differences = Vec::new();
    let entries = fs::read_dir(repository_root().join("examples")).expect("examples are there");
    let mut directories: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entry reads").path()).collect();
    directories.sort();
    for directory in directories {
        if !directory.is_dir() {
            continue;
        }
        let path = directory.join("README.md");
        let page = fs::read_to_string(&path).expect("every example has a page");
        let (wanted, commands) = renewed(&page, &directory);
        assert!(commands > 0, "{} runs nothing", path.display());
        pages += 1;
        if env::var_os("FLUMEN_EXAMPLES").is_some_and(|mode| mode == "update") {
            fs::write(&path, &wanted).expect("page is written");
        } else if let Some(text) = difference(page.as_bytes(), wanted.as_bytes()) {
            differences.push(format!("{}\n{text}\n", path.display()));
        }
    }
    assert!(pages > 0, "there are no examples");
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}
