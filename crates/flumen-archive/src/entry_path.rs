//! Paths of entries: relative, clean and inside.

use std::path::{Component, Path, PathBuf};

use crate::{EntryLimits, UnpackError};

/// Returns the name of an entry as a relative path below the root; empty for the root itself.
///
/// `archive` names the archive in messages.
pub fn safe_path(archive: &str, name: &[u8], limits: &EntryLimits) -> Result<PathBuf, UnpackError> {
    let refuse = |reason| Err(UnpackError::unsafe_entry(archive, name, reason));
    let Ok(text) = std::str::from_utf8(name) else { return refuse("has a name that is not UTF-8") };
    if name.len() > limits.path_bytes {
        return refuse("has a name that is too long");
    }
    if text.chars().any(char::is_control) {
        return refuse("has a control character in its name");
    }
    // Other systems read it as a separator.
    if text.contains('\\') {
        return refuse("has a backslash in its path");
    }
    let mut path = PathBuf::new();
    let mut depth = 0;
    for component in Path::new(text).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return refuse("leads outside: its path has `..`"),
            Component::RootDir | Component::Prefix(_) => {
                return refuse("leads outside: its path is absolute");
            }
        }
        depth += 1;
    }
    if depth > limits.depth {
        return refuse("lies too deep");
    }
    Ok(path)
}

/// Returns whether the target of a symbolic link stays inside, given the path of the link.
pub(crate) fn stays_inside(link: &Path, target: &[u8]) -> bool {
    let Ok(target) = std::str::from_utf8(target) else { return false };
    let mut depth = link.components().count().saturating_sub(1);
    for component in Path::new(target).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}
