//! Small languages that manifests and commands carry inside strings.
//!
//! Today there is one: [`Version`] and [`Constraint`], as Masterminds' semver v3 reads them. That
//! library stands behind the version ranges of Flux and Helm, so that `~1.2` or `1.x || >=3` must
//! select here what it selects there. The `semver` crate has Cargo's ranges, which differ in what a
//! comma, a missing number and a pre-release mean.

mod constraint;
mod parts;
mod version;

pub use constraint::{Constraint, ConstraintError};
pub use version::{Version, VersionError};
