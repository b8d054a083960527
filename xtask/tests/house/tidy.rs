//! Small promises of the repository: what its files may say and what its map must name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use flumen_testkit::repository_root;

/// Directories that are not ours to read.
const FOREIGN: [&str; 4] = [".git", "target", "artifacts", "node_modules"];
const MAP_LINES: usize = 450;

/// Text files of the repository with their paths relative to it.
fn texts() -> Vec<(PathBuf, String)> {
    let root = repository_root();
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("directory reads") {
            let path = entry.expect("entry reads").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !FOREIGN.contains(&name.as_str()) {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((path.strip_prefix(&root).unwrap_or(&path).to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Lines that contain one of the words, as `file:line: word`.
fn mentions(texts: &[(PathBuf, String)], words: &[String], extension: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in texts {
        if extension.is_some_and(|wanted| path.extension().is_none_or(|own| own != wanted)) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                found.push(format!("{}:{}: `{word}`", path.display(), index + 1));
            }
        }
    }
    found
}

#[test]
fn no_file_names_somebodys_home() {
    // Put together here, so that this file does not name them either; `me` is nobody.
    let words: Vec<String> = ["home", "Users"].map(|parent| format!("/{parent}/")).into();
    let nobody = format!("{}me", words[0]);
    let texts: Vec<_> =
        texts().into_iter().map(|(path, text)| (path, text.replace(&nobody, ""))).collect();
    let found = mentions(&texts, &words, None);
    assert!(found.is_empty(), "paths of one machine:\n{}", found.join("\n"));
}

#[test]
fn the_runtime_names_no_kind() {
    let words =
        ["Kustomization", "GitRepository", "OCIRepository", "ExternalArtifact", "HelmRelease"];
    let mut texts = texts();
    texts.retain(|(path, _)| path.starts_with("crates/flumen-runtime"));
    assert!(!texts.is_empty(), "flumen-runtime has files");
    let found = mentions(&texts, &words.map(str::to_owned), None);
    assert!(found.is_empty(), "they belong into flumen-controller:\n{}", found.join("\n"));
}

#[test]
fn no_test_is_ignored() {
    let words = [format!("#[{}", "ignore")];
    let found = mentions(&texts(), &words, Some("rs"));
    assert!(
        found.is_empty(),
        "a known wrong result is asserted with a note, not ignored:\n{}",
        found.join("\n")
    );
}

#[test]
fn property_tests_are_where_the_campaign_looks() {
    let words = [["proptest", "! {"], ["TestRunner", "::new"]].map(|parts| parts.concat());
    let mut texts = texts();
    texts.retain(|(path, _)| !path.ends_with("properties.rs"));
    let found = mentions(&texts, &words, Some("rs"));
    assert!(found.is_empty(), "they belong in `properties.rs`:\n{}", found.join("\n"));
}

#[test]
fn mentions_are_found() {
    let texts = [(PathBuf::from("a.rs"), "fine\nbad word\n".to_owned())];
    let words = ["bad".to_owned()];
    assert_eq!(mentions(&texts, &words, None), ["a.rs:2: `bad`"]);
    assert!(mentions(&texts, &words, Some("md")).is_empty());
}

/// The targets of the links in a page that lead to other files of the repository.
fn local_links(page: &str) -> Vec<&str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = repository_root();
    let mut broken = Vec::new();
    for (path, text) in texts() {
        if path.extension().is_some_and(|extension| extension == "md") {
            let directory = root.join(&path).parent().map(Path::to_owned).unwrap_or_default();
            for link in local_links(&text) {
                if !directory.join(link).exists() {
                    broken.push(format!("{}: `{link}`", path.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn local_links_are_found() {
    let page = "[a](a.md), [b](https://example.org/b), [c](../c.md#part) and [d](#here)";
    assert_eq!(local_links(page), ["a.md", "../c.md"]);
}

/// The crates that the map gives a chapter or at least a mention: words like `flumen-yaml`.
fn named_crates(map: &str) -> Vec<&str> {
    let mut names: Vec<&str> = map
        .split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
        .filter(|word| word.starts_with("flumen-") && word.len() > "flumen-".len())
        .map(|word| word.trim_end_matches('-'))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn the_map_names_every_crate_and_no_other() {
    let root = repository_root();
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let lines = map.lines().count();
    assert!(lines <= MAP_LINES, "ARCHITECTURE.md has {lines} lines; {MAP_LINES} are allowed");
    let named = named_crates(&map);
    let present = crates(&root.join("crates"));
    for name in &present {
        assert!(named.contains(&name.as_str()), "ARCHITECTURE.md does not mention `{name}`");
    }
    for name in named {
        assert!(
            present.iter().any(|p| p == name),
            "ARCHITECTURE.md names `{name}`, no crate of ours"
        );
    }
}

fn crates(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("crates are there")
        .map(|entry| entry.expect("entry reads"))
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
