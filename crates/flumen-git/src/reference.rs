//! Which commit of a repository is meant.

use std::fmt;

use crate::Commit;

const BRANCHES: &str = "refs/heads/";
pub(crate) const TAGS: &str = "refs/tags/";

/// What stands behind the name of an annotated tag that is meant to be the commit.
const PEELED: &str = "^{}";

/// A name for a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum GitReference {
    /// What the repository offers when nothing is asked for: its `HEAD`.
    #[default]
    Default,
    Branch(String),
    Tag(String),
    /// The tag with the highest version in a range, as Masterminds reads ranges.
    Semver(String),
    /// The full name of any reference: `refs/pull/1/head`.
    Full(String),
    /// A full object id in hexadecimal digits.
    Commit(String),
    /// A full object id in the history of a branch.
    CommitOf {
        branch: String,
        commit: String,
    },
    /// Any of them, found as `git fetch` finds it: a full id, a full name, a tag, a branch.
    Name(String),
}

impl GitReference {
    /// Full names to look for, the first one first; none when the commit itself is named, or when
    /// the choice is among all tags.
    pub(crate) fn candidates(&self) -> Vec<String> {
        match self {
            Self::Default => vec!["HEAD".to_owned()],
            Self::Branch(name) => vec![format!("{BRANCHES}{name}")],
            Self::Tag(name) => vec![format!("{TAGS}{name}")],
            Self::Full(name) => vec![name.strip_suffix(PEELED).unwrap_or(name).to_owned()],
            Self::CommitOf { branch, .. } => vec![format!("{BRANCHES}{branch}")],
            Self::Commit(_) | Self::Semver(_) => Vec::new(),
            Self::Name(name) if is_object_id(name) => Vec::new(),
            Self::Name(name) => ["", "refs/", TAGS, BRANCHES, "refs/remotes/"]
                .iter()
                .map(|prefix| format!("{prefix}{name}"))
                .collect(),
        }
    }

    /// The object id, if that is how the commit is named.
    pub(crate) fn object_id(&self) -> Option<&str> {
        match self {
            Self::Commit(id) | Self::CommitOf { commit: id, .. } => Some(id),
            Self::Name(name) if is_object_id(name) => Some(name),
            _ => None,
        }
    }

    /// The revision of an artifact that was made from `commit`: `main@sha1:…`, as Flux writes it.
    ///
    /// What was asked for by its full name keeps it; a commit that was asked for by its id alone has
    /// nothing but the id.
    pub fn revision(&self, commit: &Commit) -> String {
        let algorithm = if commit.id.len() == 64 { "sha256" } else { "sha1" };
        let hash = format!("{algorithm}:{}", commit.id);
        let name = match self {
            Self::Commit(_) => return hash,
            Self::Branch(name)
            | Self::CommitOf { branch: name, .. }
            | Self::Tag(name)
            | Self::Full(name) => name,
            Self::Default | Self::Semver(_) | Self::Name(_) => {
                match short_name(&commit.reference) {
                    Some(name) => name,
                    None => return hash,
                }
            }
        };
        format!("{name}@{hash}")
    }
}

/// The name of a branch or tag without what says that it is one.
pub(crate) fn short_name(full: &str) -> Option<&str> {
    full.strip_prefix(BRANCHES).or_else(|| full.strip_prefix(TAGS))
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Display for GitReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default branch"),
            Self::Branch(name) => write!(f, "branch `{name}`"),
            Self::Tag(name) => write!(f, "tag `{name}`"),
            Self::Semver(range) => write!(f, "tag with a version in `{range}`"),
            Self::Full(name) => write!(f, "reference `{name}`"),
            Self::Commit(id) => write!(f, "commit `{id}`"),
            Self::CommitOf { branch, commit } => {
                write!(f, "commit `{commit}` on branch `{branch}`")
            }
            Self::Name(name) => write!(f, "branch, tag or commit `{name}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_as_git_does() {
        let name = GitReference::Name("v1".to_owned());
        let expected = ["v1", "refs/v1", "refs/tags/v1", "refs/heads/v1", "refs/remotes/v1"];
        assert_eq!(name.candidates(), expected);
        assert_eq!(name.object_id(), None);
    }

    #[test]
    fn full_ids_are_no_names() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let name = GitReference::Name(id.to_owned());
        assert_eq!((name.candidates().len(), name.object_id()), (0, Some(id)));
        let short = GitReference::Name("0123456".to_owned());
        assert_eq!(short.object_id(), None);
    }

    #[test]
    fn revisions_say_what_was_asked_for() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let revision = |reference: GitReference, found: &str| {
            let commit = Commit { id: id.to_owned(), reference: found.to_owned() };
            reference.revision(&commit).replace(id, "ID")
        };
        let text = str::to_owned;
        let table = [
            (GitReference::Branch(text("a/b")), "refs/heads/a/b", "a/b@sha1:ID"),
            (GitReference::Tag(text("v1")), "refs/tags/v1", "v1@sha1:ID"),
            (GitReference::Semver(text(">1")), "refs/tags/v1.2.3", "v1.2.3@sha1:ID"),
            (GitReference::Full(text("refs/x/y")), "refs/x/y", "refs/x/y@sha1:ID"),
            (
                GitReference::Full(text("refs/tags/v1^{}")),
                "refs/tags/v1",
                "refs/tags/v1^{}@sha1:ID",
            ),
            (GitReference::Commit(text(id)), id, "sha1:ID"),
            (
                GitReference::CommitOf { branch: text("main"), commit: text(id) },
                "refs/heads/main",
                "main@sha1:ID",
            ),
            (GitReference::Default, "refs/heads/main", "main@sha1:ID"),
            (GitReference::Name(text(id)), id, "sha1:ID"),
        ];
        for (reference, found, expected) in table {
            assert_eq!(revision(reference.clone(), found), expected, "{reference:?}");
        }
        let long = Commit { id: "ab".repeat(32), reference: "refs/heads/main".to_owned() };
        let revision = GitReference::Branch("main".to_owned()).revision(&long);
        assert!(revision.starts_with("main@sha256:abab"), "{revision}");
    }
}
