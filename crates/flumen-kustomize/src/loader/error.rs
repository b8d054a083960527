//! What to say about a file or directory that cannot be read, in kustomize's words where it has some.

use std::path::Path;

use flumen_expr::nearest;
use flumen_fs::{FsError, Tree};

use super::LoadRestriction;
use crate::error::Error;

/// A file that a kustomization names and that could not be read.
pub(super) fn unreadable(
    tree: &dyn Tree,
    restriction: LoadRestriction,
    root: &Path,
    path: &Path,
    error: &FsError,
) -> Error {
    let shown = path.display();
    match (error, restriction) {
        (FsError::NotFound { .. }, LoadRestriction::RootOnly) => {
            missing(tree, path, unresolved(tree, path, error))
        }
        (FsError::NotFound { .. }, LoadRestriction::None) => {
            missing(tree, path, format!("open {shown}: no such file or directory"))
        }
        (FsError::IsDirectory { .. }, LoadRestriction::RootOnly) => {
            Error::new(format!("'{shown}' must resolve to a file"))
        }
        (FsError::IsDirectory { .. }, LoadRestriction::None) => {
            Error::new(format!("read {shown}: is a directory"))
        }
        (FsError::Outside { root, .. }, LoadRestriction::None) => outside_tree("read", path, root),
        (FsError::Outside { .. }, LoadRestriction::RootOnly) => Error::new(format!(
            "security; file '{shown}' is not in or below '{}'",
            root.display()
        ))
        .hint(
            "a kustomization reads only files in or below its own directory; move the file there, \
             make it part of a base, or build with `--load-restrictor LoadRestrictionsNone`",
        ),
        (FsError::NotDirectory { .. } | FsError::Loop { .. }, LoadRestriction::RootOnly) => {
            Error::new(unresolved(tree, path, error))
        }
        (FsError::Denied { .. }, _) => Error::new(format!("open {shown}: permission denied")),
        (FsError::Io { source, .. }, _) => Error::new(format!("open {shown}: {source}")),
        _ => Error::new(error.to_string()),
    }
}

/// The tree itself has bounds, as those have that Flux builds from.
fn outside_tree(doing: &str, path: &Path, root: &Path) -> Error {
    let (path, root) = (path.display(), root.display());
    Error::new(format!(
        "fs-security-constraint {doing} {path}: path '{path}' is not in or below '{root}'"
    ))
}

const ROOT: &str = "must build at directory";

pub(super) fn empty_root() -> Error {
    Error::new("directory path cannot be empty").within(ROOT)
}

/// A directory that cannot be the root of a build.
pub(super) fn not_a_root(
    tree: &dyn Tree,
    restriction: LoadRestriction,
    path: &Path,
    error: &FsError,
) -> Error {
    let is_file = matches!(error, FsError::NotDirectory { .. })
        && path.parent().is_some_and(|parent| tree.real_dir(parent).is_ok());
    if is_file {
        let file = path.display();
        return Error::new(format!("'{file}': file is not directory"))
            .within(ROOT)
            .hint("name the directory that holds the kustomization file");
    }
    if let (FsError::Outside { root, .. }, LoadRestriction::None) = (error, restriction) {
        return outside_tree("abs", path, root).within("not a valid directory").within(ROOT);
    }
    if let FsError::Outside { root, .. } = error {
        return Error::new(format!(
            "security; bases in kustomizations found in cloned git repos must be within the repo, but \
             base '{}' is outside '{}'",
            path.display(),
            root.display()
        ));
    }
    let error = match error {
        FsError::NotFound { .. } => missing(tree, path, unresolved(tree, path, error)),
        _ => Error::new(unresolved(tree, path, error)),
    };
    error.within("not a valid directory").within(ROOT)
}

/// Why a path leads nowhere.
fn unresolved(tree: &dyn Tree, path: &Path, error: &FsError) -> String {
    let reason = match error {
        FsError::NotFound { .. } => {
            format!("lstat {}: no such file or directory", first_missing(tree, path).display())
        }
        FsError::NotDirectory { .. } => "not a directory".to_owned(),
        FsError::Loop { .. } => "EvalSymlinks: too many links".to_owned(),
        FsError::Denied { .. } => format!("lstat {}: permission denied", path.display()),
        FsError::Io { source, .. } => format!("lstat {}: {source}", path.display()),
        other => other.to_string(),
    };
    format!("evalsymlink failure on '{}' : {reason}", path.display())
}

/// The outermost part of a path that does not exist.
fn first_missing<'a>(tree: &dyn Tree, path: &'a Path) -> &'a Path {
    let mut missing = path;
    for parent in path.ancestors().skip(1) {
        match tree.real_dir(parent) {
            Err(FsError::NotFound { .. }) => missing = parent,
            _ => break,
        }
    }
    missing
}

fn missing(tree: &dyn Tree, path: &Path, message: String) -> Error {
    let error = Error::new(message);
    let first = first_missing(tree, path);
    let (Some(dir), Some(name)) = (first.parent(), first.file_name()) else { return error };
    let names = tree.list(dir).unwrap_or_default();
    match nearest(&name.to_string_lossy(), names.iter().map(String::as_str)) {
        Some(similar) => error.hint(format!("did you mean `{similar}`?")),
        None => error,
    }
}
