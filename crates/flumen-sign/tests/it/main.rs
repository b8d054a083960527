//! Bundles of a sigstore deployment that exists only here.

mod deployment;
mod keyless;
