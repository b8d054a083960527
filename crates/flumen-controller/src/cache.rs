//! What the controller knows of the cluster by watching it.
//!
//! [`reflected`] holds the objects of the kinds that are reconciled, also those that are malformed ([`unreadable`]);
//! [`owned`] what was applied for them: of those only a digest and their health, because there are many of them and they
//! can be large. [`referenced`] tells when a `ConfigMap` or `Secret` changes that somebody refers to, [`depended`] knows
//! the objects of other kinds that somebody depends on, and [`definitions`] tells when a kind begins to be served.

pub(crate) mod definitions;
pub(crate) mod depended;
mod follow;
pub(crate) mod owned;
pub(crate) mod referenced;
pub(crate) mod reflected;
mod unreadable;

pub(crate) use definitions::{Definitions, GroupKind};
pub(crate) use depended::Depended;
pub(crate) use follow::Followed;
pub(crate) use owned::Owned;
pub(crate) use reflected::Reflected;
pub(crate) use unreadable::Unreadable;
