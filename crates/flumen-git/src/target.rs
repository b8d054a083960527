//! What a reference stands for on a server.

use flumen_expr::{Constraint, Version};
use gix::{ObjectId, protocol::handshake::Ref};

use crate::{
    Error, GitReference,
    connection::Connection,
    receive::Extent,
    reference::{TAGS, short_name},
};

/// What a reference stands for on a server.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// What to ask for: the commit, the tag object that leads to it, or the end of its branch.
    pub(super) wanted: ObjectId,
    /// The commit, as far as the server said.
    pub(crate) commit: ObjectId,
    /// The full name under which it was found; none if the id was given.
    pub(super) name: Option<String>,
    pub(super) depth: Depth,
}

/// How much is fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Depth {
    /// One commit.
    Commit,
    /// All that is before it, too: the commit is somewhere in there.
    History,
}

impl Target {
    /// The full name under which it was found, or the id.
    pub(crate) fn reference(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.commit.to_string())
    }

    /// The short name of the tag under which it was found, and the object that the name stands for.
    pub(crate) fn tag(&self) -> Option<(&str, &ObjectId)> {
        let name = self.name.as_deref().filter(|name| name.starts_with(TAGS))?;
        Some((short_name(name)?, &self.wanted))
    }

    /// A commit that is known by nothing but its id.
    pub(crate) fn commit(commit: ObjectId) -> Self {
        Self { wanted: commit, commit, name: None, depth: Depth::Commit }
    }

    /// Reads what a server says about a name.
    fn offered(offer: &Ref) -> Option<Self> {
        let (name, id, peeled) = offer.unpack();
        let id = id?.to_owned();
        let name = match offer {
            Ref::Symbolic { target, .. } => target.to_string(),
            _ => name.to_string(),
        };
        let commit = peeled.map_or(id, ToOwned::to_owned);
        Some(Self { wanted: id, commit, name: Some(name), depth: Depth::Commit })
    }
}

impl Connection<'_> {
    /// Finds out which commit is meant.
    pub(crate) fn target(&mut self, reference: &GitReference) -> Result<Target, Error> {
        let found = match (reference, reference.object_id()) {
            (GitReference::Semver(range), _) => self.newest(range)?,
            (GitReference::CommitOf { .. }, Some(id)) => self
                .named(&reference.candidates())?
                .zip(ObjectId::from_hex(id.as_bytes()).ok())
                .map(|(branch, commit)| Target { commit, depth: Depth::History, ..branch }),
            (_, Some(id)) => ObjectId::from_hex(id.as_bytes()).ok().map(Target::commit),
            (_, None) => self.named(&reference.candidates())?,
        };
        let url = self.address.to_string();
        match found {
            Some(target) => Ok(target),
            None if self.has_something()? => {
                Err(Error::NoReference { url, reference: reference.to_string() })
            }
            None => Err(Error::Empty { url }),
        }
    }

    /// Whether any name stands for anything. That of a branch before its first commit does not.
    fn has_something(&mut self) -> Result<bool, Error> {
        Ok(self.references(&["HEAD", "refs/"])?.iter().any(|offer| offer.unpack().1.is_some()))
    }

    /// The first of some full names that the server has.
    fn named(&mut self, candidates: &[String]) -> Result<Option<Target>, Error> {
        let prefixes: Vec<_> = candidates.iter().map(String::as_str).collect();
        let offered = self.references(&prefixes)?;
        Ok(candidates.iter().find_map(|name| {
            let offer = offered.iter().find(|offer| offer.unpack().0 == name.as_str())?;
            Target::offered(offer)
        }))
    }

    /// The tag with the highest version in a range.
    fn newest(&mut self, range: &str) -> Result<Option<Target>, Error> {
        let offered = self.references(&[TAGS])?;
        let tags = offered.iter().filter_map(Target::offered);
        let mut best = highest(range, tags, Target::reference)?;
        if best.len() > 1 {
            let tips: Vec<_> = best.iter().map(|target| target.wanted).collect();
            let mut again = Connection::open(self.session, self.address)?;
            let objects = again.receive(&tips, Extent::Commit)?;
            let time = |target: &Target| objects.time(&target.commit);
            best.sort_by_cached_key(|target| (time(target), target.name.clone()));
        }
        Ok(best.pop())
    }
}

/// Those with the highest version in a range. They are several if nothing but build metadata tells
/// them apart, which has no order; the time of their commits has.
pub(crate) fn highest<T>(
    range: &str,
    tags: impl IntoIterator<Item = T>,
    full_name: impl Fn(&T) -> String,
) -> Result<Vec<T>, Error> {
    let constraint = Constraint::parse(range).map_err(|error| Error::InvalidRange {
        range: range.to_owned(),
        reason: error.to_string(),
    })?;
    let mut best: Vec<T> = Vec::new();
    let mut highest: Option<Version> = None;
    for tag in tags {
        let name = full_name(&tag);
        let Some(name) = name.strip_prefix(TAGS) else { continue };
        let Ok(version) = Version::parse_strict(name) else { continue };
        if !constraint.matches(&version) || highest.as_ref().is_some_and(|best| version < *best) {
            continue;
        }
        if highest.as_ref().is_none_or(|best| *best < version) {
            best.clear();
            highest = Some(version);
        }
        best.push(tag);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, tags: &[&str], expected: &[&str]) {
        let tags = tags.iter().map(|tag| format!("refs/tags/{tag}"));
        let best = highest(range, tags, String::clone).expect("a range");
        let best: Vec<_> = best.iter().map(|name| name.trim_start_matches("refs/tags/")).collect();
        assert_eq!(best, expected, "{range}");
    }

    #[test]
    fn the_highest_version_in_a_range_is_found() {
        let tags = ["v1.0.0", "1.2.0", "v1.10.0", "v2.0.0-rc.1", "v2.0", "latest", "v1.10"];
        check("1.x", &tags, &["v1.10.0"]);
        check(">=1.0.0", &tags, &["v1.10.0"]);
        check(">=2.0.0-0", &tags, &["v2.0.0-rc.1"]);
        check("~1.2", &tags, &["1.2.0"]);
        check("3.x", &tags, &[]);
    }

    #[test]
    fn versions_without_order_are_all_found() {
        check("1.x", &["v1.0.0+b", "v1.0.0+a", "v0.9.0"], &["v1.0.0+b", "v1.0.0+a"]);
    }

    #[test]
    fn what_is_no_range_is_said_as_the_reference_says_it() {
        let error = highest("one", ["refs/tags/v1.0.0".to_owned()], String::clone);
        let expected = "'one' is no range of versions: improper constraint: \"one\"";
        assert_eq!(error.expect_err("no range").to_string(), expected);
    }
}
