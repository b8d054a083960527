//! Revisions of sources, `[<name>@]<algorithm>:<hash>`, and the forms that they had before.

use std::{borrow::Cow, fmt};

/// What former forms call the head of a repository; it is no name of a branch.
const HEAD: &str = "HEAD";

/// A revision of a Git repository in its parts, whatever form it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'a> {
    text: &'a str,
    /// Branch, tag or reference; empty if the revision has none.
    pub name: &'a str,
    /// Of the commit.
    pub hash: &'a str,
}

impl<'a> Revision<'a> {
    pub fn new(text: &'a str) -> Self {
        let (former_name, former_hash) = text.rsplit_once('/').unwrap_or(("", text));
        let hash = text.rsplit_once(':').map_or(former_hash, |(_, hash)| hash);
        let name = match text.rsplit_once('@') {
            Some((name, _)) => name,
            None if text.contains(':') || former_name == HEAD => "",
            None => former_name,
        };
        Self { text, name, hash }
    }

    /// The hash with its algorithm, which is told from its length as Flux tells it; empty without a hash.
    pub fn digest(&self) -> String {
        match self.hash.len() {
            0 => String::new(),
            40 => format!("sha1:{}", self.hash),
            _ => format!("<unknown>:{}", self.hash),
        }
    }
}

/// The present form.
impl fmt::Display for Revision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() || self.text.contains(':') {
            return f.write_str(self.text);
        }
        match self.name {
            "" => f.write_str(&self.digest()),
            name => write!(f, "{name}@{}", self.digest()),
        }
    }
}

/// The revision of any source in its present form, for comparisons. What is neither form is left as it is.
pub fn modern_revision(revision: &str) -> Cow<'_, str> {
    let (name, hash) = revision.rsplit_once('/').unwrap_or((HEAD, revision));
    let algorithm = match hash.len() {
        40 => "sha1",
        64 => "sha256",
        _ => return Cow::Borrowed(revision),
    };
    if revision.contains(':') {
        return Cow::Borrowed(revision);
    }
    Cow::Owned(match name {
        HEAD => format!("{algorithm}:{hash}"),
        name => format!("{name}@{algorithm}:{hash}"),
    })
}
