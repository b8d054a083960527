//! Which commit of a repository is meant.

use std::fmt;

/// A name for a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum GitReference {
    /// What the repository offers when nothing is asked for: its `HEAD`.
    #[default]
    Default,
    Branch(String),
    Tag(String),
    /// A full object id in hexadecimal digits.
    Commit(String),
    /// Any of them, found as `git fetch` finds it: a full id, a full name, a tag, a branch.
    Name(String),
}

impl GitReference {
    /// Full names to look for, the first one first; none when the commit itself is named.
    pub(crate) fn candidates(&self) -> Vec<String> {
        match self {
            Self::Default => vec!["HEAD".to_owned()],
            Self::Branch(name) => vec![format!("refs/heads/{name}")],
            Self::Tag(name) => vec![format!("refs/tags/{name}")],
            Self::Commit(_) => Vec::new(),
            Self::Name(name) if is_object_id(name) => Vec::new(),
            Self::Name(name) => ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
                .iter()
                .map(|prefix| format!("{prefix}{name}"))
                .collect(),
        }
    }

    /// The object id, if that is how the commit is named.
    pub(crate) fn object_id(&self) -> Option<&str> {
        match self {
            Self::Commit(id) => Some(id),
            Self::Name(name) if is_object_id(name) => Some(name),
            _ => None,
        }
    }
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
            Self::Commit(id) => write!(f, "commit `{id}`"),
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
}
