//! Rules for files that stay out of an archive, in the syntax of `.gitignore`.
//!
//! They mean what they mean to the Git library that Flux uses, where it and Git differ.

mod glob;
mod source;

use std::sync::Arc;

pub use self::source::GIT_DIRECTORY;

const VERSION_CONTROL: [&str; 4] = [".git/", ".gitignore", ".gitmodules", ".gitattributes"];
const PICTURES_AND_ARCHIVES: [&str; 8] =
    ["*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip"];

/// Patterns, of which the last that fits decides.
///
/// What lies below something that fits, fits too; another pattern can still take it back in.
#[derive(Clone, Debug)]
pub struct Ignore {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// Names of the directory below which it counts.
    scope: Arc<[String]>,
    /// Parts between slashes; a single part fits a name at any depth.
    parts: Vec<String>,
    /// `!`: takes files back in.
    includes: bool,
    only_directories: bool,
}

impl Default for Ignore {
    /// Ignores what Flux leaves out of artifacts by default: version control, pictures and archives.
    fn default() -> Self {
        Self::new(VERSION_CONTROL.into_iter().chain(PICTURES_AND_ARCHIVES))
    }
}

impl Ignore {
    /// Rules of these lines; blank ones and comments are skipped.
    pub fn new<'l>(lines: impl IntoIterator<Item = &'l str>) -> Self {
        let mut ignore = Self { patterns: Vec::new() };
        for text in lines {
            ignore.add(text, &[]);
        }
        ignore
    }

    /// Adds lines that win over those before. They count below a directory, given by its names.
    fn add(&mut self, text: &str, scope: &[String]) {
        let scope = Arc::from(scope);
        let lines = text.lines();
        let lines = lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        self.patterns.extend(lines.map(|line| Pattern::new(line, Arc::clone(&scope))));
    }

    /// Adds other patterns, which win over those before.
    fn append(&mut self, other: Self) {
        self.patterns.extend(other.patterns);
    }

    const fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns whether a pattern can take back in what lies below something ignored.
    pub(crate) fn takes_back(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.includes)
    }

    /// Returns whether the file or directory at a path, given by its names, stays out.
    pub(crate) fn ignores(&self, path: &[&str], is_directory: bool) -> bool {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_directory));
        last.is_some_and(|pattern| !pattern.includes)
    }
}

impl Pattern {
    fn new(line: &str, scope: Arc<[String]>) -> Self {
        let (line, includes) = match line.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        let line = if line.ends_with("\\ ") { line } else { line.trim_end_matches(' ') };
        let (line, only_directories) = match line.strip_suffix('/') {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        let parts = line.split('/').map(str::to_owned).collect();
        Self { scope, parts, includes, only_directories }
    }

    fn matches(&self, path: &[&str], is_directory: bool) -> bool {
        let Some((scope, path)) = path.split_at_checked(self.scope.len()) else { return false };
        if path.is_empty() || scope != &*self.scope {
            return false;
        }
        // How many names are left behind what fitted; what lies below a match fits, too.
        let rest = match self.parts.as_slice() {
            [part] => {
                let found = path.iter().position(|name| glob::matches(part, name));
                found.map(|index| path.len() - index - 1)
            }
            parts => match_parts(parts, path),
        };
        rest.is_some_and(|rest| rest > 0 || is_directory || !self.only_directories)
    }
}

/// Returns how many names are left behind a match of all parts; `None` without a match.
fn match_parts(parts: &[String], path: &[&str]) -> Option<usize> {
    let mut names = path;
    let mut has_matched = false;
    let mut skips = false;
    for (index, part) in parts.iter().enumerate() {
        match part.as_str() {
            "" => skips = false,
            "**" if index + 1 == parts.len() => break,
            "**" => skips = true,
            part if part.contains("**") => return None,
            part if skips => {
                // The first name that fits is taken; there is no second try.
                skips = false;
                if names.is_empty() {
                    return None;
                }
                let found = names.iter().position(|name| glob::matches(part, name));
                has_matched = found.is_some();
                names = found.map_or(&[][..], |index| &names[index + 1..]);
            }
            part => {
                let (name, rest) = names.split_first()?;
                if !glob::matches(part, name) {
                    return None;
                }
                has_matched = true;
                names = rest;
            }
        }
    }
    has_matched.then_some(names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(rules: &str, path: &str, is_directory: bool) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        Ignore::new([rules]).ignores(&names, is_directory)
    }

    #[test]
    fn the_last_pattern_decides() {
        assert!(ignores("*.md", "docs/a.md", false));
        assert!(!ignores("*.md\n!a.md", "docs/a.md", false));
        assert!(ignores("!a.md\n*.md", "docs/a.md", false));
        assert!(!ignores("# *.md\n\n", "a.md", false));
    }

    #[test]
    fn directories_take_their_content_along() {
        assert!(ignores("build/", "build", true));
        assert!(!ignores("build/", "build", false));
        assert!(ignores("build/", "a/build/x.yaml", false));
        assert!(ignores("/docs/internal", "docs/internal/x", false));
        assert!(!ignores("/docs/internal", "a/docs/internal/x", false));
    }

    #[test]
    fn defaults_leave_out_version_control_and_pictures() {
        let ignore = Ignore::default();
        assert!(ignore.ignores(&[".git"], true));
        assert!(ignore.ignores(&["a", ".gitignore"], false));
        assert!(ignore.ignores(&["a", "logo.png"], false));
        assert!(!ignore.ignores(&[".github"], true));
        assert!(!ignore.ignores(&["a.yaml"], false));
    }
}
