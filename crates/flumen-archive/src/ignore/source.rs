//! Rules for the files of a source.
//!
//! Patterns come from the `.sourceignore` files of the tree, each for its own directory, and from the
//! source's `spec.ignore`, which wins. If there is any, only files of version control are left out besides;
//! if there is none, Flux has a longer list.

use std::path::PathBuf;

use flumen_fs::{Bounds, EntryKind};

use super::{Ignore, PICTURES_AND_ARCHIVES, VERSION_CONTROL};
use crate::{Files, PackError, limits::MAX_DEPTH};

const FILE: &str = ".sourceignore";
/// Name of the directory of a repository's own files.
pub const GIT_DIRECTORY: &str = ".git";
const GIT_FILE: &str = ".gitignore";

const CONTINUOUS_INTEGRATION: [&str; 9] = [
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
];
/// Files that editors leave beside the one that is edited.
const EDITORS: [&str; 3] = ["*~", ".#*", ".*.sw?"];
const TOOLS: [&str; 3] = ["**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml"];

/// More of these bytes than any `.sourceignore` has.
const MAX_BYTES: usize = 1 << 20;

impl Ignore {
    /// Rules of a source.
    pub fn of_source(files: Files<'_>, spec_ignore: Option<&str>) -> Result<Self, PackError> {
        let mut own = Self::new([]);
        collect(files, FILE, &mut Vec::new(), &mut own)?;
        own.add(spec_ignore.unwrap_or_default(), &[]);
        Ok(with_defaults(own, &[]))
    }

    /// Rules of a source that is a working directory. What Git ignores would not be in a clone, and
    /// stays out as well.
    pub fn of_working_directory(
        files: Files<'_>,
        spec_ignore: Option<&str>,
    ) -> Result<Self, PackError> {
        let mut rules = Self::new(EDITORS);
        collect(files, GIT_FILE, &mut Vec::new(), &mut rules)?;
        rules.append(Self::of_source(files, spec_ignore)?);
        Ok(rules)
    }
}

/// Puts what is always left out of a directory below the rules of a source.
fn with_defaults(own: Ignore, scope: &[String]) -> Ignore {
    let mut rules = Ignore::new([]);
    let lists: &[&[&str]] = if own.is_empty() {
        &[&VERSION_CONTROL, &PICTURES_AND_ARCHIVES, &CONTINUOUS_INTEGRATION, &TOOLS]
    } else {
        &[&VERSION_CONTROL]
    };
    for pattern in lists.iter().copied().flatten() {
        rules.add(pattern, scope);
    }
    rules.append(own);
    rules
}

/// Reads the files of this name in a directory and in all below; `names` lead to it.
fn collect(
    files: Files<'_>,
    name: &str,
    names: &mut Vec<String>,
    rules: &mut Ignore,
) -> Result<(), PackError> {
    if names.len() >= MAX_DEPTH {
        return Err(PackError::TooDeep { path: names.join("/") });
    }
    let here = files.root.join(names.iter().collect::<PathBuf>());
    let entries = files.tree.entries(&here)?;
    let is_rules = |kind| matches!(kind, EntryKind::File { .. });
    if entries.iter().any(|entry| entry.name == name && is_rules(entry.kind)) {
        let text = files.tree.read(&here.join(name), Bounds::Anywhere)?;
        if text.len() > MAX_BYTES {
            return Err(PackError::TooLarge);
        }
        rules.add(&String::from_utf8_lossy(&text), names);
    }
    for entry in entries {
        if entry.kind == EntryKind::Directory && entry.name != GIT_DIRECTORY {
            names.push(entry.name);
            collect(files, name, names, rules)?;
            names.pop();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use flumen_fs::MemoryTree;
    use serde_json::{Value, json};

    use super::*;

    fn ignores(rules: &Ignore, path: &str, is_directory: bool) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        rules.ignores(&names, is_directory)
    }

    #[test]
    fn files_count_below_their_directory_and_the_source_wins() {
        let mut tree = MemoryTree::new();
        tree.insert_file("/.sourceignore", "*.md\n");
        tree.insert_file("/apps/.sourceignore", "/secret\n!keep.md\n");
        tree.insert_file("/apps/secret/a.yaml", "");
        let files = Files { tree: &tree, root: Path::new("/") };
        let own = Ignore::of_source(files, None).expect("rules");
        assert!(ignores(&own, "docs/a.md", false));
        assert!(!ignores(&own, "apps/keep.md", false));
        assert!(ignores(&own, "keep.md", false));
        assert!(ignores(&own, "apps/secret/a.yaml", false));
        assert!(!ignores(&own, "secret", false));
        assert!(ignores(&own, ".git", true), "version control stays out");
        assert!(!ignores(&own, "a.png", false), "there are rules");
        let own = Ignore::of_source(files, Some("!/docs/a.md\n!.gitignore")).expect("rules");
        assert!(!ignores(&own, "docs/a.md", false));
        assert!(!ignores(&own, ".gitignore", false));
    }

    #[test]
    fn without_rules_the_longer_list_counts() {
        let tree = MemoryTree::new();
        let files = Files { tree: &tree, root: Path::new("/") };
        for no_rules in [None, Some(""), Some("# nothing\n\n")] {
            let defaults = Ignore::of_source(files, no_rules).expect("rules");
            for path in ["a.png", "x/a.tar.gz", ".travis.yml", "a/.sops.yaml"] {
                assert!(ignores(&defaults, path, false), "{path}");
            }
            assert!(!ignores(&defaults, "a.tgz", false));
        }
    }

    #[test]
    fn all_recorded_cases_hold() {
        let Some(shared) = flumen_testkit::shared_dir() else {
            flumen_testkit::skip("ignore patterns of sources", "no shared corpus");
            return;
        };
        let cases = fs::read_to_string(shared.join("corpus/flux/ignore.jsonl")).expect("corpus");
        let mut checked = 0;
        for line in cases.lines() {
            let case: Value = serde_json::from_str(line).expect("a case");
            let input = &case["input"];
            let scope: Vec<String> =
                serde_json::from_value(input["domain"].clone()).expect("scope");
            let mut own = Ignore::new([]);
            own.add(input["rules"].as_str().unwrap_or_default(), &scope);
            let rules = match input["mode"].as_str() {
                Some("rules") => own,
                Some("source") => with_defaults(own, &scope),
                mode => panic!("{mode:?}"),
            };
            let path = input["path"].as_str().expect("a path");
            let ignored = ignores(&rules, path, input["dir"] == true);
            assert_eq!(json!({ "ignored": ignored }), case["expect"], "{}: {input}", case["id"]);
            checked += 1;
        }
        assert!(checked > 100, "only {checked} cases");
    }
}
