//! Signatures: ours among themselves, and with cosign as the judge.

mod cosign;
mod mirror;
mod places;
mod refusals;
mod round_trip;
