//! Small languages that manifests and commands carry inside strings.
//!
//! [`Version`] and [`Constraint`] are as Masterminds' semver v3 reads them. That library stands behind
//! the version ranges of Flux and Helm, so that `~1.2` or `1.x || >=3` must select here what it
//! selects there. The `semver` crate has Cargo's ranges, which differ in what a comma, a missing
//! number and a pre-release mean.
//!
//! [`LabelSelector`] is the notation of the Kubernetes API for sets of labels.
//!
//! [`substitute`] replaces the variables that Flux puts into manifests after a build.
//!
//! [`GoDuration`] is a duration as Go reads and prints it.
//!
//! [`nearest`] guesses what a misspelled word of such a language, or any other, was meant to be.

mod constraint;
mod envsubst;
mod go_duration;
mod label_selector;
mod nearest;
mod parts;
mod version;

pub use constraint::{Constraint, ConstraintError};
pub use envsubst::{SubstituteError, Unset, substitute};
pub use go_duration::{GoDuration, InvalidDuration, parse_go_duration};
pub use label_selector::LabelSelector;
pub use nearest::nearest;
pub use version::{Version, VersionError};
