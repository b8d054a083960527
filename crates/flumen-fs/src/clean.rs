//! Lexical cleaning of paths.

use std::{
    borrow::Cow,
    path::{Component, Path, PathBuf},
};

/// Removes `.`, `..`, doubled and trailing separators without looking at any file system.
///
/// `..` takes back the name before it, stops at `/`, and stays where nothing is left to take back.
/// A path that is clean already is borrowed; the empty path stays empty.
pub fn clean(path: &Path) -> Cow<'_, Path> {
    if is_clean(path) {
        return Cow::Borrowed(path);
    }
    let mut cleaned = PathBuf::with_capacity(path.as_os_str().len());
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match cleaned.components().next_back() {
                Some(Component::Normal(_)) => {
                    cleaned.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => cleaned.push(".."),
            },
            other => cleaned.push(other),
        }
    }
    if cleaned.as_os_str().is_empty() {
        cleaned.push(".");
    }
    Cow::Owned(cleaned)
}

/// Whether cleaning would change nothing; says no too often rather than too rarely.
fn is_clean(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let relative = bytes.strip_prefix(b"/").unwrap_or(bytes);
    relative.is_empty()
        || (cfg!(unix)
            && relative.split(|&byte| byte == b'/').all(|name| !matches!(name, b"" | b"." | b"..")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        assert_eq!(clean(Path::new(path)).as_os_str(), expected, "cleaning {path:?}");
    }

    #[test]
    fn clean_paths_stay() {
        for path in ["", "/", "a", "/a/b", "a/b.c", "..a/b..", "/a/...", ".", "..", "../.."] {
            check(path, path);
        }
    }

    #[test]
    fn dots_and_separators_go() {
        check("a//b", "a/b");
        check("a/", "a");
        check("./a/.", "a");
        check("//a", "/a");
        check("a/..", ".");
        check("./", ".");
    }

    #[test]
    fn parents_take_back_names() {
        check("a/../b", "b");
        check("/a/b/../../c", "/c");
        check("/../a", "/a");
        check("../a/../../b", "../../b");
        check("a/../../b", "../b");
    }
}
