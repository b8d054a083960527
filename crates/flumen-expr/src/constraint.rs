//! Constraints: which versions a range such as `>=1.2 <2 || 3.x` selects.
//!
//! ```text
//! constraint = group *( "||" group )          any group may match
//! group      = comparator *( sep comparator ) all of them must match; sep is a blank or a comma
//! comparator = [operator] version             numbers may be missing or x, X, *
//! ```
//!
//! `1.2 - 2.3` is short for `>=1.2, <=2.3`. A pre-release matches only in a group in which some
//! comparator names one, as in `>=1.0.0-0`.

use std::str::FromStr;

use thiserror::Error;

use crate::Version;

mod parse;

/// The reference library has the same limits; they bound what a hostile range can cost.
const LONGEST: usize = 512;
const MOST_GROUPS: usize = 32;

/// A range of versions.
#[derive(Debug, Clone)]
pub struct Constraint {
    groups: Vec<Group>,
}

/// Why a text is no constraint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConstraintError {
    #[error("the version constraint is longer than {LONGEST} bytes")]
    TooLong,
    #[error("the version constraint has more than {MOST_GROUPS} alternatives")]
    TooManyGroups,
    /// The text is the alternative that cannot be read, with hyphen ranges written out.
    #[error("improper constraint: {0:?}")]
    Improper(String),
}

impl ConstraintError {
    /// What to try instead.
    pub fn hint(&self) -> Option<String> {
        matches!(self, Self::Improper(_))
            .then(|| "write a range such as `~1.2`, `>=1.0.0 <2.0.0` or `1.x || 2.x`".to_owned())
    }
}

impl Constraint {
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        parse::constraint(text)
    }

    pub fn matches(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| group.matches(version))
    }
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// Comparators that must all hold.
#[derive(Debug, Clone)]
struct Group {
    comparators: Vec<Comparator>,
}

impl Group {
    fn matches(&self, version: &Version) -> bool {
        let released = version.prerelease().is_empty();
        (released || self.comparators.iter().any(|one| !one.version.prerelease().is_empty()))
            && self.comparators.iter().all(|comparator| comparator.matches(version))
    }
}

#[derive(Debug, Clone)]
struct Comparator {
    operator: Operator,
    /// What is missing or a wildcard is zero here.
    version: Version,
    precision: Precision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// Also what stands for no operator.
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

/// How much of a version is given: the rest is missing or a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    Nothing,
    Major,
    Minor,
    Patch,
}

impl Comparator {
    /// Pre-releases that the group does not ask for are gone already.
    fn matches(&self, version: &Version) -> bool {
        let wanted = &self.version;
        let majors = || version.major().cmp(&wanted.major());
        let minors = || majors().then(version.minor().cmp(&wanted.minor()));
        match (self.operator, self.precision) {
            (Operator::Equal, Precision::Patch) => version == wanted,
            (Operator::Equal | Operator::Tilde, _) => self.is_near(version),
            (Operator::Caret, _) => self.is_compatible(version),
            (Operator::Less, _) => version < wanted,
            (Operator::GreaterEqual, _) => version >= wanted,
            (Operator::Greater, Precision::Major) => majors().is_gt(),
            (Operator::Greater, Precision::Minor) => minors().is_gt(),
            (Operator::Greater, _) => version > wanted,
            (Operator::LessEqual, Precision::Major) => majors().is_le(),
            (Operator::LessEqual, Precision::Patch) => version <= wanted,
            (Operator::LessEqual, _) => minors().is_le(),
            (Operator::NotEqual, Precision::Major) => majors().is_ne(),
            (Operator::NotEqual, Precision::Minor) => {
                minors().is_ne() || version.prerelease() != wanted.prerelease()
            }
            (Operator::NotEqual, _) => version != wanted,
        }
    }

    /// `~`: the numbers given stay, up to the minor one.
    fn is_near(&self, version: &Version) -> bool {
        let wanted = &self.version;
        let is_zero = (wanted.major(), wanted.minor(), wanted.patch()) == (0, 0, 0);
        if version < wanted {
            return false;
        }
        match self.precision {
            // `~0.0.0` is any version, as in the reference library.
            Precision::Nothing | Precision::Patch if is_zero => true,
            Precision::Major => version.major() == wanted.major(),
            _ => (version.major(), version.minor()) == (wanted.major(), wanted.minor()),
        }
    }

    /// `^`: the leftmost number that is not zero stays.
    fn is_compatible(&self, version: &Version) -> bool {
        let wanted = &self.version;
        if version < wanted || version.major() != wanted.major() {
            return false;
        }
        if wanted.major() > 0 || self.precision == Precision::Major {
            return true;
        }
        let same_minor = version.minor() == wanted.minor();
        if wanted.minor() > 0 || self.precision == Precision::Minor {
            return same_minor;
        }
        same_minor && version.patch() == wanted.patch()
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
