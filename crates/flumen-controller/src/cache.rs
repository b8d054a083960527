//! What the controller knows of the cluster by watching it.
//!
//! [`reflected`] holds the objects of the kinds that are reconciled, [`owned`] what was applied for them: of those only
//! a digest and their health, because there are many of them and they can be large. [`referenced`] tells when a `ConfigMap`
//! or `Secret` changes that somebody refers to.

mod follow;
pub(crate) mod owned;
pub(crate) mod referenced;
pub(crate) mod reflected;

pub(crate) use owned::Owned;
pub(crate) use reflected::Reflected;
